"""The table of ops, and of what makes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fuzz_jax.choice import Choice


@dataclasses.dataclass(frozen=True)
class Op:
    """An op.

    Attributes:
        text: its expression: operands are ``{0}``, ``{1}``... or ``{all}``, functions ``{f0}``...; parameters
            have names.
        ulps: how inexact its results are; 0 stands for exact. Operands of inexact ops have errors of a unit in the last
            place, and a zero of theirs may be a subnormal number that XLA:CPU flushed.
        sums: whether operands are as inexact as results, since their errors add up.
        many: whether it gives a tuple.
        spills: whether an operand that is not finite may make any element of the results so, not only its own, as
            operands of other shapes may anyway.
        cancels: how inexact what is subtracted inside is, in units of the operand's last place.
        poles: whether its first operand has poles at integers.
        signs: whether it sees the sign of a NaN.
        inverts: whether it divides by a product of operands, which XLA:CPU may have flushed.
        beside: what errors of its results follow instead of their own sizes: ``largest`` of a row, ``any`` number of
            the array, or ``one``.
    """

    text: str
    ulps: int = 0
    sums: bool = False
    many: bool = False
    spills: bool = False
    cancels: int = 0
    poles: bool = False
    signs: bool = False
    inverts: bool = False
    beside: str = ""


@dataclasses.dataclass(frozen=True)
class Maker:
    """What adds steps of some kind to a program."""

    make: Callable[[Choice], None]
    weight: float
    devices: bool = False


OPS: dict[str, Op] = {}
MAKERS: list[Maker] = []


class Verbatim(str):
    """A parameter that is an expression."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Skip(Exception):
    """No value of the program fits."""


def define(
    ulps: int = 0,
    sums: bool = False,
    many: bool = False,
    spills: bool = False,
    cancels: int = 0,
    poles: bool = False,
    signs: bool = False,
    inverts: bool = False,
    beside: str = "",
    **texts: str,
) -> tuple[str, ...]:
    """Adds ops to the table."""
    for name, text in texts.items():
        assert name not in OPS, name
        OPS[name] = Op(text, ulps, sums, many, spills, cancels, poles, signs, inverts, beside)
    return tuple(texts)


def maker(weight: float, devices: bool = False) -> Callable[[Callable[[Choice], None]], Callable[[Choice], None]]:
    """Registers a function that adds steps."""

    def register(make: Callable[[Choice], None]) -> Callable[[Choice], None]:
        MAKERS.append(Maker(make, weight, devices))
        return make

    return register
