"""Derivatives against finite differences, and against each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from oxcall import _dtypes
from oxcall._pairing import pair, residual_names
from oxcall.testing._finite_differences import directional
from oxcall.testing._report import Skip, Wrong
from oxcall.testing._subject import Arrays, Subject, epsilon, is_inexact, shown_type, to_jax, to_numpy, wide

_DIRECTIONS = 2


@dataclasses.dataclass(frozen=True)
class Point:
    """Where derivatives are checked, in the widest dtypes that the op takes.

    Attributes:
        case: the op with these operands.
        results: its results.
        floats: the operands that are floating-point.
        active: those of them that have derivatives.
        outputs: the results that have derivatives.
        eps: the precision.
    """

    case: Subject
    results: Arrays
    floats: tuple[int, ...]
    active: tuple[int, ...]
    outputs: tuple[int, ...]
    eps: float

    def name(self, index: int) -> str:
        return self.case.params[index].name

    def function(self, indices: Sequence[int]) -> Callable[..., tuple[Any, ...]]:
        """The op as a function of some operands."""

        def function(*values: Any) -> tuple[Any, ...]:
            given = to_jax(self.case.arrays)
            for index, value in zip(indices, values, strict=True):
                given[index] = value
            return self.case(*given)

        return function

    def direction(self, index: int, random: np.random.Generator) -> np.ndarray:
        """A random direction that scales each element, so that its sign stays."""
        array = wide(self.case.arrays[index])
        size = np.abs(array)
        usual = size.mean() if size.size and size.any() else 1.0
        return _signs(array.shape, random) * random.uniform(0.5, 1.0, array.shape) * np.where(size > 0, size, usual)

    def slopes(self, index: int, along: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """The derivatives of all results along a direction of one operand by finite differences, and their errors."""

        def function(values: Sequence[np.ndarray]) -> list[np.ndarray]:
            given = list(self.case.arrays)
            given[index] = values[0].astype(given[index].dtype)
            return [wide(result) for result in self.case.run(given)]

        return directional(function, [wide(self.case.arrays[index])], [along], self.eps)

    def weights(self, slopes: Sequence[tuple[np.ndarray, np.ndarray]], random: np.random.Generator) -> list[np.ndarray]:
        """Random cotangents of the results, zero where there is no derivative."""
        return [
            np.where(np.isfinite(error), _signs(error.shape, random) * random.uniform(0.5, 1, error.shape), 0)
            for _, error in slopes
        ]

    def pushed(self, index: int, along: np.ndarray) -> Arrays:
        """The tangents of the results by forward mode."""
        array = jax.numpy.asarray(self.case.arrays[index])
        _, tangents = jax.jvp(self.function([index]), (array,), (jax.numpy.asarray(along, array.dtype),))
        return to_numpy(tangents)

    def pulled(self, weights: Sequence[np.ndarray]) -> dict[int, np.ndarray]:
        """The cotangents of the operands by reverse mode."""
        found = self.pull(to_jax(self.case.arrays), to_jax([weights[index] for index in self.outputs]))
        return dict(zip(self.active, to_numpy(found), strict=True))

    def pull(self, arrays: Sequence[Any], weights: Sequence[Any]) -> tuple[Any, ...]:
        """The cotangents of the active operands, from those of the results that have some."""

        def function(*values: Any) -> tuple[Any, ...]:
            given = list(arrays)
            for index, value in zip(self.active, values, strict=True):
                given[index] = value
            return self.case(*given)

        _, pull = jax.vjp(function, *(arrays[index] for index in self.active))
        by_output = dict(zip(self.outputs, weights, strict=True))
        return pull(
            tuple(
                by_output[index].astype(result.dtype) if index in by_output else _zero(result)
                for index, result in enumerate(self.results)
            )
        )

    def allowed(self, weights: Sequence[np.ndarray], slopes: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
        """How far a sum over all results may be from finite differences: errors of elements are independent."""
        with np.errstate(invalid="ignore"):
            terms = [
                np.abs(weights[index]) * np.where(np.isfinite(slopes[index][1]), slopes[index][1], 0)
                for index in self.outputs
            ]
        spread = float(np.sqrt(sum(np.sum(term**2) for term in terms)))
        given = self.case.tolerance
        size = sum(float(np.sum(np.abs(weights[index] * slopes[index][0]))) for index in self.outputs)
        if given.rtol is not None or given.atol is not None:
            return (given.rtol or 0.0) * size + (given.atol or 0.0)
        return 4 * spread

    def dot(self, left: Sequence[Any], right: Sequence[Any]) -> float:
        return float(sum(np.sum(wide(left[i]) * wide(right[i])) for i in self.outputs))


def point(case: Subject) -> Point:
    """The point of a call.

    Raises:
        Skip: the op has no derivatives there.
    """
    info = case.info
    if info.vjp is None and info.jvp is None and info.transpose is None:
        raise Skip("it declares no `vjp`, `jvp` or `transpose`")
    if any(array.dtype.kind == "c" for array in case.arrays):
        raise Skip("finite differences of complex numbers are not implemented")
    case = case.with_arrays(widest(case))
    results = case.run(case.arrays)
    floats = tuple(index for index, array in enumerate(case.arrays) if is_inexact(array) and array.size)
    active = tuple(index for index in floats if case.params[index].name not in info.nondiff)
    if info.transpose is not None:
        linear = set(pair("transpose", info, case.op._primitive._find(info.transpose)._info).targets)
        active = tuple(index for index in active if case.params[index].name in linear)
    outputs = tuple(
        index for index, (name, result) in enumerate(zip(case.result_names, results, strict=True))
        if is_inexact(result) and name not in info.nondiff
    )  # fmt: skip
    if not active or not outputs:
        raise Skip("the call has no operand and result with a derivative")
    used = [*(case.arrays[i] for i in active), *(results[i] for i in outputs)]
    return Point(case, results, floats, active, outputs, epsilon(*used))


def widest(case: Subject) -> list[np.ndarray]:
    """The operands in the widest floating-point dtypes that the op takes."""
    arrays = []
    for param, array in zip(case.params, case.arrays, strict=True):
        declared = case.info.type_params[param.dtype].dtypes if isinstance(param.dtype, int) else ()
        known = _dtypes.xla_name(array.dtype.name)
        if known is not None and _dtypes.is_float(known):
            floats = [dtype for dtype in declared if _dtypes.is_float(dtype)]
            best = max([known, *floats], key=_dtypes.bits)
            array = array.astype(_dtypes.numpy_dtype(best))
        arrays.append(array)
    return arrays


def check_fwd(case: Subject) -> str:
    at = point(case)
    if case.info.fwd is None:
        raise Skip("it declares no `fwd`")
    primals = [jax.numpy.asarray(case_array) for case_array in (at.case.arrays[index] for index in at.active)]
    if case.info.vjp is not None:
        values = jax.vjp(at.function(at.active), *primals)[0]
    else:
        values = jax.jvp(at.function(at.active), primals, [jax.numpy.zeros_like(value) for value in primals])[0]
    if where := at.case.difference(to_numpy(values), at.results):
        fwd = case.info.fwd
        raise Wrong(
            f"`fwd = {fwd}`",
            f"{case.name}: `fwd = {fwd}` does not give the op's results: {where}; compute the same in both",
        )
    return "the forward op gives the op's results"


def check_jvp(case: Subject) -> str:
    at = point(case)
    rule = "transpose" if case.info.transpose is not None else "jvp"
    if getattr(case.info, rule) is None:
        raise Skip("it declares no `jvp`")
    random = case.random()
    for index in at.active * _DIRECTIONS:
        along = at.direction(index, random)
        slopes, tangents = at.slopes(index, along), at.pushed(index, along)
        for output in at.outputs:
            value, error = slopes[output]
            given = case.tolerance
            if given.rtol is not None or given.atol is not None:
                error = np.where(
                    np.isfinite(error), (given.rtol or 0) * np.abs(value).max(initial=0) + (given.atol or 0), error
                )
            near = np.abs(wide(tangents[output]) - value) <= 4 * error
            if near.all():
                continue
            worst = int(np.argmax(np.where(near, -1, np.abs(wide(tangents[output]) - value))))
            declaration = _rule(case, rule)
            name, result = at.name(index), case.result_names[output]
            what = f"{declaration} gives the tangent of result `{result}` along argument `{name}`"
            if rule == "transpose":
                what = (
                    f"{declaration} says that the op is linear in argument `{name}`, but a change of result `{result}`"
                )
            raise Wrong(
                declaration,
                f"{case.name}: {what} at element {worst}: expected {value.ravel()[worst]:.8g} (finite differences), "
                f"got {wide(tangents[output]).ravel()[worst]:.8g}; {_cure(case, rule, 't', result)}",
            )
    return _compared(at)


def check_vjp(case: Subject) -> str:
    at = point(case)
    rule = "transpose" if case.info.transpose is not None else "vjp"
    if getattr(case.info, rule) is None:
        raise Skip("it declares no `vjp`")
    random = case.random()
    wrong: dict[str, str] = {}
    decided = False
    for index in at.active * _DIRECTIONS:
        along = at.direction(index, random)
        slopes = at.slopes(index, along)
        weights = at.weights(slopes, random)
        decided |= any(weights[output].any() for output in at.outputs)
        expected = at.dot(weights, [value for value, _ in slopes])
        gradient = at.pulled(weights)[index]
        if gradient.shape != case.arrays[index].shape:
            raise Wrong(_rule(case, rule), f"{case.name}: gradient of `{at.name(index)}` is {shown_type(gradient)}")
        got = float(np.sum(wide(gradient) * along))
        if not abs(got - expected) <= at.allowed(weights, slopes):
            name = at.name(index)
            wrong.setdefault(
                name,
                f"the gradient of argument `{name}` along a random direction: expected {expected:.8g} (finite "
                f"differences), got {got:.8g}",
            )
    if wrong:
        declaration = _rule(case, rule)
        raise Wrong(
            declaration,
            f"{case.name}: {declaration} is wrong in {'; '.join(wrong.values())}; {_cure(case, rule, 'd', *wrong)}",
        )
    if not decided:
        raise Skip("the op is not differentiable at these operands, or its results do not depend on them")
    return _compared(at)


def check_dot_product(case: Subject) -> str:
    """Forward and reverse mode belong to the same map: `<u, J v> = <J^T u, v>`."""
    at = point(case)
    info = case.info
    if info.transpose is None and (info.vjp is None or info.jvp is None):
        raise Skip("it needs both modes: `jvp` and `vjp`, or `transpose`")
    if info.transpose is not None:
        try:
            check_jvp(case)
        except Wrong:
            raise Skip("the op is not linear") from None
    random = case.random()
    for index in at.active * _DIRECTIONS:
        along = at.direction(index, random)
        weights = [_signs(result.shape, random) for result in at.results]
        tangents, gradient = at.pushed(index, along), at.pulled(weights)[index]
        forward, reverse = at.dot(weights, tangents), float(np.sum(wide(gradient) * along))
        size = sum(float(np.sum(np.abs(wide(tangents[i])))) for i in at.outputs)
        size = max(size, float(np.sum(np.abs(wide(gradient) * along))))
        if not abs(forward - reverse) <= 64 * at.eps * size:
            both = (
                f"`transpose = {info.transpose}`" if info.transpose is not None
                else f"`jvp = {info.jvp}` and `vjp = {info.vjp}`"
            )  # fmt: skip
            what = "is not the transpose of the op" if info.transpose is not None else "are not of the same map"
            raise Wrong(
                both,
                f"{case.name}: {both} {what}, by argument `{at.name(index)}`: <u, J v> is {forward:.10g} and "
                f"<transpose(J) u, v> is {reverse:.10g}, which have to be equal; correct one of the two",
            )
    return f"<u, J v> = <transpose(J) u, v> to {64 * at.eps:.1g}"


def check_nondiff(case: Subject) -> str:
    at = point(case)
    nondiff = case.info.nondiff
    if not nondiff:
        raise Skip("it declares no `nondiff`")
    random = case.random()
    for index in at.floats:
        slopes = at.slopes(index, at.direction(index, random))
        for output, (value, error) in enumerate(slopes):
            names = [name for name in (at.name(index), case.result_names[output]) if name in nondiff]
            if not names or not is_inexact(at.results[output]):
                continue
            changed = np.isfinite(error) & (np.abs(value) > 4 * error)
            if changed.any():
                worst = float(np.abs(value[changed]).max())
                raise Wrong(
                    f"`nondiff = [{names[0]}]`",
                    f"{case.name}: `nondiff = [{names[0]}]`: result `{case.result_names[output]}` changes with "
                    f"argument `{at.name(index)}` (expected slope 0, got {worst:.6g} by finite differences), and JAX "
                    "takes the derivative for zero; remove the name and give its derivative, or say "
                    '`skip=("nondiff",)` if that is meant',
                )
    return "derivatives that are said to be zero are zero"


def _signs(shape: Sequence[int], random: np.random.Generator) -> np.ndarray:
    return random.choice([-1.0, 1.0], shape)


def _zero(result: np.ndarray) -> Any:
    if is_inexact(result):
        return jax.numpy.zeros(result.shape, result.dtype)
    return np.zeros(result.shape, jax.dtypes.float0)


def _rule(case: Subject, rule: str) -> str:
    return f"`{rule} = {getattr(case.info, rule)}`"


def _cure(case: Subject, rule: str, letter: str, *names: str) -> str:
    """What to correct: results of the rule's op, or residuals that it takes."""
    info, find = case.info, case.op._primitive._find
    if rule == "transpose" and letter == "t":
        return "declare `vjp` and `jvp` instead of `transpose`, or make the op linear"
    other = getattr(info, rule)
    listed = ", ".join(f"`{letter}{name}`" for name in names)
    text = f"correct {listed} in `{other}`"
    if info.fwd is not None:
        fwd = find(info.fwd)._info
        taken = {param.name for param in find(other)._info.operands}
        if residuals := [name for name in residual_names(info, fwd) if name in taken]:
            text += f", or the residual {', '.join(f'`{name}`' for name in residuals)} that `fwd = {info.fwd}` gives it"
    return text


def _compared(at: Point) -> str:
    names = ", ".join(f"`{at.name(index)}`" for index in at.active)
    dtypes = {str(at.case.arrays[index].dtype) for index in at.active}
    return f"{_DIRECTIONS} random directions of {names} in {', '.join(sorted(dtypes))}"
