"""What results are compared with: stock JAX, or, where that has no answer or a wrong one, something else."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from conformance import inputs
from conformance.modules import ELEMENTS

Function = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Oracle:
    """Where the expected results come from.

    Attributes:
        name: of the oracle, for the table.
        reason: why stock JAX is not asked.
        compute: the expected results of a function on inputs.
        subnormal: whether it keeps subnormal numbers, as IEEE 754 wants; XLA:CPU takes them for zeros.
    """

    name: str
    reason: str
    compute: Callable[[Function, Sequence[np.ndarray]], Any]
    subnormal: bool = False


def on(platform: str, function: Function, operands: Sequence[np.ndarray]) -> Any:
    """The results of a jitted function on a platform's first device."""
    device = jax.devices(platform)[0]
    arrays = [jax.device_put(value, device) for value in operands]
    with jax.default_device(device):
        return jax.tree.map(np.asarray, jax.jit(function)(*arrays))


STOCK = Oracle("stock JAX", "", lambda function, operands: on("cpu", function, operands))


def other(function: Function, reason: str) -> Oracle:
    """Stock JAX on another function, which gives what this one should."""
    return Oracle("stock JAX, otherwise", reason, lambda _, operands: on("cpu", function, operands))


def numpy(function: Function, reason: str) -> Oracle:
    """A function of NumPy arrays."""

    def compute(_: Function, operands: Sequence[np.ndarray]) -> Any:
        with np.errstate(all="ignore"):
            return function(*operands)

    return Oracle("NumPy", reason, compute, subnormal=True)


def interpreter(reason: str) -> Oracle:
    """StableHLO's reference interpreter, on the program that JAX lowers the function to."""
    return Oracle("StableHLO's interpreter", reason, _interpret, subnormal=True)


def _interpret(function: Function, operands: Sequence[np.ndarray]) -> Any:
    with jax.default_device(jax.devices("cpu")[0]):
        lowered = jax.jit(function, keep_unused=True).lower(*operands)
    results = jax.tree.leaves(lowered.out_info)
    structure = jax.tree.structure(lowered.out_info)
    with mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(_converting(lowered.as_text(), operands, results))
        attributes = iter(stablehlo.eval_module(module, [_attribute(operand) for operand in operands]))
        arrays = []
        for info in results:
            parts = [np.array(next(attributes)) for _ in _parts(info.dtype)]
            array = np.empty(info.shape, info.dtype)
            if len(parts) == 2:
                array.real, array.imag = parts
            else:
                array[...] = parts[0].astype(info.dtype)
            arrays.append(array)
    return jax.tree.unflatten(structure, arrays)


def _converting(text: str, operands: Sequence[np.ndarray], results: Sequence[Any]) -> str:
    """The module with a `main` whose results have types that NumPy can read from MLIR's attributes."""
    text = text.replace("func.func public @main(", "func.func private @original(", 1)
    types = [_tensor(operand) for operand in operands]
    names = ", ".join(f"%arg{number}: {type}" for number, type in enumerate(types))
    arguments = ", ".join(f"%arg{number}" for number in range(len(types)))
    produced = [_tensor(result) for result in results]
    bound = f"%r:{len(produced)} = " if produced else ""
    lines = [f"{bound}call @original({arguments}) : ({', '.join(types)}) -> ({', '.join(produced)})"]
    returned, returned_types = [], []
    for number, (result, source) in enumerate(zip(results, produced, strict=True)):
        for part, op in enumerate(_parts(result.dtype)):
            wide = _wide(result.dtype)
            target = _tensor(jax.ShapeDtypeStruct(result.shape, wide))
            name = f"%p{number}_{part}"
            signature = target if wide == result.dtype else f"({source}) -> {target}"
            lines.append(f"{name} = stablehlo.{op} %r#{number} : {signature}" if op else "")
            returned.append(name if op else f"%r#{number}")
            returned_types.append(target)
    lines.append(f"return {', '.join(returned)} : {', '.join(returned_types)}")
    main = f"func.func public @main({names}) -> ({', '.join(returned_types)}) {{\n  " + "\n  ".join(lines) + "\n}\n"
    end = text.rindex("}")
    return text[:end] + main + text[end:]


def _parts(dtype: np.dtype) -> tuple[str, ...]:
    """The ops that give the parts of a result that can be read: none for a type that can be read as it is."""
    if np.issubdtype(dtype, np.complexfloating):
        return ("real", "imag")
    return ("convert",) if _wide(dtype) != dtype else ("",)


def _wide(dtype: np.dtype) -> np.dtype:
    dtype = np.dtype(dtype)
    if np.issubdtype(dtype, np.complexfloating):
        return np.dtype(dtype.type(0).real.dtype)
    if dtype.name in inputs.INTEGERS:
        return (
            np.dtype("int8") if inputs.bits(dtype.name) < 8 and dtype.name.startswith("int") else _at_least_byte(dtype)
        )
    return np.dtype("float32") if dtype.name in (*inputs.SMALL_FLOATS, "bfloat16") else dtype


def _at_least_byte(dtype: np.dtype) -> np.dtype:
    return np.dtype("uint8") if inputs.bits(dtype.name) < 8 else dtype


def _tensor(array: Any) -> str:
    return f"tensor<{''.join(f'{size}x' for size in array.shape)}{ELEMENTS[np.dtype(array.dtype).name]}>"


def _attribute(array: np.ndarray) -> ir.Attribute:
    if array.size == 0:
        return ir.Attribute.parse(f"dense<> : {_tensor(array)}")
    element = mlir.dtype_to_ir_type(array.dtype)
    if array.dtype == bool:
        values = [ir.BoolAttr.get(bool(value)) for value in array.ravel()]
        return ir.DenseElementsAttr.get(values, type=ir.RankedTensorType.get(array.shape, element))
    return ir.DenseElementsAttr.get(array.copy(order="C"), type=element, shape=array.shape)
