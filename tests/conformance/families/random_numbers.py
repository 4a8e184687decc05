"""Random numbers: generators are compared bit by bit."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from conformance import inputs
from conformance.cases import Case, family
from conformance.compare import Tolerance

_NEAR = Tolerance(64, reason="functions of equal bits, such as the inverse error function, in sequence")


@family
def bits(rng: np.random.Generator) -> Iterator[Case]:
    """`rng_bit_generator` of every algorithm and width."""
    for dtype in ("uint8", "uint16", "uint32", "uint64"):
        for algorithm in (
            lax.RandomAlgorithm.RNG_DEFAULT,
            lax.RandomAlgorithm.RNG_THREE_FRY,
            lax.RandomAlgorithm.RNG_PHILOX,
        ):
            for shape in ((), (1,), (7,), (5, 3), (0,), (129,)):
                state = rng.integers(0, 2**32, 4, dtype=np.uint64).astype("uint32")

                def draw(state, shape=shape, dtype=dtype, algorithm=algorithm):
                    return lax.rng_bit_generator(state, shape, dtype=dtype, algorithm=algorithm)

                yield Case("rng_bit_generator", dtype, f"{algorithm.name} {shape}", draw, [state])


@family
def distributions(rng: np.random.Generator) -> Iterator[Case]:
    """jax.random over its default generator."""
    draws = {
        "uniform": lambda key, dtype: jax.random.uniform(key, (37, 5), dtype),
        "normal": lambda key, dtype: jax.random.normal(key, (37, 5), dtype),
        "exponential": lambda key, dtype: jax.random.exponential(key, (37,), dtype),
        "gumbel": lambda key, dtype: jax.random.gumbel(key, (37,), dtype),
        "laplace": lambda key, dtype: jax.random.laplace(key, (37,), dtype),
        "truncated_normal": lambda key, dtype: jax.random.truncated_normal(key, -1, 2, (37,), dtype),
        "gamma": lambda key, dtype: jax.random.gamma(key, 2.5, (37,), dtype),
    }
    for dtype in ("float32", "float64"):
        for name, draw in draws.items():
            seed = np.uint32(rng.integers(0, 2**31))
            yield Case(
                "threefry", dtype, name, lambda s, draw=draw, dtype=dtype: draw(jax.random.key(s), dtype), [seed], _NEAR
            )
    for dtype in ("int32", "uint32", "int8", "uint64"):
        for low, high in ((0, 10), (0, 2), (3, 100), (0, 127), (1, 2)):

            def integers(s, low=low, high=high, dtype=dtype):
                return jax.random.randint(jax.random.key(s), (41,), low, high, dtype)

            yield Case("threefry", dtype, f"randint {low} {high}", integers, [np.uint32(low + high)])
    for name, function in (
        ("permutation", lambda s: jax.random.permutation(jax.random.key(s), 53)),
        ("split", lambda s: jax.random.key_data(jax.random.split(jax.random.key(s), 5))),
        ("choice", lambda s: jax.random.choice(jax.random.key(s), 20, (7,), replace=False)),
        ("categorical", lambda s: jax.random.categorical(jax.random.key(s), jnp.arange(6.0), shape=(30,))),
        ("bernoulli", lambda s: jax.random.bernoulli(jax.random.key(s), 0.3, (30,))),
    ):
        for seed in (np.uint32(7), np.uint32(123456789)):
            yield Case("threefry", "float32", f"{name} {seed}", function, [seed])


@family
def unspecified(rng: np.random.Generator) -> Iterator[Case]:
    """`rng`, whose bits are free."""
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        a, b = np.zeros((), inputs.dtype_of(dtype)), np.ones((), inputs.dtype_of(dtype))
        for shape in ((), (5,), (3, 7), (0,), (1001,)):
            yield Case(
                "rng", dtype, f"{shape}", lambda a, b, s=shape: lax.rng_uniform(a, b, s), [a, b], statistical=True
            )
