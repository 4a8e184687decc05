"""Many threads, many calls."""

import gc
import pathlib
import threading
import time

import pytest
import torch

from cases import numbers

CALLS = 100_000


def resident():
    """Bytes of this process that are in memory."""
    pages = pathlib.Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * 4096


def failing(call, kind=RuntimeError):
    def run():
        # `pytest.raises` costs as much as the exception.
        try:
            call()
        except kind:
            return
        raise AssertionError("nothing was raised")

    return run


@pytest.mark.parametrize(
    "name",
    [
        "rms_norm",
        "top_k",
        "concatenate",
        "low_pass",
        "axpy",
        "affine",
        "strided",
        "fail",
        "index error",
        "panics",
        "wrong dtype",
        "wrong shape",
        "wrong attribute",
        "wrong list",
        "failing stage",
        "failing thread",
        "inference",
    ],
)
def test_memory_does_not_grow(ops, name):
    x, wide = numbers(4, 64), numbers(64, 4).t()
    wrong, short = x.int(), numbers(3)
    with torch.inference_mode():
        inferred = numbers(4, 64)
    calls = {
        "rms_norm": lambda: ops.rms_norm(x),
        "top_k": lambda: ops.top_k(2, x),
        "concatenate": lambda: ops.concatenate([x, x, wide], 1),
        "low_pass": lambda: ops.low_pass(x, 0.1, 8),
        "axpy": lambda: ops.axpy(1e-9, wide, x),
        "affine": lambda: ops.affine([1.0, 2.0], x[:, :2], low=0.0, high=1.0, activation="abs"),
        "strided": lambda: ops.rms_norm(wide),
        "fail": failing(lambda: ops.fail(-x.abs(), message="a message of some length, which is copied to Python")),
        "index error": failing(lambda: ops.fail(-x.abs(), status="out_of_range"), IndexError),
        "panics": failing(lambda: ops.panics("formatted", -x.abs())),
        "wrong dtype": failing(lambda: ops.rms_norm(wrong)),
        "wrong shape": failing(lambda: ops.rms_norm_vjp(x, short)),
        "wrong attribute": failing(lambda: ops.top_k(100, x)),
        "wrong list": failing(lambda: ops.concatenate([x, short, wide])),
        "failing stage": failing(lambda: ops.low_pass(x, 2.0)),
        "failing thread": failing(lambda: ops.async_scale(x, float("nan"))),
        "inference": failing(lambda: ops.axpy(1e-9, x, inferred)),
    }
    call = calls[name]
    for _ in range(2000):
        call()
    gc.collect()
    before = resident()
    for _ in range(CALLS):
        call()
    gc.collect()
    # A leak of one small object a call would be some megabytes.
    assert resident() - before < 1_000_000


def test_eight_threads(ops):
    expected = {seed: ops.rms_norm(numbers(8, 33, seed=seed)) for seed in range(8)}
    filtered = ops.low_pass(numbers(64), 0.2, 8)
    wrong = []

    def work(seed):
        x = numbers(8, 33, seed=seed)
        for _ in range(500):
            if not torch.equal(ops.rms_norm(x), expected[seed]):
                wrong.append(seed)
            if not torch.equal(ops.low_pass(numbers(64), 0.2, 8), filtered):
                wrong.append("low_pass")
            try:
                ops.fail(-x.abs(), message=f"of thread {seed}")
            except RuntimeError as error:
                if f"of thread {seed}" not in str(error):
                    wrong.append(str(error))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_kernels_run_without_the_gil(ops):
    # One call works for a while; if it held the GIL, this thread would stand still meanwhile.
    x = numbers(64, 1 << 16)
    done = threading.Event()

    def work():
        for _ in range(5):
            ops.top_k(1 << 15, x)
        done.set()

    thread = threading.Thread(target=work)
    turns = 0
    thread.start()
    start = time.perf_counter()
    while not done.is_set():
        turns += 1
        time.sleep(0.001)
    elapsed = time.perf_counter() - start
    thread.join()
    # Other processes may have the CPU, so a small part of what would be possible is enough.
    assert turns > elapsed * 100
