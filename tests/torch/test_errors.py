"""What goes wrong, as a Python exception that says what to change."""

import pytest
import torch

import oxcall
from cases import numbers

MISTAKES = [
    (
        lambda ops: ops.rms_norm(torch.ones(3, dtype=torch.int32)),
        r"rms_norm: argument `x`: expected dtype one of torch.float16, torch.bfloat16, torch.float32, torch.float64, "
        "got torch.int32",
    ),
    (
        lambda ops: ops.affine([1.0], numbers(2, 3, dtype=torch.float64)),
        r"affine: argument `x`: expected dtype torch.float32, got torch.float64",
    ),
    (
        lambda ops: ops.softmax(numbers(3, dtype=torch.bfloat16)),
        r"softmax: argument `x` has shape \[3\], but `#\[dims\(rows, n\)\]` expects",
    ),
    (lambda ops: ops.rms_norm_vjp(numbers(2, 3), numbers(3, 2)), r"rms_norm_vjp: argument `dy` has shape \[3, 2\]"),
    (lambda ops: ops.top_k(9, numbers(4)), r"top_k: attribute `k` is 9, but rows of `x` have 4 elements"),
    (lambda ops: ops.low_pass(numbers(3), 0.1, taps=8), r"low_pass: result `y`"),
    (lambda ops: ops.fail(-torch.ones(1), status="misspelt"), r"fail: attribute `status`.*misspelt"),
    (lambda ops: ops.axpy(300, torch.zeros(1, dtype=torch.int8), torch.zeros(1, dtype=torch.int8)), "`alpha`.*300"),
    (lambda ops: ops.axpy(0.5, torch.zeros(1).int(), torch.zeros(1).int()), "`alpha`"),
    (lambda ops: ops.affine([1.0, 2.0], numbers(2), low=0.0), "affine: .*high"),
    (
        lambda ops: ops.concatenate([numbers(2), numbers(2, 2)]),
        r"concatenate: argument `xs\[1\]` has shape \[2, 2\]",
    ),
    (lambda ops: ops.concatenate([]), r"no tensor arguments"),
    (lambda ops: ops.rms_norm(torch.ones(3).to_sparse()), "rms_norm"),
]


def test_errors_of_the_op(ops):
    with pytest.raises(RuntimeError, match="fail: an element is negative"):
        ops.fail(-torch.ones(2))
    with pytest.raises(RuntimeError, match="fail: as told"):
        ops.fail(-torch.ones(2), status="internal", message="as told")


def test_index_errors(ops):
    with pytest.raises(IndexError, match="fail: past the end"):
        ops.fail(-torch.ones(2), status="out_of_range", message="past the end")


@pytest.mark.parametrize(
    ("kind", "message"),
    [("str", "a negative element"), ("formatted", "element 1 is negative"), ("payload", ""), ("index", "index is 3")],
)
def test_panics(ops, kind, message):
    for _ in range(3):
        with pytest.raises(RuntimeError, match=f"panics: panicked at .*{message}"):
            ops.panics(kind, torch.tensor([1.0, -1.0]))


def test_libraries_without_operators(library_path):
    """Built without the feature: asking for an operator raises the reason."""
    plain = oxcall.load(library_path("plain_ops"))
    with pytest.raises(oxcall.LoadError, match="same: the library was built without the feature `torch`"):
        _ = plain.same.torch


def test_errors_of_threads(ops):
    with pytest.raises(RuntimeError, match="async_scale: attribute `factor` is NaN"):
        ops.async_scale(torch.ones(2), float("nan"))


def test_errors_of_stages(ops):
    with pytest.raises(
        RuntimeError, match=r"low_pass \(instantiate stage\): attribute `cutoff` is 2, expected more than 0, at"
    ):
        ops.low_pass(numbers(40), 2.0)
    # It is not remembered as a state.
    with pytest.raises(RuntimeError, match=r"low_pass \(instantiate stage\): attribute `cutoff` is 2"):
        ops.low_pass(numbers(40), 2.0)


@pytest.mark.parametrize(("call", "message"), MISTAKES)
def test_mistakes(ops, call, message):
    with pytest.raises(RuntimeError, match=message):
        call(ops)


def test_other_devices_are_named(ops):
    with pytest.raises(NotImplementedError, match=r"custom_op::fail"):
        torch.ops.custom_op.fail.default.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA), torch.ones(1))


def test_wrong_argument_types_are_torchs(ops):
    with pytest.raises((TypeError, RuntimeError), match="eps"):
        ops.rms_norm.default(numbers(3), eps="small")
    with pytest.raises((TypeError, RuntimeError), match="sharpness"):
        ops.rms_norm.default(numbers(3), sharpness=2)


def test_nothing_is_changed_by_a_failing_call(ops):
    y = torch.zeros(2)
    with pytest.raises(RuntimeError):
        ops.axpy(1.0, torch.ones(3), y)
    assert y.tolist() == [0, 0]
