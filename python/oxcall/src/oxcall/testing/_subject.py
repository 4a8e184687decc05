"""The op under test with the operands of the user's call, as NumPy arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from oxcall import _dtypes, _jax
from oxcall._batch_dims import BatchDims, batch_dims
from oxcall._errors import CallError
from oxcall._manifest import OpInfo, Param
from oxcall._op import Op
from oxcall._operands import in_order

Arrays = tuple[np.ndarray, ...]


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """The user's tolerances; ``None`` where they follow from the dtypes."""

    rtol: float | None
    atol: float | None


@dataclasses.dataclass(frozen=True, eq=False)
class Subject:
    """An op and one call of it.

    Attributes:
        op: the op.
        arrays: the operands.
        params: the parameter that each operand belongs to.
        counts: the number of arrays of each operand parameter.
        result_names: the name of the parameter that each result belongs to.
        attrs: the keywords of the call.
        tolerance: the user's tolerances.
        seed: where random numbers start.
        gaps: the places of optional operands that are left out.
    """

    op: Op
    arrays: Arrays
    params: tuple[Param, ...]
    counts: tuple[int, ...]
    result_names: tuple[str, ...]
    attrs: Mapping[str, Any]
    tolerance: Tolerance
    seed: int
    gaps: tuple[int, ...]

    @property
    def info(self) -> OpInfo:
        return self.op._info

    @property
    def name(self) -> str:
        return self.info.name

    def random(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    def __call__(self, *arrays: Any, **options: Any) -> tuple[Any, ...]:
        """The results of the op, always a tuple."""
        given = list(arrays)
        for gap in self.gaps:
            given.insert(gap, None)
        return as_tuple(self.op(*given, **{**self.attrs, **options}))

    def run(self, arrays: Sequence[Any]) -> Arrays:
        """The results as NumPy arrays."""
        return to_numpy(self(*to_jax(arrays)))

    def with_arrays(self, arrays: Sequence[np.ndarray]) -> Subject:
        return dataclasses.replace(self, arrays=tuple(arrays))

    def batch_dims(self, operands: Sequence[Any], results: Sequence[Any]) -> BatchDims | None:
        """Where the independent dimensions are."""
        groups: dict[str, list[Any]] = {param.name: [] for param in self.info.operands}
        for param, operand in zip(self.params, operands, strict=True):
            groups[param.name].append(operand.shape)
        named = [(name, result.shape) for name, result in zip(self.result_names, results, strict=True)]
        return batch_dims(self.info, groups, named)

    def option(self, meaning: str) -> Any:
        """A keyword of the call that is not an attribute: `out_shape`."""
        return self.attrs.get(self.op._options.get(meaning, ""))

    def is_close(self, got: Any, expected: Any, rtol: float) -> np.ndarray:
        """Which elements are near: by a part of the largest one, since sums cancel."""
        got, expected = wide(got), wide(expected)
        rtol = rtol if self.tolerance.rtol is None else self.tolerance.rtol
        finite = np.abs(expected[np.isfinite(expected)])
        allowed = rtol * finite.max(initial=0.0) + (self.tolerance.atol or 0.0)
        with np.errstate(invalid="ignore"):
            near = np.abs(got - expected) <= allowed
        return near | (got == expected) | (np.isnan(got) & np.isnan(expected))

    def difference(self, got: Sequence[Any], expected: Sequence[Any], rtol: float | None = None) -> str | None:
        """Where results first differ from those expected, in words; ``None`` if they do not.

        Args:
            rtol: the tolerance; by default, from the dtypes of all operands and results.
        """
        if len(got) != len(expected):
            return f"expected {len(expected)} results, got {len(got)}"
        for name, ours, theirs in zip(self.result_names, got, expected, strict=True):
            if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
                return f"result `{name}`: expected {shown_type(theirs)}, got {shown_type(ours)}"
            tolerance = rounding(*self.arrays, ours) if rtol is None else rtol
            near = self.is_close(ours, theirs, tolerance)
            if not near.all():
                return f"result `{name}`{first_difference(near, ours, theirs)}"
        return None


def subject(op: Op, args: Sequence[Any], attrs: Mapping[str, Any], tolerance: Tolerance, seed: int) -> Subject:
    """The op with the operands of a call.

    Raises:
        CallError: the op does not take them.
    """
    keywords = dict(attrs)
    given = in_order(op._info, args, keywords, op._by_keyword) if set(keywords) & set(op._by_keyword) else tuple(args)
    try:
        arrays, call = op._prepare(given, dict(keywords))
    except CallError as error:
        # In double precision, if JAX would not make such arrays.
        with _jax.enable_x64():
            try:
                arrays, call = op._prepare([_exact(value) for value in given], dict(keywords))
            except CallError:
                raise error from None
    params = tuple(
        param for param, number in zip(op._info.operands, call.counts, strict=True) for _ in range(number)
    )  # fmt: skip
    gaps = tuple(index for index, value in enumerate(given) if value is None)
    return Subject(op, to_numpy(arrays), params, call.counts, call.names, keywords, tolerance, seed, gaps)


def as_tuple(results: Any) -> tuple[Any, ...]:
    if results is None:
        return ()
    return tuple(results) if isinstance(results, tuple | list) else (results,)


def to_jax(arrays: Sequence[Any]) -> list[Any]:
    return [_exact(array) for array in arrays]


def _exact(value: Any) -> Any:
    # Without a dtype, JAX remembers what it made of an array of this type without 64-bit types.
    return jax.numpy.asarray(value, value.dtype) if isinstance(value, np.ndarray) else value


def to_numpy(arrays: Sequence[Any]) -> Arrays:
    """Copies, since donation changes arrays that others see."""
    return tuple(np.array(array) for array in arrays)


def wide(array: Any) -> np.ndarray:
    """An array in double precision."""
    array = np.asarray(array)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def is_inexact(array: Any) -> bool:
    name = _dtypes.xla_name(np.dtype(array.dtype).name)
    return name is not None and _dtypes.is_inexact(name)


def epsilon(*arrays: Any) -> float:
    """The distance of 1 to the next number, in the coarsest of the floating-point dtypes."""
    found = [float(jax.numpy.finfo(array.dtype).eps) for array in arrays if is_inexact(array)]
    return max(found, default=0.0)


def rounding(*arrays: Any) -> float:
    """How far two orders of the same computation may differ: by a part of the digits, since errors add up."""
    return epsilon(*arrays) ** 0.75


def first_difference(near: np.ndarray, got: Any, expected: Any) -> str:
    """Where and what: `` at [1, 2]: expected 3.0, got 4.0 (2 of 6 elements differ)``."""
    got, expected = wide(got), wide(expected)
    distance = np.where(near, -1.0, np.nan_to_num(np.abs(got - expected), nan=np.inf))
    worst = np.unravel_index(int(np.argmax(distance)), near.shape)
    where = f" at [{', '.join(map(str, worst))}]" if worst else ""
    count = f" ({np.count_nonzero(~near)} of {near.size} elements differ)" if near.size > 1 else ""
    return f"{where}: expected {expected[worst]:.8g}, got {got[worst]:.8g}{count}"


def shown_type(array: Any) -> str:
    return f"{array.dtype}{list(array.shape)}"
