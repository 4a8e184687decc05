"""Random programs: a seed is a program."""

from __future__ import annotations

import numpy as np
from conformance import inputs

from fuzz_jax import execute
from fuzz_jax.choice import Choice
from fuzz_jax.program import Block, Program, live
from fuzz_jax.types import Type


def generate(seed: int, x64: bool, devices: int = 1) -> Program:
    """The program of a seed."""
    return execute.Types.within(lambda types: _generate(seed, types), x64, devices)


def _generate(seed: int, types: execute.Types) -> Program:
    x64, devices = types.x64, types.devices
    c = Choice(np.random.default_rng([seed, x64, devices]), types)
    names, arguments = [], []
    shapes = [c.shape() for _ in range(3)]
    if devices > 1:
        shapes = [tuple(2 * devices if n == 0 else size for n, size in enumerate(shape)) for shape in shapes]
    for number in range(c.integer(2, 5)):
        shape = () if number == 0 else c.one(shapes)
        type = Type("int32" if number == 0 else c.dtype(), shape)
        name = c.name()
        c.values[name] = type
        names.append(name)
        arguments.append(_argument(c, type))
    c.grow(c.integer(5, 18))
    made = [out for step in c.steps for out in step.outs]
    loose = [name for name in made if name not in c.used]
    c.rng.shuffle(loose)
    outs = [*loose[:4], *([c.one(made) for _ in range(c.integer(0, 2))] if made else names[:1])]
    outs = list(dict.fromkeys(outs)) or names[:1]
    block = live(Block(tuple(names), tuple(c.steps), tuple(outs)))
    return Program(block, tuple(arguments), x64, devices)


def _argument(c: Choice, type: Type) -> np.ndarray:
    kind = c.one(["moderate", "values", "whole"], [6, 2, 2])
    if kind == "values":
        return inputs.values(c.rng, type.dtype, type.shape)
    if kind == "whole" and not type.is_bool():
        low = 0 if type.dtype.startswith("u") else -1
        return c.rng.integers(low, 2, type.shape).astype(inputs.dtype_of(type.dtype))
    return inputs.moderate(c.rng, type.dtype, type.shape or (1,)).reshape(type.shape)
