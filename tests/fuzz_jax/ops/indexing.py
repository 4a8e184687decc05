"""Gathers, scatters, and dynamic slices."""

from __future__ import annotations

import numpy as np

from fuzz_jax.ops.table import Verbatim, define, maker

define(
    take="jnp.take({0}, {1}, axis={at}, mode={mode})",
    take_along="jnp.take_along_axis({0}, {1}, axis={at}, mode={mode})",
    index_pairs="{0}.at[{1}, {2}].get(mode={mode})",
    dynamic_slice="lax.dynamic_slice({0}, [{1}] * {rank}, {size})",
    dynamic_update_slice="lax.dynamic_update_slice({0}, lax.slice({1}, {start}, {stop}), [{2}] * {rank})",
    dynamic_index="lax.dynamic_index_in_dim({0}, {1}, {at}, keepdims={keep})",
    scatter_max="{0}.at[{1}].max({2}, mode={mode})",
    scatter_min="{0}.at[{1}].min({2}, mode={mode})",
    scatter_set="{0}.at[np.array({rows}, int)].set({1}[:{count}], unique_indices=True)",
    slice_set="{0}.at[{where}].set({1})",
    one_hot="jax.nn.one_hot({0}, {classes}, dtype={dtype})",
    where_index="jnp.where({0}.ravel(), size={count}, fill_value=-1)[0]",
)
define(2, sums=True, scatter_add="{0}.at[{1}].add({2}, mode={mode})", slice_add="{0}.at[{where}].add({1})")
define(2, sums=True, segment_sum="jax.ops.segment_sum({0}, {1}, num_segments={classes})")
define(8, sums=True, scatter_mul="{0}.at[{1}].multiply({2}, mode={mode})")
_MODES = ("clip", "fill", "drop", "promise_in_bounds")


def _indices(c, shape=None):
    """Numbers of a shape, most of them of elements that exist."""
    # XLA's partitioner ends the process where numbers are narrower than 32 bits.
    fits = lambda type: type.dtype in ("int32", "int64") or c.devices == 1  # noqa: E731
    if c.chance(0.5):
        return c.value(
            lambda type: (
                type.is_integer() and not type.is_narrow() and fits(type) and (shape is None or type.shape == shape)
            )
        )
    if shape is None:
        shape = c.shape(2)
    size = int(np.prod(shape))
    if size > 64:
        return c.value(lambda type: type.dtype == "int32" and type.shape == shape)
    value = c.rng.integers(-2, 6, shape)
    dtype = c.one(["int32", "int8", "uint32"] + (["int64"] if c.x64 else [])) if c.devices == 1 else "int32"
    return c.emit("literal", [], value=Verbatim(f"np.array({value.tolist()!r}, 'int64').astype({dtype!r})"))


@maker(4)
def gather(c):
    """Elements, or slices, by number."""
    x = c.value(lambda type: type.rank > 0 and not type.is_narrow())
    type, at = c[x], c.integer(0, c[x].rank - 1)
    mode = c.one(["clip", "fill", "wrap"])
    kind = c.integer(0, 2)
    if kind == 0:
        return c.emit("take", [x, _indices(c)], at=at, mode=mode)
    if kind == 1:
        return c.emit("take_along", [x, _indices(c, type.shape)], at=at, mode=c.one(["clip", "fill"]))
    x = c.value(lambda type: type.rank >= 2 and not type.is_narrow())
    shape = c.shape(1)
    return c.emit("index_pairs", [x, _indices(c, shape), _indices(c, shape)], mode=c.one(["clip", "fill"]))


@maker(4)
def scatter(c):
    """Updates at numbers, which may be equal where the order of updates does not count."""
    x = c.value(lambda type: type.rank > 0 and not type.is_narrow() and not type.is_bool())
    type, count = c[x], c.one([0, 1, 2, 3, 5])
    updates = c.value(lambda other: other.dtype == type.dtype and other.shape in ((), type.shape[1:]))
    mode = c.one(_MODES[:3])
    if c.chance(0.3):
        rows = tuple(c.rng.permutation(type.shape[0])[:count].tolist())
        other = c.like(x)
        return c.emit("scatter_set", [x, other], rows=rows, count=len(rows))
    names = ["scatter_add", "scatter_mul", *(() if type.is_complex() else ("scatter_max", "scatter_min"))]
    return c.emit(c.one(names), [x, _indices(c, (count,)), updates], mode=mode)


@maker(1)
def segments(c):
    """Sums by class, and classes as vectors."""
    if c.chance(0.5):
        x = c.value(lambda type: type.is_integer() and not type.is_narrow() and type.size <= 64)
        return c.emit("one_hot", [x], classes=c.integer(0, 5), dtype=c.dtype(lambda type: not type.is_narrow()))
    if c.chance(0.3):
        x = c.value(lambda type: type.is_bool())
        return c.emit("where_index", [x], count=c.integer(0, 5))
    x = c.value(lambda type: type.rank > 0 and not type.is_narrow() and not type.is_bool())
    return c.emit("segment_sum", [x, _indices(c, c[x].shape[:1])], classes=c.integer(1, 5))


@maker(3)
def slices(c):
    """Slices at places that are computed, or that are known."""
    x = c.value(lambda type: type.rank > 0)
    type = c[x]
    kind = c.integer(0, 3)
    start = c.value(lambda other: other.dtype in ("int32", "int8", "uint8", "int64") and not other.shape)
    if kind == 0:
        return c.emit("dynamic_slice", [x, start], rank=type.rank, size=tuple(c.integer(0, n) for n in type.shape))
    if kind == 1:
        y = c.like(x)
        lows = tuple(c.integer(0, n) for n in type.shape)
        highs = tuple(c.integer(low, n) for low, n in zip(lows, type.shape, strict=True))
        return c.emit("dynamic_update_slice", [x, y, start], start=lows, stop=highs, rank=type.rank)
    if kind == 2:
        return c.emit("dynamic_index", [x, start], at=c.integer(0, type.rank - 1), keep=c.chance(0.5))
    where = Verbatim(f"np.s_[{', '.join(_part(c, size) for size in type.shape)}]")
    value = c.value(lambda other: other.dtype == type.dtype and not other.shape)
    if type.is_narrow() or type.is_bool():
        return c.emit("slice_set", [x, value], where=where)
    return c.emit(c.one(["slice_set", "slice_add"]), [x, value], where=where)


def _part(c, size):
    if c.chance(0.3):
        return ":"
    low = c.integer(0, size)
    return f"{low}:{c.integer(low, size)}:{c.integer(1, 2)}"
