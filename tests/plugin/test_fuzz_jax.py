"""Random programs against stock JAX: a fixed few, those that failed once, and what the comparison sees."""

import dataclasses
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from fuzz_jax import case, execute, judge, session, store
from fuzz_jax.generate import generate
from fuzz_jax.ops.table import OPS
from fuzz_jax.program import Block, Program, Step, steps_of
from fuzz_jax.shrink import shrink

import extent

TESTS = pathlib.Path(__file__).parents[1]
PROGRAMS = extent.pick(100, thorough=300)


def fuzz(environment, tmp_path, *arguments):
    command = [sys.executable, "-m", "fuzz_jax", "--no-shrink", "--findings", str(tmp_path), *arguments]
    done = subprocess.run(
        command, cwd=TESTS, env=environment, capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def test_random_programs_are_those_of_stock_jax(environment, tmp_path):
    assert f"{PROGRAMS} programs, 0 findings" in fuzz(environment, tmp_path, str(PROGRAMS))


def test_programs_that_failed_once_are_right(environment, tmp_path):
    kept = len(list(store.FOLDER.glob("*.json")))
    assert f"{kept} programs, 0 findings" in fuzz(environment, tmp_path, "--replay", str(store.FOLDER))


def steps(*rows):
    """A program of one argument `v1` and of steps (op, result, operands)."""
    made = tuple(Step(op, (out,), tuple(args)) for op, out, *args in rows)
    return Block(("v1",), made, (rows[-1][1],))


def verdict(block, value, change):
    program = Program(block, (value,))
    stock = execute.run(program, "cpu")
    return judge.judge(program, [change(result) for result in stock], stock)


X = np.linspace(0.1, 3, 30, dtype=np.float32)


def test_noise_is_not_a_finding():
    assert not verdict(steps(("exp", "v2", "v1")), X, lambda y: np.nextafter(y, np.float32(np.inf))).message
    # A difference of near numbers is anything.
    near = steps(("exp", "v2", "v1"), ("log", "v3", "v2"), ("sub", "v4", "v3", "v1"))
    found = verdict(near, X, lambda y: y + np.float32(1e-7))
    assert found.looked_closer and not found.message


@pytest.mark.parametrize(
    ("op", "value", "change"),
    [
        ("exp", X, lambda y: y * np.float32(1 + 1e-5)),
        ("sum_all", X, lambda y: y * np.float32(1 + 1e-4)),
        ("i_not", np.arange(7, dtype=np.int32), lambda y: y + 1),
        ("exp", X, lambda y: np.where(y > 5, np.nan, y)),
        ("neg", X, lambda y: np.where(y < -2, y + np.float32(1e-6), y)),
        ("exp", X, lambda y: y.astype(np.float64)),
    ],
)
def test_what_is_further_than_noise_is_a_finding(op, value, change):
    block = steps((op, "v2", "v1"))
    if op == "sum_all":
        params = (("axis", (0,)), ("keep", False))
        block = dataclasses.replace(block, steps=(Step("sum", ("v2",), ("v1",), params),))
    assert verdict(block, value, change).message


def test_what_explains_a_difference_explains_no_other():
    # 0 * x is zero without a subnormal number, so 0 / 0 is not anything.
    zeros = steps(("mul", "v2", "v1", "v1"), ("div", "v3", "v2", "v1"))
    assert verdict(zeros, np.zeros(3, np.float32), np.ones_like).message
    assert verdict(steps(("gelu", "v2", "v1")), X - 4, lambda y: y + np.float32(1e-4)).message
    largest = np.array([1e38, 1e38, -1e38], np.float32)
    total = Block(("v1",), (Step("reduce_sum", ("v2",), ("v1",), (("axis", (0,)),)),), ("v2",))
    assert not verdict(total, 3 * largest, np.ones_like).message  # partial sums overflow
    assert verdict(total, largest / 1000, np.ones_like).message


PRODUCTS = {
    "convolution": {"strides": (), "padding": (), "spread": (), "dilation": (), "groups": 1, "batches": 1},
    "dot_general": {"dimensions": (((1,), (1,)), ((), ())), "preferred": None},
}


@pytest.mark.parametrize("op", PRODUCTS)
@pytest.mark.parametrize(
    "second",
    [Step("top_k", ("v4", "v5"), ("v3",), (("k", 1),)), Step("sqrt", ("v5",), ("v3",))],
    ids=lambda step: step.op,
)
@pytest.mark.parametrize("factors", [(0.03, 0.03, 0.7), (-0.03, 0.03, -0.7)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_that_stock_jax_flushes_have_an_order_and_signs(op, second, factors, dtype):
    tiny = np.full((3, 1), np.finfo(dtype).tiny, dtype)
    first = Step(op, ("v3",), ("v1", "v2"), tuple(PRODUCTS[op].items()))
    block = Block(("v1", "v2"), (first, second), ("v5",))
    factors = np.array(factors, dtype)[:, None]
    assert not case.check(Program(block, (tiny, factors), dtype == "float64")).is_finding
    # Zeros themselves have neither.
    zeros = Program(block, (0 * tiny, abs(factors)), dtype == "float64")
    stock = execute.run(zeros, "cpu")
    other = [result + 1 if second.op == "top_k" else np.full_like(result, np.nan) for result in stock]
    assert judge.judge(zeros, other, stock).message


def test_programs_are_made_smaller():
    program = next(p for p in (generate(seed, True) for seed in range(1000)) if has(p, "cumsum"))
    smaller = shrink(program, lambda candidate: runs(candidate) and has(candidate, "cumsum"), 0, 60)
    assert [step.op for step in steps_of(smaller.block)] == ["cumsum"]
    assert sum(value.size for value in smaller.inputs) <= 2


def has(program, op):
    return any(step.op == op for step in steps_of(program.block))


def runs(program):
    try:
        execute.run(program, "cpu")
    except Exception:
        return False
    return True


def test_what_takes_too_long_to_be_made_smaller_is_a_finding(tmp_path):
    job = session.Programs("oxcall", None, None, tmp_path, True)
    assert job.failed(3, session.SMALLER, "takes longer than 900 seconds").outcome.is_finding
    assert not job.failed(3, "stock JAX", "takes longer than 900 seconds").outcome.is_finding


def test_programs_are_stored(tmp_path):
    for seed in range(20):
        program, path = generate(seed, seed % 2 == 1), tmp_path / "program.json"
        store.save(program, "a title", path)
        again = store.load(path)
        assert again.block == program.block
        for a, b in zip(program.inputs, again.inputs, strict=True):
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


def test_a_seed_is_a_program():
    assert generate(7, True).block == generate(7, True).block


def test_most_ops_are_reached():
    used = {step.op for seed in range(400) for step in steps_of(generate(seed, seed % 2 == 1).block)}
    alone = {op for op in OPS if OPS[op].text.find("'d'") < 0}
    assert len(used) > 0.9 * len(alone), sorted(alone - used)


def test_an_error_of_stock_jax_is_not_a_finding():
    block = Block(("v1",), (Step("cholesky", ("v2",), ("v1",)),), ("v2",))
    assert case.check(Program(block, (X,))).kind == "refused"
