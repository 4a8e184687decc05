"""When a call returns."""

import jax
import jax.numpy as jnp
import numpy as np


def test_callbacks_are_over_when_the_call_returns():
    seen = []

    @jax.jit
    def program(x):
        def step(i, x):
            jax.debug.callback(lambda i: seen.append(int(i)), i)
            return x + i

        return jax.lax.fori_loop(0, 5, step, x)

    x = jax.block_until_ready(jnp.float32(1))
    y = program(x)
    assert sorted(seen) == [0, 1, 2, 3, 4]
    assert y == 11


def test_a_callback_that_calls_a_program_with_a_callback():
    inner = jax.jit(lambda x: jax.pure_callback(lambda x: np.asarray(x) * 2, x, x) + 1)
    outer = jax.jit(lambda x: jax.pure_callback(lambda x: np.asarray(inner(x)), x, x) + 1)
    assert outer(jnp.float32(3)) == 8


def test_a_function_that_raises_fails_the_call():
    def fail(_):
        raise ValueError("my text")

    program = jax.jit(lambda x: jax.pure_callback(fail, x, x))
    x = jax.block_until_ready(jnp.float32(1))
    try:
        program(x)
    except jax.errors.JaxRuntimeError as error:
        assert "my text" in str(error)
    else:
        raise AssertionError("the call did not fail")
