"""Every operator of the gallery: values, and the checks that torch has for operators."""

import pytest
import torch
from torch.library import opcheck

from cases import CASES, numbers, rms_norm

CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


def call(ops, case):
    """Results of a call, or the tensors that it updates."""
    args, kwargs = case.make()
    operator = getattr(getattr(ops, case.op), case.overload)
    results = operator(*args, **kwargs)
    if results is None:
        mutable = [
            argument.alias_info is not None and argument.alias_info.is_write for argument in operator._schema.arguments
        ]
        return tuple(value for value, written in zip(args, mutable, strict=False) if written)
    return results


@CASE
def test_values(ops, case):
    args, kwargs = case.make()
    expected = case.oracle(*args, **kwargs)
    results = call(ops, case)
    if isinstance(expected, torch.Tensor):
        results, expected = (results,), (expected,)
    for result, wanted in zip(results, expected, strict=True):
        assert result.shape == wanted.shape
        torch.testing.assert_close(
            result.detach().to(wanted.dtype), wanted.detach(), rtol=case.tolerance, atol=case.tolerance
        )


@CASE
def test_torch_finds_nothing_wrong(ops, case):
    args, kwargs = case.make()
    opcheck(getattr(getattr(ops, case.op), case.overload), args, kwargs)


def test_every_operator_has_a_case(ops, gallery):
    covered = {case.op for case in CASES} | {"counter"}
    # Those of these modules are compared in tests of their own.
    modules = ("custom_ops::habana", "custom_ops::elementwise", "custom_ops::rows")
    names = {op["name"] for op in gallery.manifest["ops"] if not op["module"].startswith(modules)}
    left_out = {"polynomial", "dequantize_int4"}
    assert names - left_out == covered
    assert all(gallery[name].torch is getattr(ops, name) for name in covered)


def test_what_torch_cannot_have_says_why(gallery):
    with pytest.raises(
        RuntimeError, match=r"polynomial is not an operator in PyTorch .*: it takes attributes of any name"
    ):
        _ = gallery.polynomial.torch
    with pytest.raises(
        RuntimeError, match=r"dequantize_int4 is not an operator in PyTorch .*: argument `w` has dtype s4"
    ):
        _ = gallery.dequantize_int4.torch


def test_an_operator_without_arguments(ops):
    counts = [ops.counter() for _ in range(3)]
    assert all(count.dtype == torch.uint32 and count.shape == () for count in counts)
    first = int(counts[0])
    assert [int(count) for count in counts] == [first, first + 1, first + 2]


def test_schemas(ops):
    def schema(name, overload="default"):
        return str(getattr(getattr(ops, name), overload)._schema)

    assert schema("rms_norm") == "custom_op::rms_norm(Tensor x, float eps=1.0000000000000001e-05) -> Tensor"
    assert schema("top_k") == "custom_op::top_k(SymInt k, Tensor x) -> (Tensor, Tensor)"
    assert schema("axpy", "float") == "custom_op::axpy.float(float alpha, Tensor x, Tensor(a!) y) -> ()"
    assert schema("concatenate") == "custom_op::concatenate(Tensor[] xs, SymInt axis=0) -> Tensor"
    assert schema("low_pass") == "custom_op::low_pass(Tensor x, float cutoff, SymInt taps=31) -> Tensor"


def test_states_belong_to_attributes(ops):
    # A filter is designed once for each of these.
    x = numbers(64)
    first = [ops.low_pass(x, cutoff, taps=8) for cutoff in (0.1, 0.2, 0.3)]
    again = [ops.low_pass(x, cutoff, taps=8) for cutoff in (0.1, 0.2, 0.3)]
    for before, after in zip(first, again, strict=True):
        assert torch.equal(before, after)
    assert not torch.equal(first[0], first[1])


def test_inference_mode_and_no_grad(ops):
    x = numbers(3, 4)
    with torch.inference_mode():
        torch.testing.assert_close(ops.rms_norm(x), rms_norm(x).float())
    with torch.no_grad():
        assert not ops.rms_norm(numbers(3, 4, requires_grad=True)).requires_grad


def test_batches(ops):
    x = numbers(5, 2, 6)
    torch.testing.assert_close(torch.vmap(ops.rms_norm, 1, 1)(x), ops.rms_norm(x.movedim(1, 0)).movedim(0, 1))
    values, indices = torch.vmap(lambda x: ops.top_k(2, x))(x)
    torch.testing.assert_close(values, x.topk(2).values)
    assert torch.equal(indices.long(), x.topk(2).indices)
