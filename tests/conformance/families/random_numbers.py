"""Random numbers: generators are compared bit by bit, and every function of jax.random over each generator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from conformance import inputs, oracles
from conformance.cases import Case, family
from conformance.compare import EXACT, Tolerance
from conformance.modules import body, tensor

_NEAR = Tolerance(
    64, below=1e-5, of_largest=True, reason="functions of equal bits, such as the inverse error function, in sequence"
)
_SHAPES = ((), (1,), (7,), (0, 3), (37, 5))


_UNSIGNED = "XLA:CPU gives the bits as unsigned numbers, whatever the result's type is: they are reinterpreted"


def _as(function: oracles.Function, dtype: str) -> oracles.Function:
    def reinterpreted(state):
        state, drawn = function(state)
        return state, jax.lax.bitcast_convert_type(drawn, inputs.dtype_of(dtype))

    return reinterpreted


@family
def bits(rng: np.random.Generator) -> Iterator[Case]:
    """`rng_bit_generator` of every algorithm and width."""
    for dtype in (*inputs.INTEGERS[2:6], *inputs.INTEGERS[8:], *inputs.FLOATS):
        for algorithm in ("DEFAULT", "THREE_FRY", "PHILOX"):
            for shape in ((), (1,), (7,), (5, 3), (0,), (129,)):
                words = 2 if algorithm == "THREE_FRY" else 3
                state = rng.integers(0, 2**63, words, dtype=np.uint64)
                of, to = tensor("uint64", (words,)), tensor(dtype, shape)
                lines = f"""
                  %s, %r = "stablehlo.rng_bit_generator"(%0)
                    <{{rng_algorithm = #stablehlo<rng_algorithm {algorithm}>}}> : ({of}) -> ({of}, {to})
                  return %s, %r : {of}, {to}"""
                unsigned = f"uint{inputs.bits(dtype)}"
                same = body(lines.replace(to, tensor(unsigned, shape)), [of], [of, tensor(unsigned, shape)])
                oracle = oracles.STOCK if dtype == unsigned else oracles.other(_as(same, dtype), _UNSIGNED)
                function = body(lines, [of], [of, to])
                yield Case("rng_bit_generator", dtype, f"{algorithm} {shape}", function, [state], oracle=oracle)


@family
def rng(rng: np.random.Generator) -> Iterator[Case]:
    """`rng`, whose bits are free: whether they are in the range."""
    free = "the numbers are implementation-defined: all must be in range, or finite"
    for dtype in ("bool", *inputs.INTEGERS[2:6], *inputs.INTEGERS[8:], *inputs.FLOATS):
        for kind in ("UNIFORM", "NORMAL") if dtype in inputs.FLOATS else ("UNIFORM",):
            for shape in (*_SHAPES, (1001,)):
                scalar, to = tensor(dtype), tensor(dtype, shape)
                sizes = f"[{', '.join(map(str, shape))}]" if shape else ""
                lines = f"""
                  %s = stablehlo.constant dense<{sizes}> : tensor<{len(shape)}xi64>
                  %r = "stablehlo.rng"(%0, %1, %s) <{{rng_distribution = #stablehlo<rng_distribution {kind}>}}> :
                    ({scalar}, {scalar}, tensor<{len(shape)}xi64>) -> {to}
                  return %r : {to}"""
                inner = body(lines, [scalar, scalar], [to])

                def inside(low, high, inner=inner, kind=kind):
                    drawn = inner(low, high)
                    return jnp.isfinite(drawn) if kind == "NORMAL" else (drawn >= low) & (drawn <= high)

                expected = oracles.numpy(lambda low, high, shape=shape: np.ones(shape, bool), free)
                low, high = np.zeros((), inputs.dtype_of(dtype)), np.ones((), inputs.dtype_of(dtype))
                yield Case("rng", dtype, f"{kind} {shape}", inside, [low, high], oracle=expected)


Draw = Callable[[Any, tuple[int, ...], str], Any]

# Draws of real numbers: of a key, a shape, and a dtype.
REAL: dict[str, Draw] = {
    "ball": lambda key, shape, dtype: jax.random.ball(key, 3, 2.0, shape, dtype),
    "beta": lambda key, shape, dtype: jax.random.beta(key, 2.0, 0.5, shape, dtype),
    "cauchy": jax.random.cauchy,
    "chisquare": lambda key, shape, dtype: jax.random.chisquare(key, 3.0, shape, dtype),
    "dirichlet": lambda key, shape, dtype: jax.random.dirichlet(key, jnp.array([0.5, 1, 3], dtype), shape, dtype),
    "double_sided_maxwell": lambda key, shape, dtype: jax.random.double_sided_maxwell(key, 1.0, 2.0, shape, dtype),
    "exponential": jax.random.exponential,
    "f": lambda key, shape, dtype: jax.random.f(key, 3.0, 5.0, shape, dtype),
    "gamma": lambda key, shape, dtype: jax.random.gamma(key, 2.5, shape, dtype),
    "generalized_normal": lambda key, shape, dtype: jax.random.generalized_normal(key, 1.5, shape, dtype),
    "gumbel": jax.random.gumbel,
    "laplace": jax.random.laplace,
    "loggamma": lambda key, shape, dtype: jax.random.loggamma(key, 0.7, shape, dtype),
    "logistic": jax.random.logistic,
    "lognormal": lambda key, shape, dtype: jax.random.lognormal(key, 0.5, shape, dtype),
    "maxwell": jax.random.maxwell,
    "multivariate_normal": lambda key, shape, dtype: jax.random.multivariate_normal(
        key, jnp.arange(2, dtype=dtype), jnp.array([[2, 0.5], [0.5, 1]], dtype), shape, dtype
    ),
    "normal": jax.random.normal,
    "orthogonal": lambda key, shape, dtype: (
        lambda q: q @ jnp.swapaxes(q, -1, -2)  # which of several is free
    )(jax.random.orthogonal(key, 4, shape[:1], dtype=dtype)),
    "pareto": lambda key, shape, dtype: jax.random.pareto(key, 2.0, shape, dtype),
    "rayleigh": lambda key, shape, dtype: jax.random.rayleigh(key, 1.5, shape, dtype),
    "t": lambda key, shape, dtype: jax.random.t(key, 4.0, shape, dtype),
    "triangular": lambda key, shape, dtype: jax.random.triangular(key, -1.0, 0.5, 2.0, shape, dtype),
    "truncated_normal": lambda key, shape, dtype: jax.random.truncated_normal(key, -1.0, 2.0, shape, dtype),
    "uniform": jax.random.uniform,
    "wald": lambda key, shape, dtype: jax.random.wald(key, 1.5, shape, dtype),
    "weibull_min": lambda key, shape, dtype: jax.random.weibull_min(key, 1.0, 2.0, shape, dtype),
}

# Draws of integers and bools.
WHOLE: dict[str, tuple[str, Draw]] = {
    "bernoulli": ("bool", lambda key, shape, _: jax.random.bernoulli(key, 0.3, shape)),
    "binomial": ("float32", lambda key, shape, dtype: jax.random.binomial(key, 9.0, 0.4, shape, dtype)),
    "bits": ("uint32", jax.random.bits),
    "categorical": ("int64", lambda key, shape, _: jax.random.categorical(key, jnp.arange(6.0), shape=shape)),
    "choice": ("int64", lambda key, shape, _: jax.random.choice(key, 200, shape, replace=False)),
    "geometric": ("int32", lambda key, shape, dtype: jax.random.geometric(key, 0.2, shape, dtype)),
    "multinomial": (
        "float32",
        lambda key, shape, dtype: jax.random.multinomial(
            key, jnp.full(shape, 9, dtype), jnp.full((*shape, 3), 1 / 3, dtype), dtype=dtype
        ),
    ),
    "permutation": ("int64", lambda key, shape, _: jax.random.permutation(key, int(np.prod(shape)))),
    "poisson": ("int32", lambda key, shape, dtype: jax.random.poisson(key, 4.0, shape, dtype)),
    "rademacher": ("int32", jax.random.rademacher),
    "randint": ("int32", lambda key, shape, dtype: jax.random.randint(key, shape, -3, 100, dtype)),
    "split": ("uint32", lambda key, shape, _: jax.random.key_data(jax.random.split(key, shape))),
    "fold_in": ("uint32", lambda key, shape, _: jax.random.key_data(jax.random.fold_in(key, len(shape)))),
    "clone": ("uint32", lambda key, shape, _: jax.random.key_data(jax.random.clone(key))),
}

# poisson() takes keys of threefry alone.
_ONE_GENERATOR = ("poisson",)
_GENERATORS = ("threefry2x32", "rbg", "unsafe_rbg")


@family
def draws(rng: np.random.Generator) -> Iterator[Case]:
    """Every function of jax.random."""
    table = [(name, dtype, draw, _NEAR) for name, draw in REAL.items() for dtype in ("float32", "float64")]
    table += [(name, dtype, draw, EXACT) for name, (dtype, draw) in WHOLE.items()]
    table += [("randint", dtype, WHOLE["randint"][1], EXACT) for dtype in ("int8", "int16", "int64")]
    for name, dtype, draw, near in table:
        for generator in _GENERATORS[:1] if name in _ONE_GENERATOR else _GENERATORS:
            for shape in _SHAPES:
                seed = np.uint32(rng.integers(0, 2**31))

                def drawn(seed, draw=draw, shape=shape, dtype=dtype, generator=generator):
                    return draw(jax.random.key(seed, impl=generator), shape, dtype)

                yield Case(f"jax.random.{name}", dtype, f"{generator} {shape}", drawn, [seed], near)


@family
def ranges(rng: np.random.Generator) -> Iterator[Case]:
    """randint at the ends of its range."""
    for dtype in ("int32", "uint32", "int8", "uint64"):
        for low, high in ((0, 10), (0, 2), (3, 100), (0, 127), (1, 2)):

            def integers(s, low=low, high=high, dtype=dtype):
                return jax.random.randint(jax.random.key(s), (41,), low, high, dtype)

            yield Case("jax.random.randint", dtype, f"from {low} to {high}", integers, [np.uint32(low + high)])
