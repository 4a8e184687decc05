"""A program in the making: the values it has, and random choices among them."""

from __future__ import annotations

import bisect
import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from conformance import inputs

from fuzz_jax import execute, types
from fuzz_jax.ops.table import MAKERS, Skip, Verbatim
from fuzz_jax.program import Block, Step, free
from fuzz_jax.render import array
from fuzz_jax.types import Type

T = TypeVar("T")
SIZES = (0, 1, 2, 3, 5, 7, 11, 17)
_SIZE_WEIGHTS = (1, 4, 4, 6, 5, 4, 2, 1)
LARGEST = 4096  # elements of a value
DEEPEST = 2  # functions inside of functions


class Choice:
    """What makers of steps are given."""

    def __init__(self, rng: np.random.Generator, of_steps: execute.Types) -> None:
        self.rng, self.types = rng, of_steps
        self.x64, self.devices = of_steps.x64, of_steps.devices
        self.values: dict[str, Type] = {}
        self.steps: list[Step] = []
        self.depth = 0
        self.inside_devices = False
        self.used: set[str] = set()
        self.constants: set[str] = set()  # values that depend on no argument
        self._count = 0

    # Random choices.

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def integer(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high``, both included."""
        return int(self.rng.integers(low, high, endpoint=True))

    def one(self, items: Sequence[T], weights: Sequence[float] | None = None) -> T:
        if weights is None:
            return items[int(self.rng.integers(len(items)))]
        up_to = list(itertools.accumulate(weights))
        return items[bisect.bisect(up_to, self.rng.random() * up_to[-1], 0, len(items) - 1)]

    def dtype(self, test: Callable[[Type], bool] = lambda _: True) -> str:
        """A dtype for which the test holds, which sees a scalar of it."""
        table = [(name, weight) for name, weight in types.dtypes(self.x64) if test(Type(name, ()))]
        return self.one(*zip(*table, strict=True))

    def shape(self, most: int = 3) -> tuple[int, ...]:
        rank = self.one(range(most + 1), (2, 4, 5, 3)[: most + 1])
        return tuple(self.one(SIZES, _SIZE_WEIGHTS) for _ in range(rank))

    # Values.

    def name(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def value(self, test: Callable[[Type], bool] = lambda _: True) -> str:
        """A value for which the test holds; those of late, and those that nothing uses, come more often."""
        names = [name for name, type in self.values.items() if test(type)]
        if not names:
            raise Skip
        weights = [(1.0 + n / len(names)) * (1.0 if name in self.used else 3.0) for n, name in enumerate(names)]
        return self.one(names, weights)

    def like(self, name: str) -> str:
        """A value of the same type, perhaps converted and broadcast from another."""
        wanted = self[name]
        if self.chance(0.75):
            return self.value(lambda type: type == wanted)
        if self.chance(0.3) and wanted.size:
            return self.constant(wanted)
        other = self.value(lambda type: not (type.is_complex() and not wanted.is_complex()))
        if self[other].dtype != wanted.dtype:
            other = self.emit("convert", [other], dtype=wanted.dtype)
        shape = self[other].shape
        if shape == wanted.shape:
            return other
        if (
            shape
            and len(shape) <= wanted.rank
            and all(a in (1, b) for a, b in zip(shape, wanted.shape[wanted.rank - len(shape) :], strict=True))
        ):
            return self.emit("broadcast_to", [other], shape=wanted.shape)
        if shape:
            if self[other].size == 0:
                raise Skip
            other = self.emit("element", [other], index=self.integer(0, self[other].size - 1))
        return self.emit("broadcast_to", [other], shape=wanted.shape) if wanted.shape else other

    def constant(self, type: Type) -> str:
        """A literal, which the compiler may fold."""
        if type.size > 8 or self.chance(0.4):
            value = inputs.moderate(self.rng, type.dtype, (1,))
            wide = value.astype("complex128" if type.is_complex() else "float64")
            return self.emit("full", [], shape=type.shape, value=wide.item(), dtype=type.dtype)
        draw = inputs.values if self.chance(0.3) else inputs.moderate
        value = draw(self.rng, type.dtype, type.shape or (1,)).reshape(type.shape)
        return self.emit("literal", [], value=Verbatim(array(value)))

    def __getitem__(self, name: str) -> Type:
        return self.values[name]

    # Steps.

    def emit(self, op: str, args: Sequence[str], blocks: Sequence[Block] = (), **params: Any) -> str:
        """Adds a step with one result."""
        outs = self.emit_many(op, args, blocks, **params)
        if len(outs) != 1:
            raise Skip
        return outs[0]

    def emit_many(self, op: str, args: Sequence[str], blocks: Sequence[Block] = (), **params: Any) -> list[str]:
        """Adds a step; its results."""
        step = Step(op, ("v0",), tuple(args), tuple(params.items()), tuple(blocks))
        known = {name: self.values[name] for name in self._visible(step)}
        results = self.types.of(step, known, self.inside_devices)
        if not results or sum(type.size for type in results) > LARGEST:
            raise Skip
        outs = [self.name() for _ in results]
        self.steps.append(Step(op, tuple(outs), tuple(args), tuple(params.items()), tuple(blocks)))
        self.values.update(zip(outs, results, strict=True))
        if known.keys() <= self.constants:
            self.constants.update(outs)
        self.used.update(self._visible(step))
        return outs

    def _visible(self, step: Step) -> list[str]:
        return [*dict.fromkeys((*step.args, *sorted(set().union(*map(free, step.blocks)))))]

    def grow(self, count: int) -> None:
        """Adds about so many steps."""
        makers = [maker for maker in MAKERS if self.devices > 1 or not maker.devices]
        weights = [maker.weight for maker in makers]
        goal = len(self.steps) + count
        for _ in range(4 * count):
            if len(self.steps) >= goal:
                return
            # Steps of a maker that gives up stay: each is whole.
            with contextlib.suppress(Skip):
                self.one(makers, weights).make(self)

    @contextlib.contextmanager
    def inside(self, closure: bool = True) -> Iterator[list[Step]]:
        """Steps are those of an inner function meanwhile."""
        if self.depth >= DEEPEST:
            raise Skip
        kept = self.values, self.steps, self.used
        self.values, self.steps, self.used = (dict(kept[0]) if closure else {}), [], set()
        self.depth += 1
        try:
            yield self.steps
        finally:
            self.depth -= 1
            self.values, self.steps, self.used = kept

    def function(
        self, params: Sequence[Type], results: Sequence[Type] | None, steps: int, closure: bool = True
    ) -> tuple[Block, list[Type]]:
        """An inner function of these types; results that are not given are what it happens to make."""
        with self.inside(closure) as made:
            names = [self.name() for _ in params]
            self.values.update(zip(names, params, strict=True))
            self.grow(steps)
            if results is None:
                own = [out for step in made for out in step.outs] or names
                outs = [own[-1], *(self.one(own) for _ in range(self.integer(0, 1)))]
            else:
                outs = [self.fitting(type) for type in results]
            return Block(tuple(names), tuple(made), tuple(outs)), [self.values[out] for out in outs]

    def fitting(self, type: Type) -> str:
        """The latest value of a type."""
        found = [name for name, other in self.values.items() if other == type]
        if not found:
            raise Skip
        return found[-1] if self.chance(0.7) else self.one(found)
