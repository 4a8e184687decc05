"""Calls of the gallery's operators, and what they give by torch's own functions in double precision."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import torch


@dataclasses.dataclass(frozen=True)
class Case:
    """A call of an operator of the gallery."""

    op: str
    make: Callable[[], tuple[tuple[Any, ...], dict[str, Any]]]
    """Arguments; equal at every call."""
    oracle: Callable[..., Any]
    """The results from the same arguments, or the tensors that are updated in place."""
    overload: str = "default"
    tolerance: float = 1e-6
    name: str = ""
    has_gradient: bool = False

    @property
    def id(self) -> str:
        return self.name or self.op


def numbers(
    *shape: int, dtype: torch.dtype = torch.float32, seed: int = 1, requires_grad: bool = False
) -> torch.Tensor:
    """Normal random numbers, equal at every call."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)
    return drawn.requires_grad_(requires_grad)


def given(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs


def wide(*tensors: torch.Tensor) -> Any:
    """In double precision, as oracles compute."""
    widened = [tensor.to(torch.complex128 if tensor.is_complex() else torch.float64) for tensor in tensors]
    return widened[0] if len(widened) == 1 else widened


def rms_norm(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    return torch.nn.functional.rms_norm(wide(x), x.shape[-1:], eps=eps)


def rms_norm_vjp(x: torch.Tensor, dy: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    leaf = wide(x).detach().requires_grad_()
    (gradient,) = torch.autograd.grad(rms_norm(leaf, eps), leaf, wide(dy))
    return gradient


def weighted_rms_norm(x: torch.Tensor, w: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    return torch.nn.functional.rms_norm(wide(x), x.shape[-1:], wide(w), eps)


def weighted_rms_norm_vjp(x: torch.Tensor, w: torch.Tensor, dy: torch.Tensor, eps: float = 1e-5) -> list[torch.Tensor]:
    leaves = [wide(value).detach().requires_grad_() for value in (x, w)]
    return list(torch.autograd.grad(weighted_rms_norm(*leaves, eps), leaves, wide(dy)))


def weighted_rms_norm_jvp(
    x: torch.Tensor, w: torch.Tensor, tx: torch.Tensor, tw: torch.Tensor, eps: float = 1e-5
) -> torch.Tensor:
    tangents = (wide(tx), wide(tw))
    return torch.func.jvp(lambda x, w: weighted_rms_norm(x, w, eps), (wide(x), wide(w)), tangents)[1]


def low_pass(x: torch.Tensor, cutoff: float, taps: int = 31) -> torch.Tensor:
    place = torch.arange(taps, dtype=torch.float64)
    response = 2 * cutoff * torch.sinc(2 * cutoff * (place - (taps - 1) / 2))
    response *= 0.54 - 0.46 * torch.cos(2 * math.pi * place / max(taps - 1, 1))
    return wide(x).unfold(-1, taps, 1) @ (response / response.sum())


def affine(gains, x, offset=0.0, low=None, high=None, activation="identity"):
    y = wide(x) * torch.tensor(gains, dtype=torch.float64) + offset
    if low is not None:
        y = y.clamp(low, high)
    return {"identity": lambda y: y, "relu": torch.relu, "abs": torch.abs}[activation](y)


def csr_matmul(values, columns, start, x):
    rows = torch.sparse_csr_tensor(start, columns, wide(values), (len(start) - 1, len(x)), check_invariants=False)
    return rows.to_dense() @ wide(x)


def tridiagonal_solve(lower, diag, upper, b):
    lower, diag, upper, b = wide(lower, diag, upper, b)
    matrix = torch.diag_embed(diag) + torch.diag_embed(lower[..., 1:], -1) + torch.diag_embed(upper[..., :-1], 1)
    return torch.linalg.solve(matrix, b)


def top_k(k, x):
    values, indices = torch.sort(x, dim=-1, descending=True, stable=True)
    return values[..., :k], indices[..., :k].to(torch.int32)


def sparse_matrix(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, ...]:
    start = torch.tensor([0, 2, 2, 3, 6], dtype=torch.int32)
    columns = torch.tensor([0, 3, 1, 0, 2, 4], dtype=torch.int32)
    return numbers(6, dtype=dtype), columns, start, numbers(5, 3, dtype=dtype, seed=2)


CASES = [
    Case("rms_norm", lambda: given(numbers(3, 7)), rms_norm, has_gradient=True),
    Case("rms_norm", lambda: given(numbers(2, 3, 8, requires_grad=True), eps=1e-2), rms_norm, name="rms_norm gradient"),
    Case("rms_norm", lambda: given(numbers(4, dtype=torch.float64)), rms_norm, name="rms_norm f64", tolerance=1e-14),
    Case(
        "rms_norm", lambda: given(numbers(4, 9, dtype=torch.bfloat16)), rms_norm, name="rms_norm bf16", tolerance=1e-2
    ),
    Case("rms_norm", lambda: given(numbers(4, 9, dtype=torch.float16)), rms_norm, name="rms_norm f16", tolerance=2e-3),
    Case("rms_norm_vjp", lambda: given(numbers(3, 7), numbers(3, 7, seed=2), 1e-3), rms_norm_vjp),
    Case("weighted_rms_norm", lambda: given(numbers(3, 7), numbers(7, seed=2)), weighted_rms_norm, has_gradient=True),
    Case(
        "weighted_rms_norm",
        lambda: given(numbers(2, 3, 8, requires_grad=True), numbers(8, requires_grad=True), 1e-2),
        weighted_rms_norm,
        name="weighted_rms_norm gradient",
    ),
    Case(
        "weighted_rms_norm_vjp",
        lambda: given(numbers(3, 7), numbers(7), numbers(3, 7, seed=2), 1e-3),
        weighted_rms_norm_vjp,
    ),
    Case(
        "weighted_rms_norm_jvp",
        lambda: given(numbers(3, 7), numbers(7), numbers(3, 7, seed=2), numbers(7, seed=3)),
        weighted_rms_norm_jvp,
    ),
    Case("low_pass", lambda: given(numbers(2, 40), 0.2), low_pass),
    Case("low_pass", lambda: given(numbers(9), 0.1, taps=4), low_pass, name="low_pass of 4 taps"),
    Case("async_scale", lambda: given(numbers(5)), lambda x: 2 * wide(x)),
    Case("async_scale", lambda: given(numbers(2, 5), factor=-0.5), lambda x, factor: factor * wide(x), name="factor"),
    Case("affine", lambda: given([1.0, 0.5, -2.0], numbers(4, 3)), affine),
    Case(
        "affine",
        lambda: given([2.0, 3.0], numbers(2, 2), offset=0.25, low=-1.0, high=1.5, activation="relu"),
        affine,
        name="affine with everything",
    ),
    Case("concatenate", lambda: given([numbers(2, 3), numbers(1, 3), numbers(4, 3)]), lambda xs: torch.cat(xs)),
    Case(
        "concatenate",
        lambda: given([numbers(2, 3, dtype=torch.complex64), numbers(2, 1, dtype=torch.complex64)], axis=-1),
        lambda xs, axis: torch.cat(xs, axis),
        name="concatenate complex",
    ),
    Case("softmax", lambda: given(numbers(5, 9, dtype=torch.bfloat16)), lambda x: wide(x).softmax(-1), tolerance=1e-2),
    Case("top_k", lambda: given(3, numbers(4, 10)), top_k),
    Case("top_k", lambda: given(2, torch.tensor([3, 1, 3, 2], dtype=torch.uint8)), top_k, name="top_k of u8"),
    Case("csr_matmul", lambda: given(*sparse_matrix()), csr_matmul),
    Case("csr_matmul", lambda: given(*sparse_matrix(torch.complex128)), csr_matmul, name="csr_matmul complex"),
    Case(
        "tridiagonal_solve",
        lambda: given(numbers(2, 6), numbers(2, 6).abs() + 4, numbers(2, 6, seed=3), numbers(2, 6, 2, seed=4)),
        tridiagonal_solve,
    ),
    Case("fail", lambda: given(numbers(3).abs()), lambda x: x),
    Case("panics", lambda: given("str", numbers(3).abs()), lambda kind, x: x),
    Case("axpy", lambda: given(2, numbers(6), numbers(6, seed=2)), lambda a, x, y: (y + a * wide(x),), name="axpy int"),
    Case(
        "axpy",
        lambda: given(0.5, numbers(6), numbers(6, seed=2)),
        lambda a, x, y: (y + a * wide(x),),
        overload="float",
        name="axpy float",
    ),
    Case(
        "axpy",
        lambda: given(3, torch.arange(5, dtype=torch.int16), torch.ones(5, dtype=torch.int16)),
        lambda a, x, y: (y + a * x,),
        name="axpy of s16",
    ),
    Case(
        "compensated_add",
        lambda: given(numbers(4), torch.zeros(4), numbers(4, seed=3)),
        lambda total, error, x: (wide(total) + x, torch.zeros(4)),
    ),
]
