"""The floating-point environment of the thread that calls: results do not depend on it."""

import contextlib
import ctypes
import platform
import struct
import sys

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

import extent

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="the layout of fenv_t is that of glibc on x86-64"
)

# Values of MXCSR, with all exceptions masked.
ENVIRONMENTS = {
    "results flushed to zero": 0x9F80,
    "operands and results flushed to zero": 0x9FC0,
    "rounding down": 0x3F80,
    "rounding up, flushed": 0xDFC0,
    "rounding to zero": 0x7F80,
}

NUMBERS = np.array([1e-30, -1e-10, 3.1e-39, 1.0, -0.1, 0.3, 1.7, -2.9, 7.3e-5, 1e-20, 88.1, -87.9, 1.1e30, -4.7e-41])


@contextlib.contextmanager
def environment(mxcsr):
    """This thread has another floating-point environment meanwhile."""
    libm = ctypes.CDLL("libm.so.6")
    before = ctypes.create_string_buffer(32)
    libm.fegetenv(before)
    libm.fesetenv(before.raw[:28] + struct.pack("<I", mxcsr))
    try:
        yield
    finally:
        libm.fesetenv(before.raw)


def operands(dtype, count):
    """Numbers of a dtype, whose products and quotients are subnormal or inexact."""
    x = NUMBERS * 1e-270 if dtype in ("float64", "complex128") else NUMBERS
    if dtype.startswith("complex"):
        x = x + 1j * np.roll(x, 3)
    with np.errstate(all="ignore"):
        return [np.roll(x, shift).astype(getattr(ml_dtypes, dtype, dtype)) for shift in range(count)]


UNARY = (lax.exp, lax.log, lax.sin, lax.cos, lax.tan, lax.tanh, lax.sqrt, lax.rsqrt, lax.logistic, lax.expm1, lax.log1p)
BINARY = (lax.add, lax.sub, lax.mul, lax.div, lax.pow)
MATRICES = (
    lambda x, y: x.reshape(2, 7) @ y.reshape(7, 2),
    lambda x, y: lax.linalg.triangular_solve(x[3:4, None], y[5:6, None], left_side=True),
    lambda x, y: jnp.linalg.cholesky(x[3:4, None] * jnp.conj(x[3:4, None])),
)
ROWS = (jnp.sum, jnp.cumsum, jnp.sort, jnp.fft.fft, lambda x: lax.cumprod(x))


def programs():
    """Functions and operands, by name."""
    for dtype in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128"):
        is_narrow = dtype in ("float16", "bfloat16")
        functions = [*UNARY, *BINARY, *(() if is_narrow else MATRICES), *(ROWS[:3] if is_narrow else ROWS)]
        for number, function in enumerate(functions):
            two = function in BINARY or function in MATRICES
            yield f"{getattr(function, '__name__', '')} {number} of {dtype}", function, operands(dtype, 1 + two)


def results(function, arguments):
    """What is computed when the program is compiled, and when it is run: here, and elsewhere with much more to do."""
    # Functions of their own are compiled anew.
    folded = jax.jit(lambda: function(*map(jnp.asarray, arguments)))()
    run = jax.jit(lambda *x: function(*x))(*arguments)
    return [np.asarray(array).tobytes() for array in (folded, run)]


def test_folded_and_run_are_equal_in_each(on_plugin):
    cases = list(programs())
    expected = {name: results(function, arguments) for name, function, arguments in cases}
    unequal = [name for name, (folded, run) in expected.items() if folded != run]
    assert not unequal
    for environment_name, mxcsr in list(ENVIRONMENTS.items())[:: extent.pick(3, thorough=1)]:
        with environment(mxcsr):
            found = {name: results(function, arguments) for name, function, arguments in cases}
        different = [name for name, bits in found.items() if bits != expected[name]]
        assert not different, environment_name


@pytest.mark.parametrize("mxcsr", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_other_threads_do_not_inherit_it(on_plugin, mxcsr):
    x = np.full(1 << 20, 1e-30, np.float32)
    scale = np.float32(1e-10)
    with environment(mxcsr):
        y = jax.jit(lambda x, scale: jnp.tanh(x * scale) * 1)(x, scale)
        y.block_until_ready()
    assert (np.asarray(y) == np.float32(1e-40)).all()


@pytest.mark.parametrize("mxcsr", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_transfers_keep_every_bit(on_plugin, mxcsr):
    for dtype in ("float16", "bfloat16", "float32", "float64", "complex64", "int4", "float8_e4m3fn"):
        kind = np.uint16 if dtype in ("float16", "bfloat16") else np.uint8
        bits = np.arange(96, dtype=kind) % 8 if dtype == "int4" else np.arange(96, dtype=kind)
        x = bits.view(getattr(ml_dtypes, dtype, dtype)).reshape(-1, 2)
        with environment(mxcsr):
            there = jax.device_put(x.T)
            back = np.asarray(there)
        assert back.tobytes() == x.T.tobytes(), dtype


def test_the_callers_is_as_it_was(on_plugin):
    libm = ctypes.CDLL("libm.so.6")
    after = ctypes.create_string_buffer(32)
    for mxcsr in ENVIRONMENTS.values():
        with environment(mxcsr):
            jax.jit(lambda x: x * 3 + 1)(np.float32(2)).block_until_ready()
            libm.fegetenv(after)
        (found,) = struct.unpack("<I", after.raw[28:])
        assert found & ~0x3F == mxcsr


def test_products_of_constants_may_be_subnormal(on_plugin):
    assert jax.jit(lambda: jnp.float32(1e-30) * jnp.float32(1e-10))() == np.float32(1e-40)


def test_complex_systems_of_constants_keep_their_scale(on_plugin):
    a, b = np.array([[1 + 1j]], np.complex64), np.array([[7 - 2j]], np.complex64)
    for scale in (1e-37, 1e-30, 1, 1e30, 1e37):
        a_scaled, b_scaled = (a * scale).astype(np.complex64), (b * scale).astype(np.complex64)
        for x in (
            jax.jit(lambda: lax.linalg.triangular_solve(a_scaled, b_scaled, left_side=True))(),  # noqa: B023
            jax.jit(lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True))(a_scaled, b_scaled),
        ):
            np.testing.assert_allclose(x, [[2.5 - 4.5j]], rtol=1e-6)
