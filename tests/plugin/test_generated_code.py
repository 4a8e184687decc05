"""Machine code for fused ops and loops: the same bits as without it, in programs as users write them."""

from __future__ import annotations

import functools
import pathlib
import subprocess
import sys

import pytest

import extent

SCRIPT = pathlib.Path(__file__).parent / "programs" / "generated_code.py"
EXTENT = extent.pick([], thorough=["--thorough"])


@pytest.fixture(scope="module")
def digests(environment):
    """The lines that the script prints, with or without machine code."""

    @functools.cache
    def run(jit: str, *arguments: str) -> list[str]:
        variables = {**environment, "JAX_PLATFORMS": "oxcall", "OXCALL_JIT": jit}
        command = [sys.executable, str(SCRIPT), *arguments, *EXTENT]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout.splitlines()

    return run


@pytest.mark.parametrize("arguments", [(), ("--wide",)], ids=["floats", "doubles"])
def test_results_have_the_same_bits(digests, arguments):
    generated, steps = digests("1", *arguments), digests("0", *arguments)
    assert len(generated) > extent.pick(200, thorough=400)
    assert [pair for pair in zip(generated, steps, strict=True) if pair[0] != pair[1]] == []


def test_a_system_that_refuses_executable_memory_runs_steps(digests):
    refused = digests("1", "--refuse")
    if len(refused) == 1:
        pytest.skip(refused[0])
    assert refused == digests("0")


FUSED = "import jax; jax.jit(lambda x: jax.nn.gelu(x) * x + 1)(jax.numpy.ones(1000))"
LOOP = "import jax; jax.lax.fori_loop(0, 9, lambda i, x: x * 1.5 + i, jax.numpy.ones(3))"


@pytest.mark.parametrize(
    ("jit", "code", "text", "other"),
    [
        ("1", FUSED, "compiled[", "fused["),
        ("0", FUSED, "fused[", "compiled["),
        ("1", LOOP, "bytes of machine code", "never"),
        ("0", LOOP, "jump ", "machine code"),
    ],
)
def test_the_plan_says_what_is_compiled(fresh, tmp_path, jit, code, text, other):
    if not {"avx2", "fma", "f16c"} <= set(pathlib.Path("/proc/cpuinfo").read_text().split()):
        pytest.skip("this processor has no AVX2")
    fresh(code, JAX_PLATFORMS="oxcall", OXCALL_JIT=jit, OXCALL_DUMP=str(tmp_path))
    plans = "".join(path.read_text() for path in tmp_path.glob("**/*plan.txt"))
    assert text in plans, plans
    assert other not in plans, plans


BYTES = """
import jax, numpy as np
for count in (1, 63, 257, 1000):
    x, y, one = np.arange(count).astype("int8")[None], np.ones((1, count), "int8"), np.full((1, 1), 3, "int8")
    assert (np.asarray(jax.jit(lambda x, y, one: x + y - one)(x, y, one)) == x + y - one).all(), count
"""


@pytest.mark.parametrize("jit", ["1", "0"])
def test_bytes_beside_one_that_is_repeated(fresh, jit):
    fresh(BYTES, JAX_PLATFORMS="oxcall", OXCALL_JIT=jit)
