"""A smaller program that fails in the same way."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator

import numpy as np
from conformance import inputs

from fuzz_jax import execute
from fuzz_jax.program import Block, Program, Step, live, rename, steps_of
from fuzz_jax.types import Type

Fails = Callable[[Program], bool]


def shrink(program: Program, fails: Fails, output: int, seconds: float = 240.0) -> Program:
    """Tries what makes the program smaller, as long as it fails, until nothing helps or the time is up."""
    until = time.monotonic() + seconds
    program = _first(program, [program.with_block(outs=(program.block.outs[output],))], fails)
    passes = (_fewer_outputs, _without_steps, _inlined, _cut, _simpler_steps, _smaller, _other_dtypes, _plain_values)
    changed = True
    while changed and time.monotonic() < until:
        changed = False
        for tries in passes:
            again = True
            while again and time.monotonic() < until:
                smaller = _first(program, _valid(tries(program)), fails)
                again = smaller is not program
                changed |= again
                program = smaller
    return program


def _first(program: Program, candidates: Iterator[Program] | list[Program], fails: Fails) -> Program:
    for candidate in candidates:
        candidate = _tidy(candidate)
        if _weight(candidate) < _weight(program) and fails(candidate):
            return candidate
    return program


def _valid(candidates: Iterator[Program]) -> Iterator[Program]:
    while True:
        try:
            candidate = next(candidates)
        except StopIteration:
            return
        except Exception:  # stock JAX cannot say what a value is
            return
        yield candidate


def _weight(program: Program) -> tuple:
    steps = list(steps_of(program.block))
    distinct = sum(len(set(value.ravel().tolist())) if value.size else 0 for value in program.inputs)
    dtypes = sum(value.dtype.name not in ("float32", "int32", "bool") for value in program.inputs)
    wide = sum(str(step.params).count("64") + str(step.params).count("16") for step in steps)
    sizes = sum(value.size for value in program.inputs) + sum(map(_numbers, (step.params for step in steps)))
    return (len(steps), len(program.block.outs), len(program.inputs), sizes, dtypes + wide, distinct)


def _numbers(params) -> float:
    if isinstance(params, (tuple, list)):
        return sum(map(_numbers, params))
    return abs(params) if isinstance(params, int) else 0


def _tidy(program: Program) -> Program:
    """Without what nothing depends on."""
    block = live(program.block)
    used = set(block.outs)
    for step in steps_of(block):
        used.update(step.args)
        for inner in step.blocks:
            used.update(inner.outs)
    kept = [n for n, name in enumerate(block.params) if name in used]
    if not kept:
        kept = [0]
    block = dataclasses.replace(block, params=tuple(block.params[n] for n in kept))
    return dataclasses.replace(program, block=block, inputs=tuple(program.inputs[n] for n in kept))


def _fewer_outputs(program: Program) -> Iterator[Program]:
    for number in range(len(program.block.outs)):
        outs = program.block.outs[:number] + program.block.outs[number + 1 :]
        if outs:
            yield program.with_block(outs=outs)


def _values(program: Program, names: tuple[str, ...]) -> list[np.ndarray]:
    block = dataclasses.replace(program.block, outs=names)
    return execute.run(dataclasses.replace(program, block=live(block)), "cpu")


def _cut(program: Program) -> Iterator[Program]:
    """What a step gives on stock JAX is an argument instead."""
    for number in reversed(range(len(program.block.steps))):
        step = program.block.steps[number]
        if set(step.outs) & set(program.block.outs) and len(program.block.outs) == 1:
            continue
        values = _values(program, step.outs)
        steps = program.block.steps[:number] + program.block.steps[number + 1 :]
        block = Block(program.block.params + step.outs, steps, program.block.outs)
        yield dataclasses.replace(program, block=block, inputs=program.inputs + tuple(values))


def _types(program: Program) -> dict[str, Type]:
    """The types of all values outside of inner functions."""
    return execute.Types.within(lambda types: _known(program, types), program.x64, program.devices)


def _known(program: Program, types: execute.Types) -> dict[str, Type]:
    known = program.types
    for step in program.block.steps:
        with contextlib.suppress(Exception):
            known.update(zip(step.outs, types.of(step, known, False), strict=True))
    return known


def _without_steps(program: Program) -> Iterator[Program]:
    """An earlier value of the same type in the place of a step's result."""
    types = _types(program)
    steps = program.block.steps
    for number in reversed(range(len(steps))):
        step = steps[number]
        earlier = [*step.args, *program.block.params, *(out for other in steps[:number] for out in other.outs)]
        names = {}
        for out in step.outs:
            found = [name for name in earlier if name in types and types.get(out) == types[name]]
            if not found:
                break
            names[out] = found[0]
        else:
            rest = Block((), steps[number + 1 :], program.block.outs)
            renamed = rename(rest, names)
            yield program.with_block(steps=steps[:number] + renamed.steps, outs=renamed.outs)


def _inlined(program: Program) -> Iterator[Program]:
    """The steps of an inner function in the place of its call."""
    steps = program.block.steps
    for number, step in enumerate(steps):
        for inner in step.blocks:
            for args in (step.args, step.args[1:]):
                if len(args) != len(inner.params) or len(inner.outs) < 1:
                    continue
                body = rename(inner, dict(zip(inner.params, args, strict=True)))
                outs = dict(zip(step.outs, (*body.outs, *[body.outs[-1]] * len(step.outs)), strict=False))
                rest = rename(Block((), steps[number + 1 :], program.block.outs), outs)
                yield program.with_block(steps=steps[:number] + body.steps + rest.steps, outs=rest.outs)


def _simpler_steps(program: Program) -> Iterator[Program]:
    """Inner functions with fewer steps."""
    steps = program.block.steps
    for number, step in enumerate(steps):
        for which, inner in enumerate(step.blocks):
            for smaller in _smaller_blocks(inner):
                blocks = (*step.blocks[:which], smaller, *step.blocks[which + 1 :])
                yield program.with_block(
                    steps=(*steps[:number], dataclasses.replace(step, blocks=blocks), *steps[number + 1 :])
                )


def _smaller_blocks(block: Block) -> Iterator[Block]:
    for number in reversed(range(len(block.steps))):
        step = block.steps[number]
        earlier = [*step.args, *block.params]
        for name in dict.fromkeys(earlier):
            rest = rename(Block((), block.steps[number + 1 :], block.outs), dict.fromkeys(step.outs, name))
            yield live(Block(block.params, block.steps[:number] + rest.steps, rest.outs))
        for which, inner in enumerate(step.blocks):
            for smaller in _smaller_blocks(inner):
                blocks = (*step.blocks[:which], smaller, *step.blocks[which + 1 :])
                changed: Step = dataclasses.replace(step, blocks=blocks)
                yield Block(block.params, (*block.steps[:number], changed, *block.steps[number + 1 :]), block.outs)


def _smaller(program: Program) -> Iterator[Program]:
    """Another size in the place of one, everywhere."""
    sizes = sorted({size for value in program.inputs for size in value.shape if size > 1}, reverse=True)
    for size in sizes:
        for other in dict.fromkeys((0, 1, 2, size // 2, size - 1)):
            if other >= size:
                continue
            arguments = tuple(
                value[tuple(slice(0, other if n == size else n) for n in value.shape)] for value in program.inputs
            )
            yield dataclasses.replace(program, inputs=arguments)
            block = _mapped(program.block, lambda x, size=size, other=other: other if x == size else x)
            yield dataclasses.replace(program, block=block, inputs=arguments)
    yield program.with_block(steps=_mapped(program.block, lambda x: max(x - 1, 1) if x > 1 else x).steps)


def _other_dtypes(program: Program) -> Iterator[Program]:
    """A plainer dtype in the place of one, everywhere; and without 64-bit types."""
    if program.x64 and not any(value.dtype.name in ("float64", "int64", "complex128") for value in program.inputs):
        yield dataclasses.replace(program, x64=False)
    if program.devices > 1:
        yield dataclasses.replace(program, devices=1)
    for dtype in dict.fromkeys(value.dtype.name for value in program.inputs):
        for other in ("float32", "int32"):
            if dtype in ("float32", "int32", "bool"):
                continue
            arguments = tuple(_cast(value, other) if value.dtype.name == dtype else value for value in program.inputs)
            yield dataclasses.replace(program, inputs=arguments)
            change = lambda x, dtype=dtype, other=other: other if x == dtype else x  # noqa: E731
            yield dataclasses.replace(program, block=_mapped(program.block, change, str), inputs=arguments)


def _cast(value: np.ndarray, dtype: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        return value.real.astype(dtype) if np.iscomplexobj(value) else value.astype(dtype)


def _mapped(block: Block, change: Callable, kind: type = int) -> Block:
    def of(value):
        if isinstance(value, tuple):
            return tuple(of(item) for item in value)
        return change(value) if type(value) is kind else value

    steps = tuple(
        dataclasses.replace(
            step,
            params=tuple((key, of(value)) for key, value in step.params),
            blocks=tuple(_mapped(inner, change, kind) for inner in step.blocks),
        )
        for step in block.steps
    )
    return dataclasses.replace(block, steps=steps)


def _plain_values(program: Program) -> Iterator[Program]:
    """Arguments of fewer different values."""
    for number, value in enumerate(program.inputs):
        if not value.size:
            continue
        for plain in _plainer(value):
            yield dataclasses.replace(program, inputs=(*program.inputs[:number], plain, *program.inputs[number + 1 :]))


def _plainer(value: np.ndarray) -> Iterator[np.ndarray]:
    dtype = inputs.dtype_of(value.dtype.name)
    yield np.zeros(value.shape, dtype)
    yield np.ones(value.shape, dtype)
    flat = value.ravel()
    for index in range(min(flat.size, 16)):
        yield np.full(value.shape, flat[index], dtype)
    for index in range(min(flat.size, 64)):
        changed = flat.copy()
        if changed[index] != flat[0]:
            changed[index] = flat[0]
            yield changed.reshape(value.shape)
