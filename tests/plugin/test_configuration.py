"""JAX's settings and what it says of its state: as on its CPU."""

import gc
import threading
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


@pytest.fixture(params=["oxcall", "cpu"])
def place(request):
    """The plugin's device, and the CPU's, of which the same is expected."""
    device = jax.devices(request.param)[0]
    with jax.default_device(device):
        yield device


def on_both(function):
    """What the plugin gives, and what the CPU gives."""
    results = []
    for platform in ("oxcall", "cpu"):
        with jax.default_device(jax.devices(platform)[0]):
            results.append(jax.tree.map(np.asarray, function()))
    return results


def test_x64(place):
    with jax.enable_x64(False):
        assert jax.jit(lambda x: x * 2)(np.float64(1)).dtype == np.float32
        assert jnp.arange(3).dtype == np.int32
    with jax.enable_x64(True):
        x = jax.jit(lambda x: x / 3)(np.float64(1))
        assert x.dtype == np.float64 and float(x) == 1 / 3
        assert jax.jit(lambda x: x + 2**40)(np.int64(1)) == 2**40 + 1


@pytest.mark.parametrize(
    "precision",
    ["default", "high", "highest", "bfloat16", "tensorfloat32", "float32", "BF16_BF16_F32_X3", "F32_F32_F32"],
)
def test_matmul_precision(place, precision):
    x = np.random.default_rng(0).standard_normal((32, 32)).astype(np.float32)
    with jax.default_matmul_precision(precision):
        product = jax.jit(jnp.matmul)(x, x)
    wide = x.astype(np.float64) @ x
    # Whoever allows less than f32 may get more.
    np.testing.assert_allclose(product, wide, atol=1e-4 if precision in ("highest", "float32", "F32_F32_F32") else 0.2)


@pytest.mark.parametrize("implementation", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_random_bits(implementation):
    def draw():
        key = jax.random.key(7, impl=implementation)
        keys = jax.random.split(key, 3)
        return [
            jax.random.key_data(keys),
            jax.random.bits(keys[0], (5,)),
            jax.random.uniform(keys[1], (4, 3)),
            jax.random.randint(keys[2], (6,), 0, 100),
            jax.vmap(lambda key: jax.random.bits(key, (2,)))(keys),
            jax.jit(lambda key: jax.random.permutation(jax.random.fold_in(key, 3), 10))(key),
        ]

    ours, theirs = on_both(draw)
    jax.tree.map(np.testing.assert_array_equal, ours, theirs)


def test_the_default_generator_is_a_setting(place):
    with jax.default_prng_impl("rbg"):
        assert jax.random.key_data(jax.random.key(0)).shape == (4,)
    with jax.threefry_partitionable(False):
        first = np.asarray(jax.random.bits(jax.random.key(0), (8,)))
    with jax.threefry_partitionable(True):
        assert not np.array_equal(first, jax.random.bits(jax.random.key(0), (8,)))


def test_debug_nans(place):
    with jax.debug_nans(True):
        assert float(jax.jit(jnp.log)(1.0)) == 0.0
        with pytest.raises(FloatingPointError, match="invalid value \\(nan\\)"):
            jax.jit(jnp.log)(-1.0).block_until_ready()
        with pytest.raises(FloatingPointError):
            jnp.zeros(3) / 0
    with jax.debug_infs(True), pytest.raises(FloatingPointError, match="inf"):
        jax.jit(lambda x: 1 / x)(np.float32(0)).block_until_ready()
    assert np.isnan(jax.jit(jnp.log)(-1.0))


def test_checks_leaks_and_transfers(place):
    with jax.checking_leaks():
        assert float(jax.jit(lambda x: jnp.sin(x).sum())(jnp.zeros(3))) == 0
    jax.config.update("jax_enable_checks", True)
    try:
        np.testing.assert_allclose(jax.jit(jax.grad(lambda x: jnp.sin(x).sum()))(X), np.cos(X), rtol=1e-6)
        np.testing.assert_array_equal(jax.lax.scan(lambda c, x: (c + x, c), 0.0, jnp.arange(4.0))[1], [0, 0, 1, 3])
    finally:
        jax.config.update("jax_enable_checks", False)
    x = jax.device_put(X, place)
    with jax.transfer_guard("disallow"):
        np.testing.assert_array_equal(jax.jit(lambda x: x * 2)(x).block_until_ready().shape, (3, 4))
        with pytest.raises(Exception, match="Disallowed host-to-device"):
            jnp.add(x, 1)


def test_disable_jit(place):
    seen = []

    @jax.jit
    def function(x):
        seen.append(type(x))
        return jax.lax.cond(x[0] > 0, lambda x: x * 2, lambda x: x, x)

    with jax.disable_jit():
        np.testing.assert_array_equal(function(jnp.ones(3)), [2, 2, 2])
    assert not issubclass(seen[0], jax.core.Tracer)


def test_caches(place):
    traces = []
    function = jax.jit(lambda x: traces.append(1) or x + 1)
    function(X), function(X)
    assert len(traces) == 1 and function._cache_size() == 1
    function.clear_cache()
    function(X)
    jax.clear_caches()
    function(X)
    assert len(traces) == 3


def test_live_arrays(place):
    gc.collect()
    before = len(jax.live_arrays(place.platform))
    x = jax.device_put(X, place)
    assert len(jax.live_arrays(place.platform)) == before + 1
    assert any(live is x for live in jax.live_arrays(place.platform))
    reference = weakref.ref(x)
    del x
    gc.collect()
    assert reference() is None and len(jax.live_arrays(place.platform)) == before


def test_programs_and_arrays_are_freed(place):
    def use():
        function = jax.jit(lambda x: x + 1)
        compiled = function.lower(X).compile()
        result = compiled(X)
        return [weakref.ref(each) for each in (function, compiled, result)]

    references = use()
    jax.clear_caches()
    gc.collect()
    assert [reference() for reference in references] == [None] * 3


def test_threads_have_settings_of_their_own(place):
    results = {}

    def use(x64):
        with jax.enable_x64(x64), jax.default_device(place):
            for _ in range(20):
                x = jax.jit(lambda x: jnp.cumsum(x) * 2)(np.arange(100.0))
                results.setdefault(x64, set()).add((str(x.dtype), float(x[-1]), x.device.platform))

    threads = [threading.Thread(target=use, args=(x64,)) for x64 in (True, False) * 4]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    platform = place.platform
    assert results == {True: {("float64", 9900.0, platform)}, False: {("float32", 9900.0, platform)}}


def test_profiles_are_written(place, tmp_path):
    with jax.profiler.trace(str(tmp_path)), jax.profiler.TraceAnnotation("mine"):
        jax.jit(lambda x: x @ x.T)(X).block_until_ready()
    assert list(tmp_path.rglob("*.xplane.pb"))
    jax.profiler.save_device_memory_profile(str(tmp_path / "memory.prof"))
    assert (tmp_path / "memory.prof").stat().st_size > 0


def test_devices_describe_themselves(place):
    assert place.memory_stats() is None or place.memory_stats()["bytes_in_use"] >= 0
    assert place.process_index == 0 and place.id == 0 and place.platform in str(place).lower()
    assert place.client.platform == place.platform and place.client.platform_version
    assert place in jax.local_devices(backend=place.platform) and jax.device_count(place.platform) >= 1
