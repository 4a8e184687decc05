"""Memory: what happens when there is none, and what is done with what is freed."""

import pathlib
import re
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parent / "programs" / "out_of_memory.py"
PROGRAMS = subprocess.run(
    [sys.executable, str(SCRIPT), "--list"], capture_output=True, text=True, check=True
).stdout.split()


@pytest.fixture
def starved(environment):
    """Runs a program of the script with ever more room, and gives how often there was too little."""

    def run(name: str, **variables: str) -> int:
        variables = {
            **environment,
            "JAX_PLATFORMS": "oxcall",
            "JAX_ENABLE_X64": "1",
            "MALLOC_ARENA_MAX": "1",
            **variables,
        }
        done = subprocess.run(
            [sys.executable, str(SCRIPT), name], env=variables, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return int(done.stdout)

    return run


@pytest.mark.parametrize("name", PROGRAMS)
def test_too_little_memory_is_an_error(starved, name):
    assert starved(name, OXCALL_MEMORY_CACHE="0") > 0


@pytest.mark.parametrize("name", ["product", "sort"])
def test_the_cache_is_given_back_first(starved, name):
    # What the first run left is as much as the second needs, and the limit counts it.
    assert starved(name, OXCALL_MEMORY_CACHE="100%,inf") < starved(name, OXCALL_MEMORY_CACHE="0")


FREED = """
    import gc, os, threading, time
    import jax, jax.numpy as jnp

    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20

    def ours():
        return [name for task in os.listdir("/proc/self/task")
                if (name := open(f"/proc/self/task/{task}/comm").read().strip()) == "oxcall-memory"]

    device = jax.devices("oxcall")[0]
    make = jax.jit(lambda x: jnp.zeros(64 << 20, jnp.float32) + x)
    with jax.default_device(device):
        assert not ours()
        before = resident()
        arrays = [make(x).block_until_ready() for x in (1.0, 2.0, 3.0)]
        used = resident()
        del arrays
        gc.collect()
        stats = device.memory_stats()
    """


def test_freed_memory_goes_back(fresh):
    code = f"""{FREED}
    assert used - before > 700, (before, used)
    assert stats["pool_bytes"] - stats["bytes_in_use"] > 700 << 20, stats
    assert stats["peak_pool_bytes"] >= stats["pool_bytes"] and stats["largest_free_block_bytes"] >= 256 << 20
    assert stats["num_allocs"] >= 3 and stats["largest_alloc_size"] >= 256 << 20 and stats["bytes_limit"] > 1 << 30
    deadline = time.monotonic() + 120
    while (resident() - before > 64 or ours()) and time.monotonic() < deadline:
        time.sleep(0.1)
    after = device.memory_stats()
    print(resident() - before, after["pool_bytes"] - after["bytes_in_use"] >> 20, len(ours()))
    """
    grown, cached, threads = map(int, fresh(code, JAX_PLATFORMS="oxcall").split())
    assert grown <= 64 and cached <= 8 and threads == 0


def test_the_cache_is_as_large_as_the_options_say(fresh):
    code = f"""{FREED}
    print((stats["pool_bytes"] - stats["bytes_in_use"]) >> 20, resident() - before, len(ours()))
    """
    cached, grown, threads = map(int, fresh(code, JAX_PLATFORMS="oxcall", OXCALL_MEMORY_CACHE="0").split())
    assert cached == 0 and grown <= 64 and threads == 0
    cached, _, threads = map(int, fresh(code, JAX_PLATFORMS="oxcall", OXCALL_MEMORY_CACHE="600M,inf").split())
    assert 512 <= cached <= 600 and threads == 0
    option = f"import oxcall_plugin\n    oxcall_plugin.configure(memory_cache='300M,inf')\n{code}"
    cached, _, threads = map(int, fresh("    " + option, JAX_PLATFORMS="oxcall", OXCALL_MEMORY_CACHE="0").split())
    assert 256 <= cached <= 300 and threads == 0


def test_a_cache_that_is_nothing_of_the_kind(fresh):
    code = """
    import jax
    try:
        jax.devices("oxcall")
    except RuntimeError as error:
        print(error)
    """
    message = fresh(code, JAX_PLATFORMS="oxcall", OXCALL_MEMORY_CACHE="much")
    assert re.search("OXCALL_MEMORY_CACHE is much; expected a size in bytes", message), message
