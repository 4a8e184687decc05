"""Control flow, calls, and JAX's transformations of functions."""

from __future__ import annotations

from fuzz_jax.ops.movement import type_of
from fuzz_jax.ops.table import define, maker
from fuzz_jax.types import Type

define(
    0,
    many=True,
    call="jax.jit({f0})({all})",
    checkpoint="jax.checkpoint({f0})({all})",
    vmap="jax.vmap({f0}, in_axes={axes}, out_axes={out})({all})",
    map="lax.map(lambda operands: {f0}(*operands), ({all},))",
    cond="lax.cond({0}, {f0}, {f1}, *({all},)[1:])",
    switch="lax.switch({0}, [{f0}, {f1}, {f2}], *({all},)[1:])",
    fori="lax.fori_loop({low}, {high}, lambda i, carry: {f0}(jnp.asarray(i, jnp.int32), *carry), ({all},))",
    fori_dynamic="lax.fori_loop(0, jnp.minimum({0}, 5).astype(jnp.int32), "
    "lambda i, carry: {f0}(jnp.asarray(i, jnp.int32), *carry), ({all},)[1:])",
    while_="lax.while_loop(lambda carry: (carry[0] < {high}) & {f1}(*carry[1:])[0], "
    "lambda carry: (carry[0] + 1, *{f0}(*carry[1:])), (jnp.int32(0), {all}))[1:]",
    scan="(lambda carry, ys: (*carry, *ys))(*lax.scan(lambda carry, x: "
    "(lambda r: (r[:{carried}], r[{carried}:]))({f0}(*carry, *x)), "
    "({all},)[:{carried}], ({all},)[{carried}:], length={length}, reverse={reverse}, unroll={unroll}))",
)
define(
    4,
    many=True,
    spills=True,
    grad="jax.grad(lambda *args: total({f0}(*args)), argnums={argnums})({all})",
    vjp_of_scan="jax.vjp(lambda x: lax.scan(lambda c, _: ({f0}(c)[0], c), x, None, length={length})[0], {0})"
    "[1](jnp.ones_like({0}))",
    hessian="(jax.jacfwd(jax.grad(lambda x: total({f0}(x))))({0}),)",
)
define(
    4,
    many=True,
    spills=True,
    jvp="(lambda outs, tangents: (*outs, *inexact(tangents)))(*jax.jvp({f0}, ({all},), ({all},)))",
    linearize="inexact(jax.linearize({f0}, {all})[1]({all}))",
    grad_checkpoint="jax.grad(lambda *args: total(jax.checkpoint({f0})(*args)), argnums={argnums})({all})",
    grad_vmap="jax.grad(lambda *args: total(jax.vmap({f0})(*args)), argnums={argnums})({all})",
)


def _operands(c, most=3, test=lambda type: True):
    return [c.value(test) for _ in range(c.integer(1, most))]


def _types(c, names):
    return [c[name] for name in names]


@maker(3)
def branches(c):
    """A conditional of two or three branches."""
    which = c.value(lambda type: not type.shape and (type.dtype == "bool" or type.dtype == "int32"))
    operands = _operands(c)
    types = _types(c, operands)
    first, results = c.function(types, None, c.integer(1, 4))
    others = 1 if c[which].is_bool() else 2
    if all(result in types for result in results):
        blocks = [first, *(c.function(types, results, c.integer(1, 4))[0] for _ in range(others))]
    else:
        blocks = [c.function(types, types, c.integer(1, 4))[0] for _ in range(others + 1)]
    return c.emit_many("switch" if others == 2 else "cond", [which, *operands], blocks)


@maker(4)
def loops(c):
    """A loop that carries values: counted, counted by a value, or while something holds."""
    operands = _operands(c)
    types = _types(c, operands)
    integer = Type("int32", ())
    kind = c.integer(0, 2)
    if kind == 0:
        block, _ = c.function([integer, *types], types, c.integer(1, 5))
        low = c.integer(-1, 1)
        return c.emit_many("fori", operands, [block], low=low, high=low + c.integer(0, 5))
    if kind == 1:
        count = c.value(lambda type: type.is_integer() and not type.is_narrow() and not type.shape)
        block, _ = c.function([integer, *types], types, c.integer(1, 5))
        return c.emit_many("fori_dynamic", [count, *operands], [block])
    body, _ = c.function(types, types, c.integer(1, 5))
    condition, _ = c.function(types, [Type("bool", ())], c.integer(1, 4))
    return c.emit_many("while_", operands, [body, condition], high=c.integer(0, 6))


@maker(4)
def scans(c):
    """A loop over a dimension that also stacks results; or a map over it."""
    carried = [c.value() for _ in range(c.integer(0, 2))]
    first = c.value(lambda type: type.rank > 0)
    length = c[first].shape[0]
    others = lambda type: type.rank > 0 and type.shape[0] == length  # noqa: E731
    stacked = [first, *(c.value(others) for _ in range(c.integer(0, 1)))]
    parts = [type_of(c[name], c[name].shape[1:]) for name in stacked]
    if not carried:
        return c.emit_many("map", stacked, [c.function(parts, None, c.integer(1, 4))[0]])
    kept = _types(c, carried)
    with_results = [*kept, c.one([*kept, *parts])]
    block, _ = c.function([*kept, *parts], with_results, c.integer(1, 5))
    return c.emit_many(
        "scan",
        [*carried, *stacked],
        [block],
        carried=len(carried),
        length=length,
        reverse=c.chance(0.3),
        unroll=c.one([1, 1, 2]),
    )


@maker(3)
def calls(c):
    """A function inside, as it is or under vmap."""
    if c.chance(0.4):
        operands = _operands(c)
        block, _ = c.function(_types(c, operands), None, c.integer(1, 5), closure=c.chance(0.5))
        return c.emit_many(c.one(["call", "checkpoint"]), operands, [block])
    first = c.value(lambda type: type.rank > 0)
    axis = c.integer(0, c[first].rank - 1)
    length = c[first].shape[axis]
    operands, axes, types = [], [], []
    for name in [first, *(c.value() for _ in range(c.integer(0, 2)))]:
        shape = c[name].shape
        places = [n for n, size in enumerate(shape) if size == length] or [None]
        place = axis if name == first else c.one([*places, None])
        operands.append(name)
        axes.append(place)
        types.append(c[name] if place is None else type_of(c[name], shape[:place] + shape[place + 1 :]))
    block, _ = c.function(types, None, c.integer(1, 5), closure=c.chance(0.5))
    return c.emit_many("vmap", operands, [block], axes=tuple(axes), out=0)


@maker(4)
def derivatives(c):
    """Derivatives of a function, by each of JAX's ways."""
    inexact = lambda type: type.is_wide_float() and type.size <= 64  # noqa: E731
    kind = c.integer(0, 5)
    if kind == 0:
        x = c.value(lambda type: inexact(type) and type.size <= 7)
        return c.emit_many("hessian", [x], [c.function([c[x]], None, c.integer(1, 3))[0]])
    if kind == 1:
        x = c.value(inexact)
        block, _ = c.function([c[x]], [c[x]], c.integer(1, 4))
        return c.emit_many("vjp_of_scan", [x], [block], length=c.integer(0, 4))
    operands = _operands(c, 3, inexact)
    types = _types(c, operands)
    if kind == 2:
        length = next((type.shape[0] for type in types if type.rank), None)
        operands = [name for name in operands if c[name].rank and c[name].shape[0] == length]
        parts = [type_of(c[name], c[name].shape[1:]) for name in operands]
        block, _ = c.function(parts, None, c.integer(1, 4))
        return c.emit_many("grad_vmap", operands, [block], argnums=tuple(range(len(operands))))
    block, _ = c.function(types, None, c.integer(1, 5))
    if kind == 3:
        return c.emit_many(c.one(["jvp", "linearize"]), operands, [block])
    return c.emit_many(c.one(["grad", "grad_checkpoint"]), operands, [block], argnums=tuple(range(len(operands))))
