"""Functions on every device."""

from __future__ import annotations

from fuzz_jax.ops.movement import type_of
from fuzz_jax.ops.table import Skip, Verbatim, define, maker

define(
    many=True,
    shard_map="results_of_parts(jax.shard_map({f0}, mesh=devices_mesh(), in_specs={specs}, out_specs=P('d'), "
    "check_vma=False)({all}))",
)
define(
    2,
    sums=True,
    psum="lax.psum({0}, 'd')",
    pmean="lax.pmean({0}, 'd')",
    psum_scatter="lax.psum_scatter({0}, 'd', scatter_dimension={at}, tiled={tiled})",
)
define(
    pmax="lax.pmax(number({0}), 'd')",
    pmin="lax.pmin(number({0}), 'd')",
    all_gather="lax.all_gather({0}, 'd', axis={at}, tiled={tiled})",
    all_to_all="lax.all_to_all({0}, 'd', {split}, {concat}, tiled=True)",
    ppermute="lax.ppermute({0}, 'd', {pairs})",
    axis_index="lax.axis_index('d')",
    constrain="placed({0}, *{spec})",
)


@maker(6, devices=True)
def on_every_device(c):
    """A function on parts, with collectives."""
    if c.inside_devices or c.depth:
        raise Skip
    operands = [c.value(lambda type: type.rank and type.shape[0] and type.shape[0] % c.devices == 0)]
    specs, types = ["P('d')"], [_part(c, c[operands[0]])]
    for _ in range(c.integer(0, 2)):
        name = c.value()
        type = c[name]
        split = bool(type.rank and type.shape[0] and type.shape[0] % c.devices == 0) and c.chance(0.6)
        operands.append(name)
        specs.append("P('d')" if split else "P()")
        types.append(_part(c, type) if split else type)
    c.inside_devices = True
    try:
        block, results = c.function(types, None, c.integer(2, 7), closure=False)
    finally:
        c.inside_devices = False
    if any(not result.rank for result in results):
        raise Skip
    return c.emit_many("shard_map", operands, [block], specs=Verbatim(f"({', '.join(specs)},)"))


def _part(c, type):
    return type_of(type, (type.shape[0] // c.devices, *type.shape[1:]))


@maker(12, devices=True)
def collectives(c):
    """A collective of devices."""
    if not c.inside_devices:
        raise Skip
    x = c.value(lambda type: not type.is_narrow())
    type = c[x]
    at = c.integer(0, type.rank - 1) if type.rank else 0
    kind = c.integer(0, 5)
    if kind <= 1 and not type.is_bool():
        names = ["psum", "pmean"] if type.is_complex() else ["psum", "pmean", "pmax", "pmin"]
        return c.emit(c.one(names), [x])
    if kind == 2:
        return c.emit("all_gather", [x], at=at, tiled=bool(type.rank) and c.chance(0.5))
    if kind == 3:
        order = c.rng.permutation(c.devices).tolist()
        pairs = tuple((n, order[n]) for n in range(c.devices) if c.chance(0.8))
        return c.emit("ppermute", [x], pairs=pairs)
    if kind == 4 and type.rank and type.shape[at] % c.devices == 0 and type.size:
        if c.chance(0.5) and not type.is_bool():
            return c.emit("psum_scatter", [x], at=at, tiled=True)
        return c.emit("all_to_all", [x], split=at, concat=c.integer(0, type.rank - 1))
    return c.emit("axis_index", [])


@maker(3, devices=True)
def constraints(c):
    """Where a value has to be."""
    if c.inside_devices or c.depth:
        raise Skip
    x = c.value(lambda type: type.rank > 0)
    shape = c[x].shape
    axes = [n for n, size in enumerate(shape) if size and size % c.devices == 0]
    at = c.one(axes) if axes and c.chance(0.7) else None
    return c.emit("constrain", [x], spec=(None,) * at + ("d",) if at is not None else ())
