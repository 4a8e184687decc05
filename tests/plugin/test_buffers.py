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


def test_results_outlive_their_program_and_each_other(on_plugin):
    x = jnp.zeros((2, 3), jnp.float32)
    compiled = jax.jit(lambda x: [x + i for i in range(10)]).lower(x).compile()
    first, *others = compiled(x)
    view, last = np.asarray(others[4]), others.pop()
    del compiled, others
    jax.clear_caches()
    first.delete()
    assert last.shape == (2, 3) and last.dtype == np.float32 and last.nbytes == 24
    np.testing.assert_array_equal(view, np.full((2, 3), 5.0))
    np.testing.assert_array_equal(np.asarray(last + 1), np.full((2, 3), 10.0))


@pytest.mark.parametrize("place", range(3))
def test_one_result_without_memory_fails_all_of_its_call(on_plugin, place):
    def several(x):
        results = [x + 1, x + 2]
        results.insert(place, jnp.broadcast_to(x, (1 << 42, 4)))
        return results

    x = jnp.zeros(4)
    with pytest.raises(Exception, match="RESOURCE_EXHAUSTED"):
        jax.block_until_ready(jax.jit(several)(x))
    np.testing.assert_array_equal(np.asarray(x + 1), np.ones(4))


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
