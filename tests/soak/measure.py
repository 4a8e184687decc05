"""Memory of a process over many calls."""

from __future__ import annotations

import dataclasses
import gc
import json
import os
import subprocess
import sys
import time

from soak import DEVICES

POINTS = 40


@dataclasses.dataclass(frozen=True)
class Slope:
    """What a kind of call leaves.

    Attributes:
        calls: how many were made.
        resident: bytes of the process, per call.
        in_use: bytes of the device's buffers, per call; None where the device does not count.
        seconds: how long it took.
    """

    calls: int
    resident: float
    in_use: float | None
    seconds: float


def measure(name: str, platform: str, calls: int) -> Slope:
    """Measures a kind of call in a process of its own."""
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "oxcall,cpu" if platform == "oxcall" else platform,
        "JAX_NUM_CPU_DEVICES": str(DEVICES),
        "OXCALL_NUM_DEVICES": str(DEVICES),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    command = [sys.executable, "-m", "soak.measure", name, platform, str(calls)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name} on {platform}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return Slope(**json.loads(done.stdout.splitlines()[-1]))


def _resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _work(name: str, platform: str, calls: int) -> Slope:
    import jax

    from soak.calls import KINDS

    chosen = KINDS[name]
    calls = max(int(calls * chosen.share), POINTS)
    call, device = chosen.make(platform), jax.devices(platform)[0]
    used = lambda: (device.memory_stats() or {}).get("bytes_in_use")  # noqa: E731
    start = time.monotonic()
    # Caches and pools fill first.
    for _ in range(calls // 4):
        call()
    resident, in_use = [], []
    for _ in range(POINTS):
        for _ in range(calls // POINTS):
            call()
        gc.collect()
        resident.append(_resident())
        in_use.append(used())
    per = calls // POINTS
    counted = None if in_use[0] is None else _slope(in_use) / per
    return Slope(per * POINTS, _slope(resident) / per, counted, time.monotonic() - start)


def _slope(values: list[int]) -> float:
    """The median slope of all pairs of points (Theil and Sen), which a single step does not move."""
    pairs = [(b - a) / (j - i) for i, a in enumerate(values) for j, b in enumerate(values[i + 1 :], i + 1)]
    return sorted(pairs)[len(pairs) // 2]


if __name__ == "__main__":
    print(json.dumps(dataclasses.asdict(_work(sys.argv[1], sys.argv[2], int(sys.argv[3])))))
