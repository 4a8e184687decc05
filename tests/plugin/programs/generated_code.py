"""Runs programs of fused ops and loops, and prints a digest of the bits of each result."""

from __future__ import annotations

import ctypes
import hashlib
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import loops
import numpy as np
import rows

# linux/prctl.h: from now on, no memory of the process becomes executable.
PR_SET_MDWE, REFUSE_EXEC_GAIN = 65, 1

SIZES = [0, 1, 7, 127, 128, 129, 1000, 4099, 70_001]
FEWER = [0, 1, 129, 1000, 70_001]


def special(count: int, is_wide: bool) -> np.ndarray:
    """Numbers of all sizes, and those that functions treat apart: doubles if `is_wide`."""
    rng = np.random.default_rng(count)
    x = rng.standard_normal(count).astype(np.float32) * np.exp(rng.uniform(-20, 20, count)).astype(np.float32)
    odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-45, 3.4e38, 1.0, -1.0, 88.7, -103.9], np.float32)
    x[::3] = np.resize(odd, x[::3].shape)
    x[1::3] = rng.standard_normal(x[1::3].shape)
    if is_wide:
        x = x.astype(np.float64) ** np.where(np.arange(count) % 2, 1, 7)
        odd = np.array([5e-324, -1e-310, 1e300, -1.7e308, 709.7, -745.1, 0.9999999999999999, 27.2])
        x[2::9] = np.resize(odd, x[2::9].shape)
    return x


def layer_norm(x: jax.Array) -> jax.Array:
    """Rows, brought to mean 0 and variance 1."""
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


def threshold(x: jax.Array) -> jax.Array:
    """Comparisons, logic and selection."""
    return jnp.where((x > 0.5) & (x <= 2) | ~(x > -3) ^ jnp.isfinite(x), x * 2 - 1, jnp.where(x != x, 0.25, -x))


def integers(x: jax.Array) -> jax.Array:
    """Integers as wide as the floats: arithmetic, bits, shifts, order."""
    i = jax.lax.bitcast_convert_type(x, jnp.int64 if x.dtype == jnp.float64 else jnp.int32)
    shifted = jax.lax.shift_right_arithmetic(i, 5) ^ jax.lax.shift_right_logical(i * 7, 3) + (i << 2)
    return jnp.where(shifted > i, jnp.clip(shifted, -1000, 1_000_000), jnp.minimum(~i, abs(shifted) & 0xFF00))


def conversions(x: jax.Array) -> jax.Array:
    """From floats to integers of several widths and back."""
    kinds = [jnp.int32, jnp.uint32, jnp.int16, jnp.uint16, jnp.int8, jnp.uint8, jnp.bool_, jnp.bfloat16]
    if x.dtype == jnp.float64:
        kinds += [jnp.int64, jnp.uint64, jnp.float32]
    return sum((x.astype(kind) + (1 if kind != jnp.bool_ else 0)).astype(x.dtype) * 0.5 for kind in kinds)


def interpolated(x: jax.Array) -> jax.Array:
    """Elements of a table between others, at places that are partly outside of it."""
    table = jnp.sin(jnp.arange(120, dtype=x.dtype)).reshape(10, 12)
    places = jnp.stack([jnp.nan_to_num(x) % 12 - 1, jnp.nan_to_num(x) % 13 - 0.5])
    return jax.scipy.ndimage.map_coordinates(table, places, order=1, mode="nearest")


def looked_up(x: jax.Array) -> tuple[jax.Array, ...]:
    """Elements by one and two indices, computed in the same program as the array and as what follows."""
    i = jax.lax.bitcast_convert_type(x.astype(jnp.float32), jnp.int32) >> 7
    j = (i * 7) % 11 - 2
    array = x * 2 - 1
    both = array.at[i % (x.size + 3) - 1].get(mode="clip") + array[jnp.arange(x.size)[::-1]]
    table = jnp.arange(35, dtype=jnp.int32).reshape(5, 7)
    return both * 0.5 - x, table.at[j, i % 9 - 1].get(mode="fill", fill_value=-1) + i, table.at[j, i % 7].add(1)


ELEMENT_WISE: dict[str, Callable[[jax.Array], Any]] = {
    "gelu": jax.nn.gelu,
    "gelu exact": lambda x: jax.nn.gelu(x, approximate=False),
    "silu": jax.nn.silu,
    "softplus": lambda x: jax.nn.softplus(x) - jnp.log(abs(x) + 1),
    "activations": lambda x: (jnp.tanh(x) + jnp.expm1(x), jax.nn.sigmoid(x) * x, jax.nn.relu(x) - jnp.minimum(x, -0.0)),
    "polynomial": lambda x: ((x * 0.1 + 0.2) * x - 0.3) * x / (x * x + 1),
    "roots": lambda x: jnp.sqrt(abs(x)) + jax.lax.rsqrt(abs(x) + 1) - jnp.sign(x),
    "rounding": lambda x: jnp.floor(x) + jnp.ceil(x) * 2 + jnp.round(x) * 3 - jax.lax.round(x) * 4 + jnp.trunc(x),
    "errors": lambda x: jax.scipy.special.erf(x) * jax.scipy.special.erfc(x) + jax.scipy.special.erfinv(x / 4),
    "threshold": threshold,
    "integers": integers,
    "conversions": conversions,
    "maxima": lambda x: (jnp.maximum(x, -x) + jnp.minimum(x, x * 2), jnp.maximum(x, 0), jnp.clip(x, -0.0, 1)),
    "interpolated": interpolated,
    "looked up": lambda x: looked_up(x) if x.size else x,
    "sine": lambda x: jnp.sin(x) * 2 + jnp.cos(x) * x,
}


def programs(count: int, is_wide: bool) -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """All programs over `count` elements."""
    x = special(count, is_wide)
    found: dict[str, tuple[Callable[..., Any], list[Any]]] = {name: (f, [x]) for name, f in ELEMENT_WISE.items()}
    for name in ("gelu", "threshold", "polynomial", "maxima", "activations"):
        found[f"{name}, bfloat16"] = (ELEMENT_WISE[name], [x.astype(jnp.bfloat16)])
        found[f"{name}, float16"] = (ELEMENT_WISE[name], [x.astype(np.float16)])
    found["gelu, gradient"] = (jax.grad(lambda x: jax.nn.gelu(x).sum()), [x])
    found["scalar operand"] = (lambda x, y: (x - y) * y + jnp.exp(-abs(x)), [x, x.dtype.type(0.7)])
    found["shifted"] = (lambda x: jnp.roll(x, 3) * 2 - jnp.pad(x[1:], (0, 1 if x.size else 0)) + x, [x])
    if count > 100 and count % 10 == 0:
        tens = x.reshape(-1, 10)
        found["softmax"] = (jax.nn.softmax, [tens])
        found["layer norm"] = (layer_norm, [tens])
        found["layer norm, gradient"] = (jax.grad(lambda x: (layer_norm(x) ** 3).sum()), [tens])
        found["taken along rows"] = (
            lambda x: jnp.take_along_axis(x, jnp.argsort(-x, -1), -1) - jnp.take_along_axis(x, jnp.argsort(x, 0), 0),
            [tens],
        )
        found["bias"] = (lambda x, bias: jax.nn.relu(x * 2 + bias) - bias, [tens, x[:10]])
    return found


def bits(result: np.ndarray) -> bytes:
    """The bytes of an array, with one NaN for all: which of two NaNs an op gives is not specified."""
    return (np.where(np.isnan(result), np.nan, result) if result.dtype.kind in "fV" else result).tobytes()


def main() -> None:
    """Prints ``SIZE NAME DIGEST`` for each program."""
    is_wide = "--wide" in sys.argv
    jax.config.update("jax_enable_x64", is_wide)
    is_thorough = "--thorough" in sys.argv
    sets = [(count, programs(count, is_wide)) for count in (SIZES if is_thorough else FEWER)]
    for more in (loops, rows):
        sets += [(count, more.programs(count, is_wide)) for count in (more.SIZES if is_thorough else more.FEWER)]
    for count, found in sets:
        for name, (f, args) in found.items():
            results = [np.asarray(result) for result in jax.tree.leaves(jax.jit(f)(*args))]
            parts = [bits(result) for result in results]
            print(count, name, hashlib.sha256(b"".join(parts)).hexdigest()[:16])


if __name__ == "__main__":
    jnp.zeros(1).block_until_ready()
    if "--refuse" in sys.argv and ctypes.CDLL(None).prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0):
        print("this system cannot refuse executable memory")
        sys.exit()
    main()
