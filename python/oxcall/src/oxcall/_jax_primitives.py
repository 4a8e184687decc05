"""How JAX versions differ in primitives, from 0.4.34 on. With `_jax`, the one place that knows."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir, xla
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo as hlo

from oxcall import _dtypes, _jax
from oxcall._batch_dims import BatchDims
from oxcall._errors import CallError
from oxcall._sharding import result_specs

try:
    from jax._src import ffi as _internal
except ImportError:  # before 0.5
    from jax._src.extend import ffi as _internal

# The first versions with explicit meshes lack it, and compare no splits of cotangents.
_reshard = getattr(jax.sharding, "reshard", None)

# The effect of JAX's own `ffi_call`: it keeps a call whose results are not used.
_SIDE_EFFECT = _internal._FfiEffect

jit = jax.jit
Zero = ad.Zero
is_undefined_primal = ad.is_undefined_primal


def primitive(
    name: str,
    *,
    abstract: Callable[..., tuple[Sequence[Any], bool]],
    lower: Callable[..., Any],
    batch: Callable[..., Any],
    jvp: Callable[..., Any],
    transpose: Callable[..., Any] | None = None,
    sees_producers: bool = False,
) -> Primitive:
    """A primitive with several results.

    Args:
        name: its name in jaxprs and profiles.
        abstract: the results' types, and whether the call has a side effect.
        lower: the rule of `jax.interpreters.mlir.register_lowering`.
        batch: that of `jax.interpreters.batching.primitive_batchers`.
        jvp: that of `jax.interpreters.ad.primitive_jvps`.
        transpose: that of `jax.interpreters.ad.primitive_transposes`.
        sees_producers: whether the lowering looks at what has computed the operands.
    """

    def abstract_eval(*operands: Any, **params: Any) -> Any:
        results, has_side_effect = abstract(*operands, **params)
        return tuple(results), {_SIDE_EFFECT} if has_side_effect else set()

    new = Primitive(name)
    new.multiple_results = True
    new.def_impl(functools.partial(xla.apply_primitive, new))
    new.def_effectful_abstract_eval(abstract_eval)
    # JAX lowers equal calls once, as functions, inside of which operands are parameters. Before 0.6 it did not.
    is_cached = "cacheable" in inspect.signature(mlir.register_lowering).parameters
    mlir.register_lowering(new, lower, **({"cacheable": False} if sees_producers and is_cached else {}))
    batching.primitive_batchers[new] = batch
    ad.primitive_jvps[new] = jvp
    if transpose is not None:
        ad.primitive_transposes[new] = transpose
    _register_with_shard_map(new)
    return new


def _register_with_shard_map(new: Primitive) -> None:
    """Before JAX tracked in types over which axes of a mesh values vary, `shard_map` had rules of its own."""
    if _jax.version() >= (0, 7):
        return
    from jax.experimental import shard_map

    for register in ("register_standard_check", "register_standard_rewrite"):
        if hasattr(shard_map, register):
            getattr(shard_map, register)(new)


def result_types(
    results: Sequence[tuple[str, Sequence[Any]]], operands: Sequence[Any], found: BatchDims | None,
    weak: Sequence[bool],
) -> list[Any]:  # fmt: skip
    """The types of results of these dtypes and shapes, which vary over the same axes of a mesh as the operands.

    All operands vary over the same axes: see `_jax.vary_together`. On an explicit mesh, results are split as `found`
    says, the dimensions that the op declares to be independent. `weak` says which results adopt the dtypes of others.
    """
    arrays = [operand for operand in operands if isinstance(operand, jax.core.ShapedArray)]
    # Some operands of a call on a mesh may be on none.
    like = next((operand for operand in arrays if _is_on_mesh(operand)), arrays[0] if arrays else None)
    shapes = [shape for _, shape in results]
    specs: Sequence[Any] = [(None,) * len(shape) for shape in shapes]
    if found is not None:
        specs = result_specs(found, [getattr(_sharding_of(operand), "spec", None) for operand in operands], shapes)
    return [
        _result_type(dtype, tuple(shape), like, spec, is_weak)
        for (dtype, shape), spec, is_weak in zip(results, specs, weak, strict=True)
    ]


def _sharding_of(aval: Any) -> Any:
    """The sharding in a type, on an explicit mesh."""
    return getattr(aval, "sharding", None)


def _is_on_mesh(aval: Any) -> bool:
    mesh = getattr(_sharding_of(aval), "mesh", None)
    return mesh is not None and not mesh.empty


def split_like(value: Any, aval: Any) -> Any:
    """A value that an explicit mesh splits as a type says: JAX wants cotangents so. Elsewhere it is as it was."""
    given = type_of(value)
    if not (_is_on_mesh(aval) and _is_on_mesh(given)) or _sharding_of(given).spec == _sharding_of(aval).spec:
        return value
    return value if _reshard is None else _reshard(value, _sharding_of(aval))


def _result_type(dtype: str, shape: tuple[Any, ...], like: Any, spec: Sequence[Any], is_weak: bool) -> Any:
    if dtype == "token":
        return _jax.abstract_token()
    numpy_dtype = _dtypes.numpy_dtype(dtype)
    if numpy_dtype is None:
        raise CallError(f"the installed JAX has no dtype {_dtypes.numpy_name(dtype)}; upgrade `jax` and `ml_dtypes`")
    given = {"shape": shape, "dtype": numpy_dtype, "weak_type": is_weak}
    if like is None:
        return jax.core.ShapedArray(**given)
    sharding = _sharding_of(like)
    if sharding is not None:
        given["sharding"] = jax.sharding.NamedSharding(sharding.mesh, jax.sharding.PartitionSpec(*spec))
    return like.update(**given)


def dtype_and_shape(aval: Any) -> tuple[str, tuple[Any, ...]]:
    """XLA's name of the dtype, and the shape, of an abstract operand or result."""
    if not isinstance(aval, jax.core.ShapedArray):
        return "token", ()
    return _dtypes.xla_name(aval.dtype.name), tuple(aval.shape)


def is_on_one_cpu(ctx: Any) -> bool:
    """Whether a call is lowered for one device, which is no GPU: no partitioner sees the operands."""
    context = ctx.module_context
    return getattr(context.axis_context, "num_devices", None) == 1 and {"cuda", "rocm", "tpu"}.isdisjoint(
        context.platforms
    )


def before_broadcasts(ctx: Any, operands: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The operands of a call before they were broadcast, with dimensions of 1 instead of those that repeat elements.

    Differentiation and `vmap` have seen operands of one shape. What the program computes of one row, or one number, is
    passed on as such here: XLA would write the broadcast array to memory for the call.
    """
    found = [_before_broadcasts(operand) for operand in operands]
    avals = [
        aval if tuple(aval.shape) == shape else jax.core.ShapedArray(shape, aval.dtype)
        for aval, (_, shape) in zip(ctx.avals_in, found, strict=True)
    ]
    return ctx.replace(avals_in=avals), [operand for operand, _ in found]


def _before_broadcasts(operand: Any) -> tuple[Any, tuple[int, ...]]:
    kind = ir.RankedTensorType(operand.type)
    whole = tuple(kind.shape)
    source, places = operand, list(range(len(whole)))
    """For each dimension of the operand that of the source; `None` where elements are repeated."""
    while (step := _dims_before(source)) is not None:
        source, before = step
        places = [None if place is None else before[place] for place in places]
    kept = [place for place in places if place is not None]
    shape = tuple(1 if place is None else size for size, place in zip(whole, places, strict=True))
    if shape == whole or kept != sorted(kept):
        return operand, whole
    if tuple(ir.RankedTensorType(source.type).shape) != shape:
        source = hlo.reshape(ir.RankedTensorType.get(shape, kind.element_type), source)
    return source, shape


def _dims_before(value: Any) -> tuple[Any, dict[int, int | None]] | None:
    """What a value is broadcast from, and for each dimension the one that it was; `None` if it is no broadcast.

    A dimension of 1 was none.
    """
    op = value.owner
    if isinstance(op, ir.Block) or op.name not in ("stablehlo.broadcast_in_dim", "stablehlo.reshape"):
        return None
    source = op.operands[0]
    given, sizes = (list(ir.RankedTensorType(array.type).shape) for array in (source, value))
    if any(size < 0 for size in (*given, *sizes)):
        return None
    if op.name == "stablehlo.broadcast_in_dim":
        dims = [int(dim) for dim in ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"])]
        pairs = {dim: place for place, dim in enumerate(dims) if given[place] != 1}
    else:
        old, new = ([axis for axis, size in enumerate(shape) if size != 1] for shape in (given, sizes))
        if [given[axis] for axis in old] != [sizes[axis] for axis in new]:
            return None
        pairs = dict(zip(new, old, strict=True))
    return source, {axis: pairs.get(axis) for axis in range(len(sizes))}


def lower_typed(
    ctx: Any, operands: Sequence[Any], target: str, attrs: Mapping[str, Any], aliases: Mapping[int, int],
    has_side_effect: bool, frontend: Mapping[str, str], sharding_rule: str | None,
) -> Any:  # fmt: skip
    """Lowers to a custom call of the typed FFI.

    Args:
        frontend: frontend attributes, which partitioners read.
        sharding_rule: which dimensions of operands and results Shardy splits together, as the text of an attribute.
    """
    rule = _jax.ffi_lowering(target, has_side_effect=has_side_effect, operand_output_aliases=dict(aliases))
    results = rule(ctx, *operands, **attrs)
    if ctx.avals_out:
        call = results[0].owner
        if frontend:
            values = {name: ir.StringAttr.get(value) for name, value in frontend.items()}
            call.attributes["mhlo.frontend_attributes"] = ir.DictAttr.get(values)
        # Without the rule, Shardy replicates the results; without the partitioner, XLA gathers the operands.
        if sharding_rule is not None and _has_shardy():
            call.attributes["sdy.sharding_rule"] = ir.Attribute.parse(sharding_rule)
    return results


def is_partly_manual(ctx: Any) -> bool:
    """Whether a call is lowered in a `shard_map` over some axes of its mesh, where XLA sees a group of devices alone.

    Before JAX 0.7, XLA sees all devices, and ends the process if a custom call has no partitioner there.
    """
    context = ctx.module_context.axis_context
    manual = getattr(context, "manual_axes", frozenset())
    return bool(manual) and not manual >= frozenset(context.mesh.axis_names) and _jax.version() >= (0, 7)


@functools.cache
def _has_shardy() -> bool:
    """Whether this JAX reads sharding rules. Before 0.6, it parses them, and its compiler then refuses them."""
    if _jax.version() < (0, 6):
        return False
    try:
        ir.Attribute.parse("#sdy.op_sharding_rule<([i])->([i]) {i=2} need_replication={i}, custom>")
    except ir.MLIRError:
        return False
    return True


def lower_legacy(
    ctx: Any, operands: Sequence[Any], target: str, version: int, descriptor: bytes, leading: Any,
    aliases: Mapping[int, int], has_side_effect: bool,
) -> Any:  # fmt: skip
    """Lowers to a custom call of API version 1, 2 or 3.

    Args:
        descriptor: the opaque bytes.
        leading: an array that is passed before all operands, or ``None``.
    """
    if leading is not None:
        operands = [mlir.ir_constant(leading), *operands]
        ctx = ctx.replace(avals_in=[jax.core.ShapedArray(leading.shape, leading.dtype), *ctx.avals_in])
        aliases = {operand + 1: result for operand, result in aliases.items()}
    options = {"has_side_effect": has_side_effect, "operand_output_aliases": dict(aliases), "api_version": version}
    if _jax.version() >= (0, 4, 36):
        return _jax.ffi_lowering(target, backend_config=descriptor, **options)(ctx, *operands)
    return mlir.custom_call(
        target,
        result_types=[mlir.aval_to_ir_type(aval) for aval in ctx.avals_out],
        operands=operands,
        backend_config=descriptor,
        operand_layouts=[_row_major(aval) for aval in ctx.avals_in],
        result_layouts=[_row_major(aval) for aval in ctx.avals_out],
        **options,
    ).results


def _row_major(aval: Any) -> tuple[int, ...]:
    return tuple(reversed(range(len(getattr(aval, "shape", ())))))


def lower_function(function: Callable[..., Sequence[Any]]) -> Callable[..., Any]:
    """The lowering of a primitive to what a function of its operands computes."""
    return mlir.lower_fun(function, multiple_results=True)


def zero_tangent(primal: Any) -> Any:
    """The symbolic zero that a value has as its tangent."""
    return Zero(type_of(primal).to_tangent_aval())


def type_of(value: Any) -> Any:
    """The type of a value in a jaxpr."""
    typeof = getattr(jax, "typeof", None) or jax.core.get_aval
    return typeof(value)
