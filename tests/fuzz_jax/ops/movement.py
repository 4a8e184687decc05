"""Ops that move elements, and that make them of nothing."""

from __future__ import annotations

from fuzz_jax.ops.table import define, maker
from fuzz_jax.types import Type

define(
    full="lax.full({shape}, {value}, jnp.dtype({dtype}))",
    literal="jnp.asarray({value})",
    iota="lax.broadcasted_iota(jnp.dtype({dtype}), {shape}, {at})",
    eye="jnp.eye({rows}, {columns}, k={k}, dtype={dtype})",
    broadcast_to="jnp.broadcast_to({0}, {shape})",
    broadcast_in_dim="lax.broadcast_in_dim({0}, {shape}, {into})",
    element="{0}.ravel()[{index}]",
    reshape="lax.reshape({0}, {shape})",
    reshape_permuted="lax.reshape({0}, {shape}, {order})",
    transpose="lax.transpose({0}, {order})",
    expand="jnp.expand_dims({0}, {axis})",
    squeeze="jnp.squeeze({0})",
    rev="lax.rev({0}, {axis})",
    slice="lax.slice({0}, {start}, {stop}, {step})",
    pad="lax.pad({0}, {1}, {config})",
    concatenate="lax.concatenate([{all}], {at})",
    stack="jnp.stack([{all}], {at})",
    tile="jnp.tile({0}, {times})",
    roll="jnp.roll({0}, {by}, {at})",
    tril="jnp.tril({0}, {k})",
    triu="jnp.triu({0}, {k})",
    repeat="jnp.repeat({0}, {times}, axis={at})",
    diagonal="jnp.diagonal({0}, {k})",
    barrier="lax.optimization_barrier({0})",
)


@maker(4)
def reshaping(c):
    """A shape of as many elements."""
    x = c.value()
    type = c[x]
    kind = c.integer(0, 3)
    if kind == 0:
        return c.emit("expand", [x], axis=c.integer(0, type.rank)) if type.rank < 4 else c.emit("squeeze", [x])
    if kind == 1:
        return c.emit("squeeze", [x])
    shape = _as_many(c, type.size)
    if kind == 2 and type.rank > 1:
        return c.emit("reshape_permuted", [x], shape=shape, order=_order(c, type.rank))
    return c.emit("reshape", [x], shape=shape)


def _as_many(c, size):
    if size == 0:
        return (0, c.integer(0, 3))
    shape = []
    for _ in range(c.integer(0, 2)):
        factor = c.one([n for n in range(1, size + 1) if size % n == 0])
        shape.append(factor)
        size //= factor
    return (*shape, size)


def _order(c, rank):
    return tuple(int(n) for n in c.rng.permutation(rank))


@maker(5)
def rearranging(c):
    """The same elements in other places."""
    x = c.value(lambda type: type.rank > 0)
    type = c[x]
    kind = c.integer(0, 4)
    if kind <= 1:
        return c.emit("transpose", [x], order=_order(c, type.rank))
    if kind == 2:
        return c.emit("rev", [x], axis=tuple(n for n in range(type.rank) if c.chance(0.5)))
    if kind == 3:
        return c.emit("roll", [x], by=c.integer(-4, 4), at=c.integer(0, type.rank - 1))
    matrix = c.value(lambda type: type.rank >= 2 and not type.is_narrow())
    return c.emit(c.one(["tril", "triu", "diagonal"]), [matrix], k=c.integer(-1, 1))


@maker(5)
def widening(c):
    """More elements, out of those of one value."""
    x = c.value()
    type = c[x]
    kind = c.integer(0, 3)
    if kind == 0 and type.rank < 4:
        return c.emit("broadcast_to", [x], shape=(c.integer(0, 3), *type.shape))
    if kind == 1:
        shape = list(c.shape(3))
        while len(shape) < type.rank:
            shape.append(1)
        into = tuple(sorted(c.rng.choice(len(shape), type.rank, replace=False).tolist()))
        for dimension, size in zip(into, type.shape, strict=True):
            if size != 1:
                shape[dimension] = size
        return c.emit("broadcast_in_dim", [x], shape=tuple(shape), into=into)
    if kind == 2:
        return c.emit("tile", [x], times=tuple(c.integer(1, 2) for _ in range(max(type.rank, 1))))
    x = c.value(lambda type: type.rank > 0)
    return c.emit("repeat", [x], times=c.integer(0, 3), at=c.integer(0, c[x].rank - 1))


@maker(5)
def cutting(c):
    """A part, with steps; or padding, of which some may be negative or between elements."""
    x = c.value(lambda type: type.rank > 0)
    type = c[x]
    if c.chance(0.5):
        start = tuple(c.integer(0, size) for size in type.shape)
        stop = tuple(c.integer(low, size) for low, size in zip(start, type.shape, strict=True))
        return c.emit("slice", [x], start=start, stop=stop, step=tuple(c.integer(1, 3) for _ in start))
    least = -1 if c.devices == 1 else 0  # XLA's partitioner ends the process where it cuts dilated elements
    config = tuple((c.integer(least, 2), c.integer(-1, 2), c.one([0, 0, 0, 1, 2])) for _ in range(type.rank))
    scalar = c.constant(type_of(type, ()))
    return c.emit("pad", [x, scalar], config=config)


def type_of(type, shape):
    """The type with another shape."""
    return Type(type.dtype, shape)


@maker(4)
def joining(c):
    """Several values in one."""
    x = c.value(lambda type: type.rank > 0)
    type, at = c[x], c.integer(0, c[x].rank - 1)
    fits = lambda other: (  # noqa: E731
        other.dtype == type.dtype
        and other.rank == type.rank
        and all(n == at or a == b for n, (a, b) in enumerate(zip(other.shape, type.shape, strict=True)))
    )
    # XLA:CPU ends the process over two arrays of two bits, next to each other.
    if c.chance(0.6) and type.dtype not in ("int2", "uint2"):
        return c.emit("concatenate", [x, *(c.value(fits) for _ in range(c.integer(1, 2)))], at=at)
    return c.emit("stack", [x, *(c.like(x) for _ in range(c.integer(1, 2)))], at=c.integer(0, type.rank))


@maker(3)
def constants(c):
    """Values that depend on no argument."""
    kind = c.integer(0, 3)
    dtype = c.dtype(lambda type: not type.is_narrow() and not type.is_bool())
    shape = c.shape()
    if kind == 0 and shape:
        return c.emit("iota", [], dtype=dtype, shape=shape, at=c.integer(0, len(shape) - 1))
    if kind == 1:
        return c.emit("eye", [], rows=c.integer(0, 5), columns=c.integer(1, 5), k=c.integer(-1, 1), dtype=dtype)
    if kind == 2:
        return c.emit("barrier", [c.value()])
    return c.constant(c[c.value()])
