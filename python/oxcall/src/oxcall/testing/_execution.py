"""Kernels: whether results depend on the operands alone, however the op is called."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from oxcall.testing._report import Skip, Wrong
from oxcall.testing._subject import Arrays, Subject, as_tuple, to_jax, to_numpy

_KERNEL = "the kernel"


def check_repeat(case: Subject) -> str:
    """A second call gives the same bits, and leaves its operands alone."""
    first, second = case.run(case.arrays), case.run(case.arrays)
    if where := _bits(case, second, first):
        raise Wrong(
            _KERNEL,
            f"{case.name}: a second call with the same operands gives other bits: {where}; results may depend on the "
            "operands and attributes only: write every element, and keep no state, or declare `side_effect`",
        )
    return "two calls have the same bits"


def check_results(case: Subject) -> str:
    """All elements of the results are written, whatever was in their memory."""
    results = case.run(case.arrays)
    names = [name for name, param in zip(case.result_names, _params(case), strict=True) if param.role == "ret"]
    filled = []
    function = jax.jit(lambda _, *arrays: case(*arrays), donate_argnums=0, keep_unused=True)
    for byte in (0x00, 0x7F):
        # JAX reuses the memory of a donated array of the same type for a result.
        poison = [
            np.full(result.nbytes, 1 if byte and result.dtype == bool else byte, np.uint8).view(result.dtype)
            .reshape(result.shape)
            for name, result in zip(case.result_names, results, strict=True) if name in names
        ]  # fmt: skip
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Some donated buffers were not usable")
            twice = [to_numpy(function(to_jax(poison), *to_jax(case.arrays))) for _ in range(2)]
        if _bits(case, *twice):
            raise Skip("two calls differ by themselves: see `repeat`")
        filled.append(twice[0])
    if where := case.difference(filled[1], filled[0]):
        raise Wrong(
            _KERNEL,
            f"{case.name}: a result depends on what was in its memory before the call: {where} with other contents; "
            "write every element",
        )
    return "every element is written"


def check_jit(case: Subject) -> str:
    """`jax.jit` gives what an eager call gives, also where operands are donated."""
    expected = case.run(case.arrays)
    donated = tuple(index for index, param in enumerate(case.params) if param.role == "inout")
    for what, options in (("under jax.jit", {}), ("with donated operands", {"donate_argnums": donated})):
        if where := case.difference(to_numpy(jax.jit(case, **options)(*to_jax(case.arrays))), expected):
            raise Wrong(
                _KERNEL,
                f"{case.name}: {what}, the op differs from an eager call: {where}; results may depend on the operands "
                "only",
            )
    return "jit and eager" + (", with donation" if donated else "")


def check_export(case: Subject) -> str:
    """The exported and reloaded op gives what the op gives."""
    try:
        from jax import export
    except ImportError as error:
        raise Skip(f"`jax.export` cannot be imported: {error}") from None
    safe = [export.DisabledSafetyCheck.custom_call(case.op.target)]
    exported = export.export(jax.jit(case), disabled_checks=safe)(*to_jax(case.arrays))
    how = "exported"
    if importlib.util.find_spec("flatbuffers") is not None:
        exported = export.deserialize(exported.serialize())
        how = "exported and reloaded"
    if where := case.difference(to_numpy(as_tuple(exported.call(*to_jax(case.arrays)))), case.run(case.arrays)):
        raise Wrong(_KERNEL, f"{case.name}: {how}, the op differs: {where}; results may depend on the operands only")
    return how


def check_legacy(case: Subject) -> str:
    """Handlers of the older custom call API give the same bits."""
    if not case.info.legacy:
        raise Skip("it declares no `legacy`")
    name = case.op._options["custom_call_api_version"]
    expected = case.run(case.arrays)
    for version in (1, 2, 3):
        got = to_numpy(jax.jit(lambda *arrays, version=version: case(*arrays, **{name: version}))(*to_jax(case.arrays)))
        if where := _bits(case, got, expected):
            raise Wrong(
                "`legacy`", f"{case.name}: `legacy`: version {version} of the custom call API gives other bits: {where}"
            )
    return "versions 1, 2 and 3"


def _bits(case: Subject, got: Arrays, expected: Arrays) -> str | None:
    if all(ours.tobytes() == theirs.tobytes() for ours, theirs in zip(got, expected, strict=True)):
        return None
    return case.difference(got, expected, 0.0)


def _params(case: Subject) -> Sequence[Any]:
    by_name = {param.name: param for param in case.info.results}
    return [by_name[name] for name in case.result_names]
