"""Jobs of several processes on this machine, as a launcher starts them on several."""

from __future__ import annotations

import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Mapping

# What Python prints has a file of its own. Gloo writes to the standard output from several threads at once, whose lines
# run into each other and into those of the program.
APART = """
import os, sys
sys.stdout = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
"""

# A job that hangs fails. On an idle machine, one takes some seconds.
SECONDS = 240


def free_port() -> int:
    """A port of this machine that no program listens at."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def run_job(code: str, count: int, environment: Mapping[str, str], *arguments: str) -> list[list[str]]:
    """Runs a Python program in `count` processes, with its rank, their number, a port and more as arguments.

    Returns:
        The lines that each process prints.

    Raises:
        AssertionError: a process fails, or the job takes longer than `SECONDS`; all processes have ended.
    """
    port = str(free_port())
    with tempfile.TemporaryDirectory() as folder:
        outputs = [pathlib.Path(folder) / f"{rank}.{stream}" for rank in range(count) for stream in ("out", "err")]
        files = [path.open("w") for path in outputs]
        command = [sys.executable, "-c", APART + textwrap.dedent(code)]
        processes = [
            subprocess.Popen(
                [*command, str(rank), str(count), port, *arguments],
                env=dict(environment),
                stdout=files[2 * rank],
                stderr=files[2 * rank + 1],
            )
            for rank in range(count)
        ]
        try:
            statuses = wait(processes)
        finally:
            for process in processes:
                process.kill()
                process.wait()
            for file in files:
                file.close()
        texts = [path.read_text(errors="replace") for path in outputs]
    report = "\n".join(f"{path.name}:\n{text[-6000:]}" for path, text in zip(outputs, texts, strict=True))
    assert statuses == [0] * count, f"exit statuses {statuses}, of {SECONDS} s at most\n{report}"
    return [text.splitlines() for text in texts[::2]]


def wait(processes: list[subprocess.Popen]) -> list[int | None]:
    """The exit statuses, as soon as all processes have ended, one has failed, or the time is over."""
    end = time.monotonic() + SECONDS
    while True:
        statuses = [process.poll() for process in processes]
        if None not in statuses or any(statuses) or time.monotonic() > end:
            return statuses
        time.sleep(0.05)


def clean_environment(**variables: str) -> dict[str, str]:
    """This process's environment without what says how JAX and the plugin start, and with these variables."""
    ours = ("JAX_", "XLA_", "OXCALL_NUM", "OXCALL_LIB")
    return {**{name: value for name, value in os.environ.items() if not name.startswith(ours)}, **variables}
