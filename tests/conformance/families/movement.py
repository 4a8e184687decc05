"""Ops that only move elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from conformance import inputs
from conformance.cases import Case, family

# Functions of one array each, with the shape they want.
MOVES: dict[str, list[tuple[str, tuple[int, ...], Any]]] = {
    "transpose": [
        ("matrix", (37, 41), lambda x: x.T),
        ("last two", (3, 17, 5), lambda x: lax.transpose(x, (0, 2, 1))),
        ("rotate", (4, 3, 5), lambda x: lax.transpose(x, (2, 0, 1))),
        ("four", (2, 3, 4, 5), lambda x: lax.transpose(x, (3, 1, 0, 2))),
        ("ones", (1, 7, 1), lambda x: lax.transpose(x, (2, 1, 0))),
        ("empty", (0, 3), lambda x: x.T),
        ("scalar", (), lambda x: lax.transpose(x, ())),
    ],
    "slice": [
        ("rows", (11, 7), lambda x: x[2:9]),
        ("columns", (11, 7), lambda x: x[:, 1:5]),
        ("strides", (11, 13), lambda x: lax.slice(x, (1, 2), (10, 13), (3, 2))),
        ("none", (4, 3), lambda x: x[2:2]),
        ("three", (3, 5, 7), lambda x: lax.slice(x, (1, 0, 2), (3, 5, 6), (1, 4, 1))),
        ("one", (1,), lambda x: x[0:1]),
    ],
    "reshape": [
        ("flat", (3, 5, 2), lambda x: x.reshape(-1)),
        ("scalar", (1, 1), lambda x: x.reshape(())),
        ("empty", (0, 4), lambda x: x.reshape(2, 0)),
        ("of transposed", (5, 6), lambda x: x.T.reshape(3, 10)),
        ("one more", (7,), lambda x: x[:, None]),
    ],
    "reverse": [
        ("vector", (23,), lambda x: x[::-1]),
        ("both", (5, 6), lambda x: lax.rev(x, (0, 1))),
        ("middle", (3, 4, 5), lambda x: lax.rev(x, (1,))),
        ("none", (3, 4), lambda x: lax.rev(x, ())),
        ("empty", (0, 4), lambda x: lax.rev(x, (0,))),
    ],
    "concatenate": [
        ("rows", (3, 4), lambda x: lax.concatenate([x, x[1:], x], 0)),
        ("columns", (3, 4), lambda x: lax.concatenate([x[:, :1], x], 1)),
        ("empty", (3, 4), lambda x: lax.concatenate([x[:0], x], 0)),
        ("one", (5,), lambda x: lax.concatenate([x], 0)),
        ("middle", (2, 3, 5), lambda x: lax.concatenate([x, x[:, ::-1]], 1)),
    ],
    "pad": [
        ("around", (3, 4), lambda x: lax.pad(x, x[0, 0], ((1, 2, 0), (0, 3, 0)))),
        ("interior", (3, 4), lambda x: lax.pad(x, x[1, 1], ((0, 0, 2), (1, 0, 1)))),
        ("negative", (5, 6), lambda x: lax.pad(x, x[0, 0], ((-1, -2, 0), (2, -3, 0)))),
        ("negative interior", (5,), lambda x: lax.pad(x, x[0], ((-2, -1, 3),))),
        ("of empty", (0, 2), lambda x: lax.pad(x, jnp.ones((), x.dtype), ((2, 1, 0), (0, 0, 1)))),
        ("to empty", (3,), lambda x: lax.pad(x, x[0], ((-3, 0, 0),))),
    ],
    "dynamic_slice": [
        ("inside", (9, 8), lambda x: lax.dynamic_slice(x, (2, 3), (4, 2))),
        ("clamped", (9, 8), lambda x: lax.dynamic_slice(x, (7, 7), (4, 2))),
        ("negative", (9, 8), lambda x: lax.dynamic_slice(x, (-3, 1), (4, 2))),
        ("whole", (5,), lambda x: lax.dynamic_slice(x, (1,), (5,))),
        ("empty", (5, 2), lambda x: lax.dynamic_slice(x, (1, 0), (0, 2))),
    ],
    "dynamic_update_slice": [
        ("inside", (9, 8), lambda x: lax.dynamic_update_slice(x, x[:2, :3], (4, 2))),
        ("clamped", (9, 8), lambda x: lax.dynamic_update_slice(x, x[:4, :3], (8, 7))),
        ("negative", (9, 8), lambda x: lax.dynamic_update_slice(x, x[3:5, 3:6], (-4, 2))),
        ("whole", (5,), lambda x: lax.dynamic_update_slice(x, x[::-1], (3,))),
        ("twice", (7, 3), lambda x: x.at[2].set(x[0]).at[5].set(x[2])),
    ],
}


@family
def moves(rng: np.random.Generator) -> Iterator[Case]:
    """Every one on every dtype; indices are operands where the op is dynamic."""
    for op, functions in MOVES.items():
        for dtype in inputs.EVERY:
            for label, shape, function in functions:
                yield Case(op, dtype, label, function, [inputs.values(rng, dtype, shape)])


@family
def dynamic_indices(rng: np.random.Generator) -> Iterator[Case]:
    """Indices that are not known when the program is compiled, of every integer dtype."""
    x = rng.standard_normal((9, 8)).astype("float32")
    for dtype in inputs.INTEGERS[2:6] + inputs.INTEGERS[8:]:
        for start in (0, 3, 7, 100):
            i = np.asarray(start, dtype)
            yield Case(
                "dynamic_slice",
                "float32",
                f"{dtype} {start}",
                lambda x, i: lax.dynamic_slice(x, (i, i), (2, 3)),
                [x, i],
            )
            yield Case(
                "dynamic_update_slice",
                "float32",
                f"{dtype} {start}",
                lambda x, i: lax.dynamic_update_slice(x, x[:2, :3] + 1, (i, i)),
                [x, i],
            )
    big = rng.standard_normal((1031, 517)).astype("float32")
    yield Case("transpose", "float32", "large", lambda x: x.T, [big])
    yield Case("reverse", "float32", "large", lambda x: x[::-1, ::-1], [big])
    yield Case("pad", "float32", "large", lambda x: jnp.pad(x, ((3, 5), (7, 1))), [big])
    yield Case("concatenate", "float32", "large", lambda x: jnp.concatenate([x, x * 2], axis=1), [big])
    yield Case("slice", "float32", "of a view", lambda x: x[1::2, ::3], [np.asfortranarray(big)[::-1]])


# Views of an array that do not lie in one piece, or not in this order.
VIEWS = {
    "transposed": lambda x: x.T,
    "every other": lambda x: x[::2, 1::2],
    "backwards": lambda x: x[::-1, ::-1],
    "column": lambda x: x[:, 3],
    "one row again and again": lambda x: np.broadcast_to(x[1], x.shape),
    "in Fortran's order": np.asfortranarray,
}


@family
def layouts(rng: np.random.Generator) -> Iterator[Case]:
    """Arrays whose elements do not lie one after the other on the host."""
    for dtype in inputs.EVERY:
        x = inputs.values(rng, dtype, (6, 7))
        for label, view in VIEWS.items():
            yield Case("device_put", dtype, label, lambda x: (x, x[..., 1:]), [view(x)])
