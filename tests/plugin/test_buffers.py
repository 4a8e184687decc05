"""Donation, errors in flight, threads."""

import concurrent.futures

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def test_donated_arguments_are_gone(on_plugin):
    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jnp.zeros(1000)
    address = x.unsafe_buffer_pointer()
    y = step(x)
    assert x.is_deleted()
    assert y.unsafe_buffer_pointer() == address
    with pytest.raises(RuntimeError, match="has been deleted"):
        np.asarray(x)


def test_results_outlive_their_arguments(on_plugin):
    x = jnp.arange(12.0).reshape(3, 4)
    view, twice = jax.jit(lambda x: (x.reshape(4, 3), x))(x)
    x.delete()
    np.testing.assert_array_equal(np.asarray(view), np.arange(12.0).reshape(4, 3))
    np.testing.assert_array_equal(np.asarray(twice), np.arange(12.0).reshape(3, 4))


def test_many_threads_compile_and_run(on_plugin):
    def work(seed):
        with jax.default_device(on_plugin):
            total = 0.0
            for i in range(8):
                f = jax.jit(lambda x, k=seed * 8 + i: (x * k).sum())
                total += float(f(jnp.ones(100)))
            return total

    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        totals = list(threads.map(work, range(16)))
    assert totals == [100.0 * sum(range(seed * 8, seed * 8 + 8)) for seed in range(16)]


def test_compiled_programs_say_what_they_are(on_plugin):
    compiled = jax.jit(lambda x: jnp.tanh(x) @ x).lower(jnp.ones((8, 8), jnp.float32)).compile()
    text = compiled.as_text()
    assert "HloModule" in text and " tanh(" in text and " dot(" in text
    cost = compiled.cost_analysis()
    assert (cost[0] if isinstance(cost, list) else cost)["flops"] > 0
    memory = compiled.memory_analysis()
    assert (memory.argument_size_in_bytes, memory.output_size_in_bytes) == (256, 256)


def test_executables_are_stored_and_loaded(on_plugin):
    from jax.experimental import serialize_executable

    compiled = jax.jit(lambda x: x * 3).lower(jnp.ones(4)).compile()
    loaded = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled), backend="oxcall")
    np.testing.assert_array_equal(np.asarray(loaded(jnp.arange(4.0))), 3 * np.arange(4.0))
