"""Chains of operations on `complex128`, which are machine code, beside NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

# Fewer than a vector, tails of each length, several tiles, and more than one thread takes.
COUNTS = [1, 2, 3, 5, 127, 128, 129, 130, 131, 133, 1000, 8193, 70001]

# Products of complex numbers fuse a multiply-add: half an ULP of the larger product, of numbers near to one.
CLOSE = {"rtol": 0, "atol": 4e-15}


def numbers(*dims, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, dims) + 1j * rng.uniform(-1, 1, dims)


def on_plugin(function, *arguments):
    with jax.enable_x64(True), jax.default_device(jax.devices("oxcall")[0]):
        return jax.tree.map(np.asarray, jax.jit(function)(*arguments))


def check(function, *arguments, oracle=None):
    found = on_plugin(lambda *arguments: function(jnp, *arguments), *arguments)
    expected = (oracle or function)(np, *arguments)
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert ours.dtype == np.asarray(theirs).dtype
        np.testing.assert_allclose(ours, theirs, **CLOSE)


CHAINS = {
    "products": lambda _, z, w: z * w + z,
    "both signs": lambda xp, z, w: (1j * z - xp.conj(w)) * -z,
    "parts": lambda xp, z, w: xp.real(z) * xp.imag(w) - xp.real(w) * xp.imag(z),
    "two results": lambda xp, z, w: (z * xp.conj(w), xp.real(z) + xp.imag(w)),
    "of real numbers": lambda xp, z, w: xp.real(z) * w + xp.imag(z) * 0.5,
    "moduli": lambda xp, z, w: xp.abs(z) * 0.5 + xp.abs(w),
    "choices": lambda xp, z, w: xp.where(xp.real(z) > 0, z + w, z - w) * 2.0,
    "equal ones": lambda xp, z, w: xp.where((z == w) | (z != w), z + w, 0.0),
    "finite ones": lambda xp, z, w: xp.where(xp.isfinite(z), z * w, w),
    "to single": lambda xp, z, w: (z + w).astype(np.complex64).astype(np.complex128) * 1j,
}


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", CHAINS)
def test_chains(name, count):
    check(CHAINS[name], numbers(count), numbers(count, seed=1))


@pytest.mark.parametrize("shape", [(40, 130), (130, 40), (3, 5000), (97, 97)])
def test_rows_columns_and_parts(shape):
    rows, columns = shape
    z = numbers(rows, columns)
    check(lambda _, z, row: z * row + z, z, numbers(columns, seed=1))
    check(lambda _, z, column: z * column[:, None] - z, z, numbers(rows, seed=1))
    check(lambda _, z, scalar: z * scalar + scalar, z, numbers(1, seed=1)[0])
    check(lambda _, z: z[1:-1, 1:-1] * 4.0 - z[:-2, 1:-1] - z[2:, 1:-1] - 1j * z[1:-1, 2:], z)
    check(lambda xp, z: xp.pad(z * 1j, 2) + 1.0, z)
    check(lambda xp, z: xp.concatenate([z * z, z + 1.0], 1) * 1j, z)
    check(lambda xp, z: xp.roll(z, 3, 1) * xp.conj(z), z)
    check(lambda _, z: z[::2, ::3] * 2.0 + 1j, z)
    check(lambda xp, z: xp.real(z).T + xp.imag(z).T, z)


def test_sums():
    z, w = numbers(300, 200), numbers(300, 200, seed=1)
    for axis in (0, 1, None):
        found = on_plugin(lambda z, w, axis=axis: (z * w - z).sum(axis), z, w)
        # The largest of the sums is about 60; each of its up to 60,000 terms is rounded.
        np.testing.assert_allclose(found, (z * w - z).sum(axis), rtol=0, atol=1e-11)
    found = on_plugin(lambda z, w: (jnp.vdot(z, w), (jnp.abs(z) ** 2).sum()), z, w)
    np.testing.assert_allclose(found[0], np.vdot(z, w), rtol=0, atol=1e-11)
    np.testing.assert_allclose(found[1], (np.abs(z) ** 2).sum(), rtol=1e-13)


def test_loops():
    c = numbers(64, 130) * 0.5

    def iterate(xp, c):
        if xp is np:
            z = np.zeros_like(c)
            for _ in range(20):
                z = z * z * 0.5 + c
            return z
        return lax.fori_loop(0, 20, lambda _, z: z * z * 0.5 + c, jnp.zeros_like(c))

    check(iterate, c)


def test_moduli_of_all_sizes():
    """Neither overflow nor underflow: `hypot` is the oracle, within two ULP of its result."""
    rng = np.random.default_rng(3)
    exponents = rng.integers(-1070, 1023, (2, 5000))
    real, imaginary = np.ldexp(rng.uniform(1, 2, (2, 5000)), exponents)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1.7e308]
    pairs = np.array([(x, y) for x in special for y in special]).T
    real, imaginary = np.concatenate([real, pairs[0]]), np.concatenate([imaginary, pairs[1]])
    z = real + 0j
    z.imag = imaginary
    found = on_plugin(lambda z: jnp.abs(z) * 1.0 + 0.0, z)
    with np.errstate(over="ignore"):
        expected = np.hypot(real, imaginary)
    np.testing.assert_array_max_ulp(found[~np.isnan(expected)], expected[~np.isnan(expected)], maxulp=2)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))


def test_numbers_that_are_not_finite():
    """A zero, an infinity or NaN in one part stays out of the sums and choices of the other."""
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0])
    z = np.zeros((6, 6), np.complex128)
    z.real, z.imag = np.broadcast_arrays(special[:, None], special[None])
    z = np.tile(z, (40, 1))
    found = on_plugin(lambda z: (jnp.where(z.real > 0, z + 1.0, -z), jnp.conj(z), jnp.isfinite(z) & (z == z)), z)
    expected = (np.where(z.real > 0, z + 1.0, -z), np.conj(z), np.isfinite(z) & (z == z))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(np.signbit(np.real(ours)), np.signbit(np.real(theirs)))
