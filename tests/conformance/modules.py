"""StableHLO text as a function that JAX can trace: for ops and types that no JAX function reaches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

from conformance import inputs

# Names of element types in MLIR, by dtype.
ELEMENTS = {
    "bool": "i1",
    **{f"int{bits}": f"i{bits}" for bits in (2, 4, 8, 16, 32, 64)},
    **{f"uint{bits}": f"ui{bits}" for bits in (2, 4, 8, 16, 32, 64)},
    "float4_e2m1fn": "f4E2M1FN",
    "float6_e2m3fn": "f6E2M3FN",
    "float6_e3m2fn": "f6E3M2FN",
    "float8_e3m4": "f8E3M4",
    "float8_e4m3": "f8E4M3",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e4m3b11fnuz": "f8E4M3B11FNUZ",
    "float8_e5m2": "f8E5M2",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e8m0fnu": "f8E8M0FNU",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
}
_DTYPES = {element: dtype for dtype, element in ELEMENTS.items()}

_module_p = Primitive("stablehlo_module")
_module_p.multiple_results = True


def tensor(dtype: str, shape: Sequence[int] = ()) -> str:
    """The tensor type of a dtype and a shape."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}{ELEMENTS[dtype]}>"


def module(text: str) -> Callable[..., Any]:
    """A function of arrays that runs the function ``main`` of a StableHLO module; one result comes as it is."""

    def run(*operands: Any) -> Any:
        results = _module_p.bind(*operands, text=text)
        return results[0] if len(results) == 1 else tuple(results)

    return run


def body(lines: str, parameters: Sequence[str], results: Sequence[str]) -> Callable[..., Any]:
    """A function ``main`` of these lines, with parameters ``%0``, ``%1``... and the results that ``return`` names."""
    names = ", ".join(f"%{number}: {parameter}" for number, parameter in enumerate(parameters))
    return module(f"func.func @main({names}) -> ({', '.join(results)}) {{\n{lines}\n}}\n")


def single(
    op: str, parameters: Sequence[str], results: Sequence[str], attributes: str = "", regions: str = ""
) -> Callable[..., Any]:
    """A function ``main`` of one op on its parameters, with what stands between ``<{`` and ``}>``, and its regions."""
    operands = ", ".join(f"%{number}" for number in range(len(parameters)))
    names = ", ".join(f"%r#{number}" for number in range(len(results)))
    properties = attributes and f"<{{{attributes}}}>"
    line = f'%r:{len(results)} = "{op}"({operands}) {properties} {regions and f"({regions})"}'
    signature = f"({', '.join(parameters)}) -> ({', '.join(results)})"
    return body(f"{line} : {signature}\nreturn {names} : {', '.join(results)}", parameters, results)


def integers(values: Sequence[int]) -> str:
    """An attribute that is a list of numbers."""
    return f"array<i64{':' if values else ''} {', '.join(map(str, values))}>"


@_module_p.def_abstract_eval
def _abstract(*_: Any, text: str) -> list[jax.core.ShapedArray]:
    with mlir.make_ir_context(), ir.Location.unknown():
        parsed = ir.Module.parse(text)
        types = [ir.RankedTensorType(result) for result in _main(parsed).type.results]
        return [jax.core.ShapedArray(type.shape, inputs.dtype_of(_DTYPES[str(type.element_type)])) for type in types]


def _main(parsed: ir.Module) -> func.FuncOp:
    return next(op for op in parsed.body.operations if op.name.value == "main")


def _lower(context: mlir.LoweringRuleContext, *operands: ir.Value, text: str) -> Sequence[ir.Value]:
    parsed = ir.Module.parse(text)
    results = list(_main(parsed).type.results)
    name = mlir.merge_mlir_modules(context.module_context.module, "stablehlo_module", parsed)
    return func.CallOp(results, ir.FlatSymbolRefAttr.get(name), operands).results


mlir.register_lowering(_module_p, _lower)


def element(array: np.ndarray) -> str:
    """The MLIR element type of an array."""
    return ELEMENTS[array.dtype.name]
