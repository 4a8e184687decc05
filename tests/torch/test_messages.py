"""The names of dtypes in messages: torch's, in every kind of error."""

import re

import pytest
import torch

from cases import numbers
from test_errors import MISTAKES

# XLA's names, as words: torch has its own for all of these.
XLA = re.compile(r"(?<![\w./])(?:pred|[su](?:8|16|32|64)|b?f16|f32|f64|c64|c128|f8e\w+)(?![\w/]|::)")

WRONG = [torch.bool, torch.int8, torch.uint8, torch.int64, torch.complex64, torch.complex128, torch.float8_e4m3fn]


def fails(call):
    with pytest.raises(Exception) as raised:
        call()
    message = str(raised.value)
    assert not XLA.search(message), message
    return message


@pytest.mark.parametrize("dtype", WRONG)
def test_dtypes_of_arguments(ops, dtype):
    """By a type parameter, by one dtype, by another argument, in lists, and of what is updated."""
    wrong, name = torch.ones(3).to(dtype), str(dtype)
    floats = "torch.float16, torch.bfloat16, torch.float32, torch.float64"
    assert f"argument `x`: expected dtype one of {floats}, got {name}" in fails(lambda: ops.rms_norm(wrong))
    assert f"argument `x`: expected dtype torch.float32, got {name}" in fails(lambda: ops.affine([1.0], wrong[None]))
    message = fails(lambda: ops.rms_norm_vjp(numbers(3), wrong))
    assert f"argument `dy`: expected dtype torch.float32, got {name} (T is torch.float32 in this call)" in message
    assert name in fails(lambda: ops.axpy(1.0, numbers(3), wrong.clone()))
    assert name in fails(lambda: ops.concatenate([numbers(2), wrong]))
    assert name in fails(lambda: ops.low_pass(torch.ones(40).to(dtype), 0.1))


@pytest.mark.parametrize("call", [call for call, _ in MISTAKES])
def test_mistakes(ops, call):
    fails(lambda: call(ops))


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16])
@pytest.mark.parametrize("alpha", [1 << 40, 0.5, -(1 << 40)])
def test_numbers_that_do_not_fit(ops, dtype, alpha):
    fails(lambda: ops.axpy(alpha, torch.zeros(1, dtype=dtype), torch.zeros(1, dtype=dtype)))


def test_one_dtype_beside_a_type_parameter(derived):
    with torch.autocast("cpu"):
        message = fails(lambda: derived.scaled(numbers(3), torch.tensor(1, dtype=torch.int8)))
    assert "argument `scale`: expected dtype torch.float32, got torch.int8" in message


def test_texts_of_users_are_theirs(ops):
    for text in ('the mode "f32"', "`s32`", "see f32::MAX in src/f32/a.rs", "F32"):
        with pytest.raises(RuntimeError, match=re.escape(f"fail: {text}")):
            ops.fail(-torch.ones(2), message=text)
