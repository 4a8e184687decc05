"""The gallery through real JAX: values, transformations, states, and buffers of awkward shapes."""

import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from oxcall.testing import check_op


def normal(seed, *shape, dtype=jnp.float32):
    return jax.random.normal(jax.random.key(seed), shape, jnp.float32).astype(dtype)


def wide(x):
    return np.asarray(x.astype(jnp.float32) if x.dtype == jnp.bfloat16 else x, np.float64)


def norm(x, eps):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)


@pytest.mark.parametrize("dtype, tolerance", [("float32", 3e-7), ("float16", 1e-3), ("bfloat16", 8e-3)])
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 100), (2, 3, 33), (300, 512)])
def test_rms_norm(gallery, dtype, tolerance, shape):
    x = normal(0, *shape, dtype=dtype)
    y = jax.jit(lambda x: gallery.rms_norm(x, eps=1e-3))(x)
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    np.testing.assert_allclose(wide(y), norm(wide(x), 1e-3), rtol=tolerance, atol=tolerance)


def test_rms_norm_of_nothing(gallery):
    for shape in [(0,), (0, 4), (4, 0)]:
        assert jax.jit(gallery.rms_norm)(jnp.zeros(shape)).shape == shape


def test_rms_norm_in_double_precision(gallery):
    with jax.enable_x64(True):
        x = jnp.asarray(np.random.default_rng(0).normal(size=(4, 50)))
        assert x.dtype == jnp.float64
        np.testing.assert_allclose(gallery.rms_norm(x, eps=1e-7), norm(np.asarray(x), 1e-7), rtol=1e-14)


def test_rms_norm_gradient(gallery):
    def reference(x):
        return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-5)

    x, weights = normal(1, 4, 33), normal(2, 4, 33)
    ours = jax.jit(jax.grad(lambda x: jnp.sum(weights * gallery.rms_norm(x))))(x)
    theirs = jax.grad(lambda x: jnp.sum(weights * reference(x)))(x)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
    per_row = jax.vmap(jax.grad(lambda x, w: jnp.sum(w * gallery.rms_norm(x))))(x, weights)
    np.testing.assert_allclose(per_row, theirs, atol=1e-6)


def test_vmap_is_one_call(gallery):
    x = normal(3, 5, 6, 8)
    batched = jax.vmap(gallery.rms_norm, in_axes=1, out_axes=1)
    np.testing.assert_allclose(batched(x), gallery.rms_norm(x), rtol=1e-6)
    assert str(jax.make_jaxpr(batched)(x)).count("rms_norm[") == 1


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_legacy_versions_give_equal_bits(gallery, version, dtype):
    x = normal(4, 30, 77, dtype=dtype)
    typed = gallery.rms_norm(x, eps=1e-4)
    legacy = jax.jit(lambda x: gallery.rms_norm(x, eps=1e-4, custom_call_api_version=version))(x)
    assert np.asarray(typed).tobytes() == np.asarray(legacy).tobytes()


def test_devices(gallery):
    for device in jax.devices():
        y = jax.jit(gallery.rms_norm)(jax.device_put(jnp.ones((2, 4)), device))
        assert y.devices() == {device}


def test_states_belong_to_executables(gallery):
    first = jax.jit(lambda: (gallery.counter(), gallery.counter()))
    assert [tuple(map(int, first())) for _ in range(3)] == [(1, 1), (2, 2), (3, 3)]
    assert int(jax.jit(lambda: gallery.counter(start=5))()) == 6
    assert tuple(map(int, first())) == (4, 4)


@pytest.mark.parametrize("n, taps", [(31, 31), (200, 31), (1500, 64), (5, 1)])
def test_low_pass(gallery, n, taps):
    x = normal(5, 3, n)
    t = np.arange(taps) - (taps - 1) / 2
    response = 0.4 * np.sinc(0.4 * t) * (np.hamming(taps) if taps > 1 else 0.08)
    response /= response.sum()
    expected = np.stack([np.convolve(row, response, mode="valid") for row in np.asarray(x, np.float64)])
    np.testing.assert_allclose(gallery.low_pass(x, cutoff=0.2, taps=taps), expected, atol=1e-6)


def test_async_scale(gallery):
    x = normal(6, 1000)
    y = jax.jit(lambda x: gallery.async_scale(gallery.async_scale(x, factor=3.0) + 1, factor=-1.0))(x)
    np.testing.assert_array_equal(y, -(3 * x + 1))


def test_affine(gallery):
    x = normal(7, 5, 3)
    gains = np.array([1.0, -2.0, 0.5])
    line = wide(x) * gains + 0.25
    for config, expected in [
        ({"gains": gains, "offset": 0.25}, line),
        ({"gains": [1, -2, 0.5], "offset": 0.25, "activation": "relu"}, np.maximum(line, 0)),
        ({"gains": gains, "offset": 0.25, "activation": "abs"}, np.abs(line)),
        ({"gains": gains, "offset": 0.25, "clip": {"low": -0.5, "high": 0.75}}, np.clip(line, -0.5, 0.75)),
        ({"gains": gains, "offset": 0.25, "clip": None}, line),
    ]:
        np.testing.assert_allclose(jax.jit(lambda x, c=config: gallery.affine(x, config=c))(x), expected, atol=1e-6)


def test_polynomial(gallery):
    x = normal(8, 3, 1030)
    expected = np.polynomial.polynomial.polyval(wide(x), [1, 0, -2, 0.5])
    np.testing.assert_allclose(gallery.polynomial(x, c0=1, c2=-2.0, c3=0.5), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(gallery.polynomial(x), jnp.zeros_like(x))


@pytest.mark.parametrize("dtype", ["float32", "int8", "bfloat16", "complex64", "uint32"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concatenate(gallery, dtype, axis):
    sizes = [3, 0, 1, 4]
    xs = [jnp.full((size, 2) if axis == 0 else (2, size), i, dtype) for i, size in enumerate(sizes)]
    np.testing.assert_array_equal(gallery.concatenate(*xs, axis=axis), jnp.concatenate(xs, axis=axis))


def test_axpy_leaves_its_argument_alone_or_takes_its_memory(gallery):
    x, y = normal(9, 100), normal(10, 100)
    np.testing.assert_allclose(gallery.axpy(x, y, alpha=2.0), 2 * x + y, rtol=1e-6)
    kept = np.array(y)
    jax.jit(lambda x, y: gallery.axpy(x, y, alpha=2.0))(x, y)
    np.testing.assert_array_equal(y, kept)
    address = y.unsafe_buffer_pointer()
    result = jax.jit(lambda x, y: gallery.axpy(x, y, alpha=2.0), donate_argnums=1)(x, y)
    assert result.unsafe_buffer_pointer() == address and y.is_deleted()
    np.testing.assert_array_equal(gallery.axpy(jnp.arange(3), jnp.arange(3), alpha=-2), [0, -1, -2])
    z = jnp.array([1 + 2j], jnp.complex64)
    np.testing.assert_array_equal(gallery.axpy(z, z, alpha=1j), [-1 + 3j])


def test_compensated_add(gallery):
    terms = normal(11, 2000, 50) * 10.0 ** jnp.arange(-4, 4).repeat(250)[:, None]

    def total(terms):
        zeros = jnp.zeros(50)
        (total, error), _ = jax.lax.scan(lambda c, x: (gallery.compensated_add(*c, x), None), (zeros, zeros), terms)
        return total, error

    total, error = map(wide, jax.jit(total)(terms))
    exact = wide(terms).sum(axis=0)
    assert np.abs(total + error - exact).max() < 1e-3 * np.abs(total - exact).max()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("rows, groups, group", [(4, 2, 8), (3, 3, 5), (64, 16, 32), (1, 1, 2)])
def test_dequantize_int4(gallery, dtype, rows, groups, group):
    w = jax.random.randint(jax.random.key(12), (rows, groups * group), -8, 8, jnp.int8)
    scales = jnp.exp2(jnp.round(normal(13, rows, groups)))
    y = jax.jit(lambda w, s: gallery.dequantize_int4(w, s, group=group, dtype=dtype))(w.astype(jnp.int4), scales)
    assert y.dtype == dtype
    np.testing.assert_array_equal(wide(y), wide(w) * np.repeat(wide(scales), group, axis=1))


def test_softmax(gallery):
    x = 10 * normal(14, 300, 257, dtype=jnp.bfloat16)
    y = jax.jit(gallery.softmax)(x)
    exp = np.exp(wide(x) - wide(x).max(axis=-1, keepdims=True))
    np.testing.assert_allclose(wide(y), exp / exp.sum(axis=-1, keepdims=True), rtol=1 / 255, atol=1e-30)
    inf = jnp.inf
    special = jnp.array([[-inf, 0, 0], [inf, 0, 0], [-inf, -inf, -inf], [jnp.nan, 0, 0]], jnp.bfloat16)
    np.testing.assert_array_equal(wide(gallery.softmax(special)), wide(jax.nn.softmax(special, axis=-1)))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int32", "uint8"])
@pytest.mark.parametrize("k", [0, 1, 5, 40])
def test_top_k_with_ties(gallery, dtype, k):
    x = jnp.round(10 * normal(15, 6, 40)).astype(dtype)
    ours, theirs = jax.jit(lambda x: gallery.top_k(x, k=k))(x), jax.lax.top_k(x, k)
    np.testing.assert_array_equal(wide(ours[0]), wide(theirs[0]))
    if dtype in ("float32", "int32", "uint8"):
        np.testing.assert_array_equal(ours[1], theirs[1])
    assert ours[1].dtype == jnp.int32


def test_top_k_of_special_values(gallery):
    nan, inf = np.nan, np.inf
    x = jnp.array([1, nan, -0.0, inf, 0.0, -inf, nan, -1, 0.0, -0.0, inf], jnp.float32)
    ours, theirs = gallery.top_k(x, k=11), jax.lax.top_k(x, 11)
    np.testing.assert_array_equal(ours[1], theirs[1])
    np.testing.assert_array_equal(np.asarray(ours[0]).view(np.int32), np.asarray(theirs[0]).view(np.int32))


def test_csr_matmul(gallery):
    random = np.random.default_rng(16)
    dense = random.normal(size=(50, 20)) * (random.random((50, 20)) < 0.2)
    rows, columns = np.nonzero(dense)
    start = np.searchsorted(rows, np.arange(51)).astype(np.int32)
    x = random.normal(size=(20, 3)).astype(np.float32)
    values = dense[rows, columns].astype(np.float32)
    y = jax.jit(gallery.csr_matmul)(values, columns.astype(np.int32), start, x)
    np.testing.assert_allclose(y, dense @ x, atol=1e-5)


def test_tridiagonal_solve(gallery):
    lower, upper, b = normal(17, 3, 30), normal(18, 3, 30), normal(19, 3, 30, 2)
    diagonal = jnp.abs(lower) + jnp.abs(upper) + 1
    x = wide(jax.jit(gallery.tridiagonal_solve)(lower, diagonal, upper, b))
    for i in range(3):
        a = np.diag(wide(diagonal[i])) + np.diag(wide(upper[i])[:-1], 1) + np.diag(wide(lower[i])[1:], -1)
        np.testing.assert_allclose(x[i], np.linalg.solve(a, wide(b[i])), atol=1e-5)


def test_every_op_has_a_docstring_and_a_signature(gallery):
    assert len(gallery) >= 17
    for name in gallery:
        assert gallery[name].__doc__.strip()
    assert "Root-mean-square norm" in gallery.rms_norm.__doc__ and "eps" in str(gallery.rms_norm.__signature__)


def f32(*shape, seed=20):
    return normal(seed, *shape)


def bands():
    lower, upper = f32(2, 5), f32(2, 5, seed=21)
    return lower, jnp.abs(lower) + jnp.abs(upper) + 1, upper, f32(2, 5, 2, seed=22)


# The operands and attributes of one call of each op that gives a result.
CALLS = {
    "adam_f32": lambda: ((f32(6), f32(6, seed=21), f32(6, seed=22), f32(6, seed=23) ** 2),
        {"beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "lr": 0.1, "step": 2}),
    "affine": lambda: ((f32(2, 3),), {"config": {"gains": [1, -2, 0.5], "offset": 0.25}}),
    "async_scale": lambda: ((f32(5),), {"factor": 3.0}),
    "axpy": lambda: ((f32(2, 3), f32(2, 3, seed=21)), {"alpha": 2.0}),
    "compensated_add": lambda: ((f32(6), 1e-9 * f32(6), f32(6, seed=21)), {}),
    "concatenate": lambda: ((f32(2, 3), f32(1, 3)), {"axis": 0}),
    "csr_matmul": lambda: ((f32(3), jnp.array([0, 1, 0]), jnp.array([0, 1, 3]), f32(2, 3)), {}),
    "dequantize_int4": lambda: ((jnp.arange(-8, 8, dtype=jnp.int8).reshape(2, 8).astype(jnp.int4), f32(2, 2)),
        {"group": 4, "dtype": "float32"}),
    "fail": lambda: ((jnp.ones(2),), {}),
    "low_pass": lambda: ((f32(2, 40),), {"cutoff": 0.2}),
    "polynomial": lambda: ((f32(2, 3),), {"c0": 1.0, "c2": -2.0}),
    "rms_norm": lambda: ((f32(3, 4),), {"eps": 1e-3}),
    "rms_norm_vjp": lambda: ((f32(3, 4), f32(3, 4, seed=21)), {"eps": 1e-3}),
    "softmax": lambda: ((f32(2, 3).astype(jnp.bfloat16),), {}),
    "top_k": lambda: ((f32(2, 5),), {"k": 2}),
    "tridiagonal_solve": lambda: (bands(), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_ops_do_what_they_declare(gallery, name):
    operands, attrs = CALLS[name]()
    report = check_op(gallery[name], *operands, **attrs)
    assert {"results", "repeat", "jit"} <= set(report.passed)


def test_demo_reports_a_library_that_it_cannot_load(tmp_path):
    missing = tmp_path / "libmissing.so"
    demo = pathlib.Path(__file__).parents[2] / "examples/custom_ops/demo.py"
    run = subprocess.run([sys.executable, demo, missing], capture_output=True, text=True, check=False)
    assert run.returncode != 0 and "libmissing.so" in run.stderr


def test_errors_carry_status_and_message(gallery):
    for status in ["cancelled", "not_found", "data_loss", "unauthenticated"]:
        with pytest.raises(jax.errors.JaxRuntimeError, match=f"^{status.upper()}: fail: no luck"):
            gallery.fail(-jnp.ones(2), status=status, message="no luck").block_until_ready()
    np.testing.assert_array_equal(gallery.fail(jnp.ones(2)), jnp.ones(2))
