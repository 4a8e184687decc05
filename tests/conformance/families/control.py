"""Control flow, calls, composites, tuples and barriers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from conformance import inputs, oracles
from conformance.cases import Case, family
from conformance.compare import Tolerance

_NEAR = Tolerance(32, of_largest=True, reason="sums in another order, repeated: errors are those of the largest")


def _fibonacci(n):
    zero, one = jnp.zeros((), n.dtype), jnp.ones((), n.dtype)
    return lax.fori_loop(zero, n, lambda _, ab: (ab[1], ab[0] + ab[1]), (zero, one))


def _collatz(n):
    def step(state):
        n, count = state
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), count + 1

    return lax.while_loop(lambda state: state[0] != 1, step, (n, jnp.zeros((), n.dtype)))


def _stacked(x):
    def step(carry, row):
        carry = carry * 0.5 + row
        return carry, (carry, carry[::-1].sum())

    return lax.scan(step, jnp.zeros(x.shape[1:], x.dtype), x)


def _nested(x):
    def inner(i, y):
        return lax.fori_loop(0, i, lambda j, z: z + x[j] * y, y)

    return lax.fori_loop(0, x.shape[0], inner, jnp.ones((), x.dtype))


def _swapped(x):
    return lax.fori_loop(0, 5, lambda i, s: (s[1], s[2] + i, s[0]), (x, x + 1, x * 2))


@family
def loops(rng: np.random.Generator) -> Iterator[Case]:
    """While, for, and scan."""
    for dtype in ("int32", "int64", "uint32"):
        for n in (0, 1, 2, 17, 40):
            yield Case("while", dtype, f"fibonacci {n}", _fibonacci, [np.asarray(n, dtype)])
            yield Case("while", dtype, f"collatz {n}", _collatz, [np.asarray(n + 3, dtype)])
    for dtype in ("float32", "float64"):
        for shape in ((5, 3), (1, 1), (17, 2), (100, 8), (3, 0)):
            x = inputs.moderate(rng, dtype, shape)
            yield Case("while", dtype, f"scan {shape}", _stacked, [x], _NEAR)
            yield Case("while", dtype, f"swapped {shape}", _swapped, [x])
            yield Case("while", dtype, f"map {shape}", lambda x: lax.map(lambda row: jnp.sort(row) * 2, x), [x])
            back = jax.grad(lambda x: _stacked(x)[1][0].sum())
            yield Case("while", dtype, f"gradient {shape}", back, [x], _NEAR)
        yield Case("while", dtype, "nested", _nested, [inputs.moderate(rng, dtype, (9,)) / 4], _NEAR)
        yield Case(
            "while",
            dtype,
            "reverse",
            lambda x: lax.scan(lambda c, r: (c + r, c), x[0], x, reverse=True),
            [inputs.moderate(rng, dtype, (6, 2))],
            _NEAR,
        )
        yield Case(
            "while",
            dtype,
            "batched condition",
            jax.vmap(lambda x: lax.while_loop(lambda v: v < 10, lambda v: v * 2 + 1, x)),
            [np.abs(inputs.moderate(rng, dtype, (9,)))],
        )


@family
def branches(rng: np.random.Generator) -> Iterator[Case]:
    """Cond and switch."""
    for dtype in ("float32", "int32", "complex64"):
        x = inputs.moderate(rng, dtype, (7,))
        for flag in (False, True):
            yield Case(
                "if",
                dtype,
                f"{flag}",
                lambda f, x: lax.cond(f, lambda x: x + 1, lambda x: x * x, x),
                [np.asarray(flag), x],
                _NEAR,
            )
        for index in (-5, 0, 1, 2, 9):
            choices = [lambda x: x + 1, lambda x: x * x, lambda x: x[::-1]]
            yield Case(
                "case", dtype, f"{index}", lambda i, x, c=choices: lax.switch(i, c, x), [np.int32(index), x], _NEAR
            )
            yield Case(
                "if",
                dtype,
                f"nested {index}",
                lambda i, x: lax.cond(
                    i > 0, lambda x: lax.cond(i > 1, lambda x: x, lambda x: -x, x), lambda x: x * 0, x
                ),
                [np.int32(index), x],
            )
        yield Case(
            "case",
            dtype,
            "batched",
            jax.vmap(lambda i, x: lax.switch(i, [lambda x: x, lambda x: -x], x)),
            [np.arange(7) % 2, x],
        )


def _near(dtype: str) -> Tolerance:
    """How near a special function of this dtype is to its oracle."""
    if dtype == "float64":
        reason = "approximated in different ways; relative error is large near zeros of the function"
        return Tolerance(128, below=1e-14, reason=reason)
    return Tolerance(8, below=1e-6 if dtype == "float32" else 6e-2, reason="computed in float32 and rounded")


def _wide(function: Callable[[jax.Array], jax.Array], dtype: str) -> oracles.Oracle:
    """What a function is compared with: stock JAX in float64, because XLA:CPU's float32 is far off near zeros."""
    if dtype == "float64":
        return oracles.STOCK
    wide = lambda x: function(x.astype("float64")).astype(x.dtype)  # noqa: E731
    return oracles.other(wide, "XLA:CPU's lgamma of float32 is up to a million ULP off near its zeros")


@family
def functions(rng: np.random.Generator) -> Iterator[Case]:
    """Special functions, most of them composites."""
    everywhere = {
        "erf": lax.erf,
        "erfc": lax.erfc,
        "lgamma": lax.lgamma,
        "digamma": lax.digamma,
        "atan": lax.atan,
        "sinh": lax.sinh,
        "cosh": lax.cosh,
        "asinh": lax.asinh,
        "bessel_i0e": lax.bessel_i0e,
        "bessel_i1e": lax.bessel_i1e,
        "gelu": jax.nn.gelu,
        "softplus": jax.nn.softplus,
        "square": lax.square,
        "integer_pow": lambda x: x**3,
    }
    # Functions of what is between -1 and 1, and of what is greater.
    within = {"erf_inv": lax.erf_inv, "asin": lax.asin, "acos": lax.acos, "atanh": lax.atanh}
    above = {"acosh": lax.acosh}
    same = lambda x: x  # noqa: E731
    table = [(name, function, same) for name, function in everywhere.items()]
    table += [(name, function, np.tanh) for name, function in within.items()]
    table += [(name, function, lambda x: 1 + x * x) for name, function in above.items()]
    for name, function, made in table:
        for dtype in inputs.FLOATS:
            for shape in ((0,), (), (5,), (3, 11), (1009,)):
                x = made(rng.standard_normal(shape)).astype(inputs.dtype_of(dtype))
                yield Case(name, dtype, f"{shape}", function, [x], _near(dtype), oracle=_wide(function, dtype))
    for name, function in (
        ("igamma", lax.igamma),
        ("igammac", lax.igammac),
        ("zeta", lambda a, x: lax.zeta(a + 1.5, x)),
        ("polygamma", lambda a, x: lax.polygamma(jnp.floor(a) + 1, x + 0.5)),
        ("next_after", jnp.nextafter),
    ):
        for dtype in ("float32", "float64"):
            for shape in ((0,), (), (5,), (3, 11), (257,)):
                a, x = (
                    np.abs(inputs.moderate(rng, dtype, shape)) + 0.5,
                    np.abs(inputs.moderate(rng, dtype, shape)) + 0.1,
                )
                a, x = a.astype(dtype), x.astype(dtype)
                yield Case(
                    name,
                    dtype,
                    f"{shape}",
                    function,
                    [a, x],
                    Tolerance(256, below=1e-5 if dtype == "float32" else 1e-12, reason="series of many terms"),
                )
    for dtype in ("float32", "int32", "bool"):
        x = inputs.moderate(rng, dtype, (4, 3))
        yield Case("optimization_barrier", dtype, "pair", lambda x: lax.optimization_barrier((x, x[0])), [x])
        yield Case("call", dtype, "jit in jit", lambda x: jax.jit(lambda y: y[::-1])(jax.jit(lambda y: y.T)(x)), [x])
        yield Case("constant", dtype, "captured", lambda x=x: jnp.asarray(x), [])
        yield Case("constant", dtype, "returned twice", lambda x: (x, x, x[0]), [x])
