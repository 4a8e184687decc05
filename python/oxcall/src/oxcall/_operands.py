"""Operands of a call: counted, converted to arrays, and their dtypes checked and bound to type parameters."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from oxcall import _dtypes, _jax
from oxcall._errors import CallError, count, listing
from oxcall._manifest import OpInfo, Param


@dataclasses.dataclass(frozen=True)
class Operands:
    """The operands of one call, in wire order."""

    arrays: tuple[Any, ...]
    counts: tuple[int, ...]
    """The number of arrays of each operand parameter."""
    types: dict[int, str]
    """Dtypes that the operands bind to type parameters, by index."""

    def of(self, op: OpInfo) -> dict[str, tuple[Any, ...]]:
        """The arrays of each operand parameter."""
        return by_parameter(op, self.counts, self.arrays)


def by_parameter(op: OpInfo, counts: Sequence[int], values: Sequence[Any]) -> dict[str, tuple[Any, ...]]:
    """Groups the values of operands by parameter; ``counts`` says how many each parameter takes."""
    split, start = {}, 0
    for param, number in zip(op.operands, counts, strict=True):
        split[param.name] = tuple(values[start : start + number])
        start += number
    return split


def operand_names(op: OpInfo, counts: Sequence[int]) -> list[str]:
    """The name of the parameter that each operand belongs to."""
    return [param.name for param, number in zip(op.operands, counts, strict=True) for _ in range(number)]


def aliases(op: OpInfo, taken: Sequence[int], given: Sequence[int]) -> dict[int, int]:
    """The index of the result that shares the memory of an operand, for operands that are updated in place.

    Args:
        op: the operation.
        taken: the number of arrays of each operand parameter.
        given: the number of arrays of each result parameter.
    """
    firsts = dict(zip([param.name for param in op.results], itertools.accumulate((0, *given)), strict=False))
    found, start = {}, 0
    for param, number in zip(op.operands, taken, strict=True):
        if param.role == "inout":
            found.update({start + index: firsts[param.name] + index for index in range(number)})
        start += number
    return found


def counts(params: Sequence[Param], total: int, known: Mapping[str, int] | None = None) -> tuple[int, ...]:
    """The number of arrays of each operand or result parameter.

    Optional ones can be left out from the end only, and a variadic one is the last.

    Args:
        params: the parameters.
        total: the number of all arrays.
        known: the numbers of some parameters, by name.
    """
    fixed = {param.name: 1 for param in params if param.arity == "one"} | dict(known or {})
    room = total - sum(fixed.get(param.name, 0) for param in params)
    found = []
    for param in params:
        number = fixed.get(param.name)
        if number is None:
            number = max(room if param.arity == "variadic" else min(room, 1), 0)
            room -= number
        found.append(number)
    return tuple(found)


def updated(op: OpInfo, taken: Sequence[int]) -> dict[str, int]:
    """The number of arrays of each parameter that is updated in place, given those of all operand parameters."""
    return {param.name: number for param, number in zip(op.operands, taken, strict=True) if param.role == "inout"}


def in_order(op: OpInfo, given: Sequence[Any], keywords: dict[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    """The operands of a call by position.

    Args:
        op: the operation.
        given: the operands that were given by position.
        keywords: the keywords of the call; operands are taken out.
        names: the operands that may be given by keyword.
    """
    named = {name: keywords.pop(name) for name in names if name in keywords}
    operands = list(given)
    for position, param in enumerate(op.operands):
        if position < len(given):
            if param.name in named:
                raise CallError(
                    f"{op.name}: argument `{param.name}` is given twice, by position and by keyword; give it once"
                )
        elif param.name in named:
            operands.append(named.pop(param.name))
        elif param.arity == "one" and named:
            raise CallError(f"{op.name}: argument `{param.name}` is missing; it takes {listing(_shown(op.operands))}")
        elif param.arity == "optional":
            operands.append(None)
    return tuple(operands)


def bind_operands(op: OpInfo, given: Sequence[Any]) -> Operands:
    """Checks what the user passed against the declaration.

    The operands of a type parameter are promoted as those of a function of `jax.numpy`.
    """
    counts = _count(op, given)
    params = [param for param, number in zip(op.operands, counts, strict=True) for _ in range(number)]
    values = [value for value in given if value is not None]
    values = [
        value if _is_scalar(value) else _array(op, param, value) for param, value in zip(params, values, strict=True)
    ]
    pairs = list(zip(params, values, strict=True))
    types: dict[int, str] = {}
    weak: set[int] = set()
    for param in params:
        if isinstance(var := param.dtype, int) and var not in types:
            types[var], is_weak = _promoted(op, var, [pair for pair in pairs if pair[0].dtype == var])
            weak.update([var] if is_weak else [])
    arrays = tuple(_convert(op, param, value, types, weak) for param, value in pairs)
    return Operands(_broadcast(op, arrays) if op.broadcast else arrays, counts, types)


def _broadcast(op: OpInfo, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands of one shape, by NumPy's rules; as they are where the call is compiled with its broadcasts."""
    shapes = [_jax.shape_of(array) for array in arrays]
    if all(shape == shapes[0] for shape in shapes):
        return arrays
    try:
        if op.expands and not any(isinstance(array, _jax.Tracer) for array in arrays):
            np.broadcast_shapes(*shapes)
            return arrays
        return tuple(_jax.broadcast(arrays))
    except (TypeError, ValueError) as error:
        pairs = zip(op.operands, shapes, strict=True)
        given = ", ".join(f"`{param.name}` ({', '.join(map(str, shape))})" for param, shape in pairs)
        raise CallError(
            f"{op.name}: the shapes of {given} cannot be broadcast to one; give dimensions that are equal or 1"
        ) from error


def _count(op: OpInfo, given: Sequence[Any]) -> tuple[int, ...]:
    """The number of given values that each operand parameter takes."""
    params = op.operands
    fixed = [param for param in params if param.arity != "variadic"]
    required = sum(param.arity == "one" for param in params)
    variadic = len(fixed) < len(params)
    if len(given) < required or (len(given) > len(fixed) and not variadic):
        expects = f"at least {required}" if variadic else str(required)
        if not variadic and len(fixed) > required:
            expects = f"{required} to {len(fixed)}"
        raise CallError(
            f"{op.name}: got {count(len(given), 'argument')}, but it takes {expects} ({listing(_shown(params))}); "
            "attributes are given by keyword"
        )
    counts = [1] * min(len(given), len(fixed)) + [0] * (len(fixed) - len(given))
    for i, (param, value) in enumerate(zip(params, given, strict=False)):
        if value is None and param.arity == "optional":
            counts[i] = 0
            if any(later is not None for later in given[i + 1 :]):
                raise CallError(
                    f"{op.name}: optional argument `{param.name}` is None, but a later one is given; they can be left "
                    "out from the end only, since XLA passes no gaps"
                )
        elif value is None:
            raise CallError(f"{op.name}: argument `{param.name}` is None, but it is required")
    if any(value is None for value in given[len(fixed) :]):
        raise CallError(f"{op.name}: argument `{params[-1].name}` holds None")
    return (*counts, max(len(given) - len(fixed), 0)) if variadic else tuple(counts)


def _shown(params: Sequence[Param]) -> list[str]:
    return [f"*{param.name}" if param.arity == "variadic" else param.name for param in params]


def _is_scalar(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex) and type(value).__module__ == "builtins"


def _array(op: OpInfo, param: Param, value: Any, dtype: str | None = None) -> Any:
    """A value as an operand; a Python scalar with a dtype, if one is given."""
    given = getattr(value, "dtype", None)
    if isinstance(given, np.dtype) and (given.kind in "OSUMm" or given == np.longdouble):
        raise CallError(f"{op.name}: argument `{param.name}` has dtype {given}, which JAX arrays cannot have")
    if _jax.is_key(value) and not _takes_bits(op, param):
        dtypes = (param.dtype,) if isinstance(param.dtype, str) else op.type_params[param.dtype].dtypes
        raise CallError(
            f"{op.name}: argument `{param.name}` is a random key, but it takes numbers ({_dtypes.describe(*dtypes)}); "
            "pass random numbers, or the words of the key: `jax.random.key_data(key)`"
        )
    try:
        operand = _jax.as_operand(value, dtype)
    except CallError as error:
        raise CallError(f"{op.name}: {error}") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise CallError(f"{op.name}: argument `{param.name}` is not an array: {error}") from error
    if _jax.dtype_of(operand) is None:
        raise CallError(f"{op.name}: argument `{param.name}` has dtype {operand.dtype}, which XLA's FFI cannot pass")
    return operand


def _takes_bits(op: OpInfo, param: Param) -> bool:
    """Whether an operand may be the words of a random key: `uint32`, declared as such or beside other words."""
    if isinstance(param.dtype, int):
        return all(dtype.startswith("u") for dtype in op.type_params[param.dtype].dtypes)
    return param.dtype in (None, "u32")


def _promoted(op: OpInfo, var: int, pairs: Sequence[tuple[Param, Any]]) -> tuple[str, bool]:
    """The dtype of a type parameter, given the operands that have it, and whether it is weak."""
    declared = op.type_params[var]
    values = [value for _, value in pairs]
    found, is_weak = _jax.result_type(values)
    if op.broadcast and found is not None and found not in declared.dtypes:
        # Booleans are numbers where the op takes integers, as in `x + 0`; what is left are integers among floats.
        number, number_is_weak = _jax.result_type([*values, 0])
        is_number = number in declared.dtypes
        found, is_weak = (number, number_is_weak) if is_number else (_jax.inexact(found), is_weak)
    if found not in declared.dtypes:
        raise _unpromoted(op, var, pairs, found)
    for param, value in pairs:
        if param.role == "inout" and not _is_scalar(value) and (dtype := _jax.dtype_of(value)) != found:
            raise CallError(
                f"{op.name}: argument `{param.name}` is updated in place and has dtype {_dtypes.describe(dtype)}, but "
                f"{declared.name} is {_dtypes.describe(found)} in this call; convert one of the arguments with "
                "`.astype`"
            )
    return found, is_weak


def _unpromoted(op: OpInfo, var: int, pairs: Sequence[tuple[Param, Any]], found: str | None) -> CallError:
    """The error for operands whose common dtype, ``found``, is none that their type parameter takes."""
    declared = op.type_params[var]
    allowed = f"{declared.name} is {_dtypes.describe(*declared.dtypes)}"
    # Without arrays, a Python scalar has the dtype that JAX gives it.
    given = [(param, value, _jax.dtype_of(_array(op, param, value))) for param, value in pairs]

    def fits(value: Any) -> bool:
        """Whether some other operand could give the type parameter a dtype that this one takes."""
        return any(
            _jax.result_type([value, np.empty(1, numpy_dtype)])[0] == dtype
            for dtype in declared.dtypes
            if (numpy_dtype := _dtypes.numpy_dtype(dtype)) is not None
        )

    blamed = [(param, dtype) for param, value, dtype in given if not fits(value)]
    if not blamed and all(dtype not in declared.dtypes for _, _, dtype in given):
        blamed = [(param, dtype) for param, _, dtype in given]
    if blamed:
        param, dtype = blamed[0]
        return CallError(
            f"{op.name}: argument `{param.name}` has dtype {_dtypes.describe(dtype)}, but {allowed}"
            f"{_hint(dtype, declared.dtypes)}"
        )
    common = "no common dtype" if found is None else f"the common dtype {_dtypes.describe(found)}"
    listed = dict.fromkeys(f"`{param.name}` ({_dtypes.describe(dtype)})" for param, _, dtype in given)
    return CallError(
        f"{op.name}: the arguments {', '.join(listed)} have {common}, but {allowed}; convert them with `.astype`"
    )


def _convert(op: OpInfo, param: Param, value: Any, types: Mapping[int, str], weak: Container[int]) -> Any:
    """An operand of the dtype that the declaration and the other operands give it: one that others may widen, if all
    operands of its type parameter are such.
    """
    is_weak = param.dtype in weak
    wanted = types[param.dtype] if isinstance(param.dtype, int) else param.dtype
    adopts = wanted is not None and wanted != "token" and _jax.adopts(value, wanted)
    operand = _array(op, param, value, wanted if adopts and not is_weak else None) if _is_scalar(value) else value
    if isinstance(param.dtype, int) or adopts:
        operand = _jax.converted(operand, wanted, is_weak)
    dtype = _jax.dtype_of(operand)
    if wanted is not None and dtype != wanted:
        raise CallError(
            f"{op.name}: argument `{param.name}` has dtype {_dtypes.describe(dtype)}, but it takes "
            f"{_dtypes.describe(wanted)}{_hint(dtype, (wanted,))}"
        )
    rank = len(_jax.shape_of(operand))
    if param.rank is not None and rank != param.rank:
        raise CallError(
            f"{op.name}: argument `{param.name}` has rank {rank} (shape {list(operand.shape)}), "
            f"but it takes rank {param.rank}"
        )
    return operand


_COMPLEX = frozenset({"c64", "c128"})


def _hint(given: str, allowed: Sequence[str]) -> str:
    wide = {"f32": "f64", "s32": "s64", "u32": "u64", "c64": "c128"}.get(given)
    if wide in allowed:
        return '; for 64-bit types in JAX, set `jax.config.update("jax_enable_x64", True)`'
    if allowed == ("token",) or given == "token":
        return ""
    if given in _COMPLEX and not _COMPLEX.intersection(allowed):
        return "; pass its `.real` and its `.imag`, each in a call of its own"
    usual = "f32" if "f32" in allowed else allowed[0]
    return f"; convert it with `.astype({_dtypes.numpy_name(usual)!r})`"
