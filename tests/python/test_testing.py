"""`oxcall.testing`: planted faults are found and named, and nothing else is accused."""

import jax.numpy as jnp
import numpy as np
import pytest

import oxcall
from oxcall.testing import CHECKS, OpCheckError, check_op

X = np.random.default_rng(0).normal(size=(3, 4))
W = np.random.default_rng(1).normal(size=4)
GRADIENTS = ("fwd", "jvp", "vjp", "dot_product", "nondiff")


@pytest.fixture(scope="module")
def faulty(library_path):
    return oxcall.load(library_path("faulty_ops"))


@pytest.fixture(scope="module")
def derived(library_path):
    return oxcall.load(library_path("derived_ops"))


# An op, its operands, the check that fails first, and what its message says.
FAULTS = [
    ("square", (X,), "vjp", ["`vjp = square_vjp`", "argument `x`", "expected", "got", "`dx` in `square_vjp`"]),
    ("single_cube", (X.astype(np.float32),), "vjp", ["`vjp = single_cube_vjp`"]),
    ("cosine", (X,), "vjp", ["`vjp = cosine_vjp`"]),
    ("product", (X, 2 * X), "vjp", ["gradient of argument `w`", "correct `dw` in `product_vjp`"]),
    ("sine", (X,), "jvp", ["`jvp = sine_jvp`", "result `y`", "`ty` in `sine_jvp`"]),
    ("growth", (X,), "jvp", ["the residual `rate` that `fwd = growth_fwd` gives it"]),
    ("decay", (X,), "fwd", ["`fwd = decay_fwd` does not give the op's results", "result `y` at ["]),
    ("cumulate", (W,), "vjp", ["`transpose = cumulate_transpose`", "`dx` in `cumulate_transpose`"]),
    ("shift", (W,), "jvp", ["`transpose = shift_transpose` says that the op is linear in argument `x`"]),
    ("weighted", (X, 2 * X), "nondiff", ["`nondiff = [w]`", "argument `w`", 'skip=("nondiff",)']),
    ("running_total", (X,), "batch", ["`batch = b`", "parts of a batch of 3 are not independent", "result `y`"]),
    ("mean_of_rows", (X,), "batch", ["`#[sum(b)]` on result `y`", "it is the mean"]),
    ("double", (W,), "vmap", ["`vmap = double_of_batch`", "differs from a loop: result `y` at ["]),
    ("share", (X,), "vmap", ['`vmap = "broadcast_all"`', 'declare `vmap = "sequential"`']),
    ("partly_written", (W,), "results", ["result `y` at [3]", "write every element"]),
    ("counting", (W,), "repeat", ["a second call", "declare `side_effect`"]),
    ("wrong_in_half", (X,), "dtypes", ["dtype float16 of `T`", "differs from that of float64"]),
    ("row_max", (X,), "sizes", ["no elements along dimension `n`", "panics"]),
    ("sum_of_some", (X,), "sizes", ["`#[sum(b)]` on result `y`", "expected 0, got 1"]),
]


@pytest.mark.parametrize("name, operands, check, parts", FAULTS, ids=[fault[0] for fault in FAULTS])
def test_faults_are_found_and_named(faulty, name, operands, check, parts):
    with pytest.raises(OpCheckError) as raised:
        check_op(faulty[name], *operands)
    failure = raised.value.report.failures[0]
    assert failure.check == check
    for part in (f"{name}: ", *parts):
        assert part in failure.detail
    assert failure.detail in str(raised.value) and isinstance(raised.value, AssertionError)


def test_right_derivatives_pass(derived, gallery, faulty):
    for report in (
        check_op(derived.growth, X, W),
        check_op(derived.gain, X, 2 * X, skip=("nondiff",)),
        check_op(derived.cube_vjp, X, 2 * X),
        check_op(derived.fan, X.astype(np.float32)),
        check_op(gallery.rms_norm, X.astype(np.float32), eps=1e-6),
        check_op(faulty.logarithm, np.array([1e-6, 1, 5])),
        check_op(faulty.rows_at, np.array([0, 2, 2], np.int32), X),
    ):
        assert "vjp" in report.passed
    report = check_op(derived.wave, W)
    assert {"jvp", "vmap"} <= set(report.passed) and "not nested" in repr(report)


def test_the_other_checks_pass_as_well(derived, gallery):
    report = check_op(derived.growth, X, W)
    assert set(CHECKS) - set(report.passed) == {"legacy", "nondiff", "dtypes"}
    report = check_op(gallery.rms_norm, X.astype(np.float32))
    assert "legacy" in report.passed and "float16, bfloat16, float32, float64" in repr(report)
    assert "sharding" in report.passed


def test_rules_are_ops_as_well(derived):
    check_op(derived.growth_vjp, W, X, 2 * X)
    check_op(derived.growth_fwd, X, W)
    check_op(derived.growth_jvp, W, X, 2 * X, -W)
    check_op(derived.gain_transpose, X, 2 * X)
    check_op(derived.wave_of_batch, X)
    check_op(derived.cube_vjp_vjp, X, 2 * X, -X)
    check_op(derived.fan_vjp, X.astype(np.float32), 2 * X.astype(np.float32))
    check_op(derived.double, X.astype(np.float32))


def test_kinks_are_left_out(faulty):
    assert "vjp" in check_op(faulty.ramp, np.array([0.0, 1, -1, 1e-5, 2])).passed
    assert "not differentiable" in check_op(faulty.ramp, np.array([0.0])).skipped["vjp"]


def test_right_derivatives_are_never_accused(derived, gallery):
    for seed in range(200):
        random = np.random.default_rng(seed)
        x, w = 3 * random.normal(size=(2, 3)), random.normal(size=3)
        check_op(derived.growth, x, w, checks=GRADIENTS, seed=seed)
        check_op(derived.fan, x.astype(np.float32), checks=GRADIENTS, seed=seed)
        check_op(gallery.rms_norm, x, eps=1e-3, checks=GRADIENTS, seed=seed)


def test_settings_stay_as_they_are(derived):
    before = jnp.ones(2).dtype
    check_op(derived.cube, X)
    assert jnp.ones(2).dtype == before


def test_what_runs_can_be_chosen(faulty):
    report = check_op(faulty.square, X, skip=("vjp",))
    assert report.skipped["vjp"] == "not asked for" and not report.failures
    assert set(check_op(faulty.sine, X, checks=("vjp",)).passed) == {"vjp"}
    assert not check_op(faulty.square, X, checks=("vjp",), rtol=0.1).failures
    report = check_op(faulty.square, X, raise_exception=False)
    assert "failed   vjp" in repr(report) and repr(report).startswith("check_op(square): ")
    with pytest.raises(ValueError, match=r"got the check `vpj` \(did you mean `vjp`\?\)"):
        check_op(faulty.square, X, checks=("vpj",))
    assert "vjp" in CHECKS


def test_calls_that_cannot_be_checked(gallery, faulty):
    assert set(check_op(gallery.counter).skipped) == set(CHECKS)
    with pytest.raises(oxcall.CallError, match="square: got 2 arguments"):
        check_op(faulty.square, X, X)
    with pytest.raises(TypeError, match="got function, expected an op"):
        check_op(lambda x: x, X)
