"""Loops that carry buffers and update parts of them, beside stock JAX."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

SIZE = 97


def counted(body, xs, *, start=0, stop=SIZE):
    """`body(i, xs)` for each `i`, with a condition that `vmap` makes one of each row."""
    return lax.while_loop(lambda c: c[0] < stop, lambda c: (c[0] + 1, body(*c)), (start, xs))[1]


def scattered(start, xs):
    return counted(lambda i, xs: xs.at[i].set(i), xs, start=start)


def added_twice(start, xs):
    return counted(lambda i, xs: xs.at[i].add(1).at[i // 2].multiply(2), xs, start=start)


def sliced(start, xs):
    return counted(lambda i, xs: lax.dynamic_update_slice(xs, xs[:3] + i, (i - 1,)), xs, start=start)


def read_and_written(start, xs):
    def body(i, xs):
        new = xs.at[i].set(xs[SIZE - 1 - i] + 1)
        return new.at[0].add(xs[i])

    return counted(body, xs, start=start)


def read_after_the_update_of_another(start, xs):
    def body(i, pair):
        a, b = pair
        c = a.at[i].set(b[i] + 1)
        return c, b.at[i].set(a[i] + c[0])

    return counted(body, (xs, xs + 1), start=start)


def branches(start, xs):
    def body(i, xs):
        sides = [lambda: xs, lambda: xs.at[i].set(7), lambda: xs.at[i].add(xs[0]), lambda: jnp.sort(xs)]
        return lax.switch(i % 4, sides)

    return counted(body, xs, start=start)


def branches_that_swap(start, xs):
    def body(i, pair):
        a, b = pair
        return lax.cond(i % 3 == 0, lambda: (b, a.at[i].set(5)), lambda: (a, b.at[i].add(1)))

    return counted(body, (xs, -xs), start=start)


def nested(start, xs):
    def body(i, xs):
        inner = counted(lambda j, xs: xs.at[j].add(i), xs, start=i - 2, stop=i)
        return lax.cond(
            i % 2 == 0, lambda: inner, lambda: counted(lambda j, xs: xs.at[j].set(j), inner, start=i - 1, stop=i)
        )

    return counted(body, xs, start=start)


def bounded(start, xs):
    """Bounded loops in each other, each of which may end at once, as `equinox.internal.while_loop` has them."""

    def step(carry):
        i, xs = carry
        return i + 1, xs.at[i].set(xs[i] * 2 + i)

    def level(depth, carry):
        def some(carry, _):
            run = step if depth == 0 else functools.partial(level, depth - 1)
            return lax.cond(carry[0] < SIZE, run, lambda carry: carry, carry), None

        return lax.scan(some, carry, length=5)[0]

    return level(2, (start, xs))[1]


PROGRAMS = [
    scattered,
    added_twice,
    sliced,
    read_and_written,
    read_after_the_update_of_another,
    branches,
    branches_that_swap,
    nested,
    bounded,
]


@pytest.mark.parametrize("batch", [None, 1, 3])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_stock_jax(device, program, batch):
    xs = np.arange(SIZE, dtype=np.float32) % 13
    arguments = (np.int32(2), xs)
    function = program
    if batch is not None:
        arguments = (np.arange(batch, dtype=np.int32) * 3, np.stack([xs + row for row in range(batch)]))
        function = jax.vmap(program)
    expected = jax.jit(function)(*jax.device_put(arguments, jax.devices("cpu")[0]))
    for donate in ((), (1,)):
        got = jax.jit(function, donate_argnums=donate)(*jax.device_put(arguments, device))
        jax.tree.map(np.testing.assert_array_equal, got, expected)
