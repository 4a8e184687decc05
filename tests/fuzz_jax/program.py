"""Programs as data, and the Python that they are printed as, which is also what runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fuzz_jax.types import Type


@dataclasses.dataclass(frozen=True)
class Step:
    """One op: names of its results and operands, what its text has in braces, and the functions that it takes."""

    op: str
    outs: tuple[str, ...]
    args: tuple[str, ...]
    params: tuple[tuple[str, Any], ...] = ()
    blocks: tuple[Block, ...] = ()


@dataclasses.dataclass(frozen=True)
class Block:
    """A function: what it takes, does, and returns."""

    params: tuple[str, ...]
    steps: tuple[Step, ...]
    outs: tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    """A function with its arguments.

    Attributes:
        block: the function.
        inputs: its arguments.
        x64: whether JAX's 64-bit types are on.
        devices: how many devices it runs on.
    """

    block: Block
    inputs: tuple[np.ndarray, ...]
    x64: bool = False
    devices: int = 1

    def with_block(self, **fields: Any) -> Program:
        """The program with another function."""
        return dataclasses.replace(self, block=dataclasses.replace(self.block, **fields))

    @property
    def types(self) -> dict[str, Type]:
        """The types of the arguments."""
        pairs = zip(self.block.params, self.inputs, strict=True)
        return {name: Type(value.dtype.name, value.shape) for name, value in pairs}


def steps_of(block: Block) -> Iterator[Step]:
    """All steps, those of inner functions included."""
    for step in block.steps:
        yield step
        for inner in step.blocks:
            yield from steps_of(inner)


def live(block: Block) -> Block:
    """The block without steps that nothing depends on."""
    wanted, kept = set(block.outs), []
    for step in reversed(block.steps):
        if wanted.isdisjoint(step.outs):
            continue
        inner = tuple(live(inner) for inner in step.blocks)
        wanted.update(step.args)
        wanted.update(*map(free, inner))
        kept.append(dataclasses.replace(step, blocks=inner))
    return dataclasses.replace(block, steps=tuple(reversed(kept)))


def free(block: Block) -> set[str]:
    """Names that a block uses of those around it."""
    known, used = set(block.params), set()
    for step in block.steps:
        used.update(set(step.args) - known)
        for inner in step.blocks:
            used.update(free(inner) - known)
        known.update(step.outs)
    return used | (set(block.outs) - known)


def rename(block: Block, names: Mapping[str, str]) -> Block:
    """The block with other names for what it uses and makes."""
    of = lambda group: tuple(names.get(name, name) for name in group)  # noqa: E731
    steps = tuple(
        dataclasses.replace(
            step, outs=of(step.outs), args=of(step.args), blocks=tuple(rename(inner, names) for inner in step.blocks)
        )
        for step in block.steps
    )
    return Block(of(block.params), steps, of(block.outs))
