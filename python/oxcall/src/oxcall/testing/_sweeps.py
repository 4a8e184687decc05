"""The dtypes and sizes that an op takes by its declaration."""

from __future__ import annotations

import jax
import numpy as np

from oxcall import _dtypes
from oxcall._errors import CallError
from oxcall._manifest import dim_tokens
from oxcall.testing._report import Skip, Wrong
from oxcall.testing._subject import Subject, epsilon, first_difference, is_inexact, wide


def check_dtypes(case: Subject) -> str:
    """Each dtype gives what the widest of its kind gives."""
    compared: list[str] = []
    for index, declared in enumerate(case.info.type_params):
        bound = [position for position, param in enumerate(case.params) if param.dtype == index]
        given = {_dtypes.xla_name(case.arrays[position].dtype.name) for position in bound}
        if not bound or len(given) != 1:
            continue
        (dtype,) = given
        kind = next(test for test in (_is_float, _dtypes.is_complex, _is_signed, _is_unsigned, _any) if test(dtype))
        same = [other for other in declared.dtypes if kind(other) and _dtypes.numpy_dtype(other) is not None]
        for narrow in same:
            if _compare_dtypes(case, bound, declared.name, narrow, max(same, key=_dtypes.bits)):
                compared.append(_dtypes.numpy_name(narrow))
    if not compared:
        raise Skip("no operand has a type parameter")
    return ", ".join(compared)


def _compare_dtypes(case: Subject, bound: list[int], name: str, narrow: str, widest: str) -> bool:
    """Whether the user's operands can be of a dtype; they are rounded to it before both calls."""
    small, large = (
        [
            array.astype(_dtypes.numpy_dtype(narrow)) if index in bound else array
            for index, array in enumerate(case.arrays)
        ],
        list(case.arrays),
    )
    for index in bound:
        exact = _dtypes.is_inexact(narrow) or np.array_equal(wide(small[index]), wide(case.arrays[index]))
        if not exact or not np.isfinite(wide(small[index])).all():
            return False
        large[index] = small[index].astype(_dtypes.numpy_dtype(widest))
    declaration = f"dtype {_dtypes.numpy_name(narrow)} of `{name}`"
    expected = case.run(large)
    try:
        got = case.run(small)
    except Exception as error:
        text = str(error)
        if isinstance(error, CallError) and "installed JAX" in text:
            return False
        raise Wrong(
            declaration,
            f"{case.name}: {declaration} is declared, but a call with it failed: {text}; remove it from `{name} = ...`",
        ) from error
    magnitude = max((np.abs(wide(array)).max(initial=0.0) for array in (*large, *expected)), default=0.0)
    for result, ours, theirs in zip(case.result_names, got, expected, strict=True):
        # Half of the digits: the rest may be lost to rounding within the op.
        tolerance = epsilon(*small, ours) ** 0.5
        if not is_inexact(ours) and _dtypes.is_inexact(narrow):
            continue  # an integer made of rounded numbers
        bounded = theirs.astype(ours.dtype)
        fits = np.isfinite(wide(bounded)) == np.isfinite(wide(theirs))
        if not is_inexact(ours):
            fits = wide(bounded) == wide(theirs)
        near = case.is_close(np.where(fits, wide(ours), 0), np.where(fits, wide(theirs), 0), tolerance)
        # A result that is what rounding left over is as near as the operands allow.
        near |= np.abs(wide(ours) - wide(theirs)) <= 16 * epsilon(*small, ours) * magnitude
        if not near.all():
            raise Wrong(
                declaration,
                f"{case.name}: {declaration}: result `{result}` differs from that of {_dtypes.numpy_name(widest)}"
                f"{first_difference(near, ours, theirs)}; correct the kernel for this dtype, or remove it from "
                f"`{name} = ...`",
            )
    return True


def _is_float(dtype: str) -> bool:
    return _dtypes.is_float(dtype)


def _is_signed(dtype: str) -> bool:
    return dtype.startswith("s")


def _is_unsigned(dtype: str) -> bool:
    return dtype.startswith("u")


def _any(dtype: str) -> bool:
    return dtype == "pred"


def check_sizes(case: Subject) -> str:
    """Dimensions of size 0 are not a mistake."""
    if case.option("out_shape") is not None:
        raise Skip("`out_shape` states the shapes of the results, so that those of the operands cannot change")
    names = dict.fromkeys(
        token for param in case.params for token in dim_tokens(param.dims or "") if token.lstrip(".").isidentifier()
    )
    names.pop("_", None)
    done, refused = [], {}
    for name in names:
        arrays = _emptied(case, name)
        if arrays is None:
            continue
        try:
            results = case.run(arrays)
        except Exception as error:
            text = str(error)
            if "panicked" in text:
                raise Wrong(
                    f"`#[dims({name})]`",
                    f"{case.name}: with no elements along dimension `{name}`, the kernel panics: {text}; return early, "
                    "or refuse it with an error",
                ) from error
            refused[name] = text.splitlines()[0]
            continue
        done.append(name)
        _check_empty(case, name, arrays, results)
    if not done:
        reasons = "; ".join(f"`{name}`: {text}" for name, text in refused.items())
        raise Skip(f"no dimension of the operands can be 0{f' ({reasons})' if reasons else ''}")
    return f"0 for each of {', '.join(f'`{name}`' for name in done)}"


def _emptied(case: Subject, name: str) -> list[np.ndarray] | None:
    """The operands with no element along a dimension; ``None`` where another one is computed from it."""
    arrays, found = [], False
    for param, array in zip(case.params, case.arrays, strict=True):
        tokens = dim_tokens(param.dims or "")
        lists = [index for index, token in enumerate(tokens) if token.startswith("..")]
        if len(lists) > 1 or any(name in token and not token.lstrip(".").isidentifier() for token in tokens):
            return None
        if name not in tokens:
            arrays.append(array)
            continue
        index = tokens.index(name)
        rest = array.ndim - (len(tokens) - len(lists))
        if name.startswith("..") and rest == 0:
            array = array[(slice(None),) * index + (None,)]
        axis = index if not lists or index <= lists[0] else index - 1 + rest
        arrays.append(np.take(array, [], axis))
        found = True
    return arrays if found else None


def _check_empty(case: Subject, name: str, arrays: list[np.ndarray], results: tuple[np.ndarray, ...]) -> None:
    """Results that sum over nothing are zero, whatever was in their memory."""
    by_name = {param.name: param for param in case.info.results}
    for index, (result_name, result) in enumerate(zip(case.result_names, results, strict=True)):
        if not by_name[result_name].sum or name != f"..{case.info.batch}" or not result.size:
            continue
        poison = jax.numpy.full(result.shape, 1, result.dtype)
        function = jax.jit(lambda _, *given: case(*given), donate_argnums=0, keep_unused=True)
        got = np.asarray(function(poison, *map(jax.numpy.asarray, arrays))[index])
        if np.any(wide(got) != 0):
            raise Wrong(
                f"`#[sum({case.info.batch})]`",
                f"{case.name}: `#[sum({case.info.batch})]` on result `{result_name}`: with an empty batch, expected 0, "
                f"got {wide(got).ravel()[0]:.8g}; write zeros first",
            )
