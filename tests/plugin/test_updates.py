"""Updates of parts of arrays, padding and rolls, which programs write where they belong, beside stock JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

SHAPES = [(40, 130), (130, 40), (1, 9000), (97, 97), (5, 40, 70), (9000,)]
DTYPES = ["float32", "float16", "bfloat16", "int8", "int32", "float64", "complex64"]


def integers(shape, dtype="float32", seed=0):
    """Integers so small that sums of them are exact."""
    return jnp.asarray(np.random.default_rng(seed).integers(-8, 9, shape)).astype(dtype)


def check(function, *operands):
    """The plugin gives what stock JAX gives, to the bit."""

    def on(platform):
        with jax.default_device(jax.devices(platform)[0]):
            return [np.asarray(result) for result in jax.tree.leaves(jax.jit(function)(*operands))]

    for found, expected in zip(on("oxcall"), on("cpu"), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


def inside(shape, edge=1):
    return tuple(slice(edge, -edge) if size > 2 * edge else slice(None) for size in shape)


METHODS = {
    "set": lambda part, x: part.set(x),
    "add": lambda part, x: part.add(x),
    "multiply": lambda part, x: part.multiply(x),
    "min": lambda part, x: part.min(x),
    "max": lambda part, x: part.max(x),
    "apply": lambda part, _: part.apply(lambda x: x * x + 1),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", SHAPES)
def test_parts_inside_of_arrays(shape, method):
    part = inside(shape)
    x, y = integers(shape), integers(shape, seed=1)
    check(lambda x, y: METHODS[method](x.at[part], y[part] + y[part]), x, y)
    check(lambda x, y: METHODS[method](x.at[part], 3), x, y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_any_type(dtype):
    x, y = integers((60, 150), dtype), integers((60, 150), dtype, seed=1)
    check(lambda x, y: x.at[1:-1, 1:-1].add(y[1:-1, 1:-1] * y[2:, 1:-1]), x, y)
    check(lambda x, y: jnp.pad(x + y, ((1, 2), (3, 0)), constant_values=2), x, y)
    check(lambda x: jnp.roll(x, (7, 60), (0, 1)), x)


@pytest.mark.parametrize("shape", [(40, 130), (97, 97), (200, 64)])
def test_what_is_read_around_a_part(shape):
    """A stencil reads what it overwrites, also once more after it, and in a loop; boundaries are set in turn."""
    x = integers(shape)

    def neighbours(x):
        return x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2]

    def step(x):
        x = x.at[1:-1, 1:-1].set(neighbours(x) * 0.25)
        x = x.at[0].set(1).at[-1].set(x[-2])
        return x.at[:, 0].set(x[:, 1]).at[:, -1].set(0)

    check(lambda x: (x.at[1:-1, 1:-1].set(neighbours(x)), x.sum()), x)
    check(lambda x: lax.fori_loop(0, 5, lambda _, x: step(x), x), x)
    check(lambda x: lax.scan(lambda x, _: (step(x), x[3]), x, None, length=4), x)


def fields(e, x, y):
    """A step of Maxwell's equations in two dimensions: each field is a part of itself and of differences of others."""
    x = x.at[:, :-1].add(e[:, :-1] - e[:, 1:])
    y = y.at[:-1].add(e[1:] - e[:-1])
    inner = (y[1:-1, 1:-1] - y[:-2, 1:-1]) - (x[1:-1, 1:-1] - x[1:-1, :-2])
    return e.at[1:-1, 1:-1].add(inner), x, y


@pytest.mark.parametrize("shape", [(70, 130), (130, 70), (66, 66)])
def test_fields_that_update_each_other(shape):
    operands = [integers(shape, seed=seed) for seed in range(3)]
    check(fields, *operands)
    check(lambda *operands: lax.fori_loop(0, 4, lambda _, all: fields(*all), operands), *operands)


def test_a_donated_array_is_updated_in_place(on_plugin):
    x, y = integers((300, 300)), integers((300, 300), seed=1)
    expected = np.asarray(x).copy()
    expected[1:-1, 1:-1] += np.asarray(y)[1:-1, 1:-1] * 2
    x = jax.device_put(np.asarray(x), on_plugin)
    address = x.unsafe_buffer_pointer()
    step = jax.jit(lambda x, y: x.at[1:-1, 1:-1].add(y[1:-1, 1:-1] * 2), donate_argnums=0)
    result = step(x, jax.device_put(np.asarray(y), on_plugin))
    np.testing.assert_array_equal(result, expected)
    assert x.is_deleted() and result.unsafe_buffer_pointer() == address


def test_small_parts_of_large_arrays():
    """Neither what is read elsewhere nor an update that another op needs is computed in place."""
    x = integers((200, 300))
    check(lambda x: x.at[150:170].set(x[:20] * 2), x)
    check(lambda x: (lambda y: (x.at[1:-1].set(y), y * 3))(x[1:-1] + 1), x)
    check(lambda x: (lambda y: (x.at[1:-1].set(y), (-x).at[:-2].set(y)))(x[1:-1] + 1), x)
    check(lambda x: (lambda y: y.at[1:-1].set(y[1:-1] * y[2:]))(x * 2), x)


@pytest.mark.parametrize("pads", [((1, 1), (1, 1)), ((0, 3), (0, 0)), ((2, 0), (0, 70)), ((0, 0), (64, 0))])
def test_padding_of_what_is_computed(pads):
    x = integers((50, 120))
    check(lambda x: jnp.pad(x * 2 + 1, pads, constant_values=5), x)
    check(lambda x: lax.pad(x * 2, jnp.float32(-0.0), [(low, high, 0) for low, high in pads]), x)
    check(lambda x: jnp.pad(jnp.pad(x * 2, pads) * 3, 1), x)


ROLLS = {
    "roll": lambda x: jnp.roll(x, 33, -1),
    "roll twice": lambda x: jnp.roll(jnp.roll(x, 5, 0), -7, -1),
    "shift": jnp.fft.fftshift,
    "edge": lambda x: jnp.pad(x, 2, mode="edge"),
    "wrap": lambda x: jnp.pad(x, 9, mode="wrap"),
    "reflect": lambda x: jnp.pad(x, 4, mode="reflect"),
    "blocks": lambda x: jax.scipy.linalg.block_diag(x, x, x),
    "halves": lambda x: jnp.concatenate([x[: len(x) // 2], x[1:], -x[:3]]),
    "quarters": lambda x: jnp.block([[x, x[:, :70]], [x[:20], x[:20, 5:75]]]),
}


@pytest.mark.parametrize("name", ROLLS)
@pytest.mark.parametrize("shape", [(40, 130), (97, 97), (64, 200)])
def test_arrays_of_boxes_of_others(shape, name):
    x = integers(shape)
    check(ROLLS[name], x)
    check(lambda x: (ROLLS[name](x), ROLLS[name](x * 2) + 1), x)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 48, 49, 63, 64, 65])
@pytest.mark.parametrize("dtype", ["int8", "bfloat16", "float32", "complex128"])
def test_rows_of_a_few_elements(width, dtype):
    """Rows that are gathered, or change places, among them the last of an array."""
    x = integers((123, width), dtype)
    indices = np.random.default_rng(2).integers(-3, 130, (5, 40))
    check(lambda x: x[indices], x)
    check(lambda x: x.reshape(3, 41, width).transpose(1, 0, 2), x)
    check(lambda x: x.at[indices[0]].get(mode="fill", fill_value=7), x)


def test_an_array_that_is_updated_twice():
    """In one program, and donated: one of the results is not in its place."""
    x, y = integers((90, 130)), integers((90, 130), seed=1) ** 2

    def both(x, y):
        root = jnp.sqrt(y[1:-1])
        return x.at[1:-1].set(root + y[1:-1]), x.at[2:].set(root * 2)

    check(both, x, y)
    expected = [np.asarray(array) for array in jax.jit(both)(x, y)]
    with jax.default_device(jax.devices("oxcall")[0]):
        operands = [jnp.asarray(np.asarray(array)) for array in (x, y)]
        found = jax.jit(both, donate_argnums=0)(*operands)
    for result, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)
