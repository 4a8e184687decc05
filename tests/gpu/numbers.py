"""Inputs, and distances in units of the last place."""

import numpy as np

# Bits of the fraction, and the exponent of the least normal number.
_FORMATS = {"float64": (52, -1022), "float32": (23, -126), "float16": (10, -14), "bfloat16": (7, -126)}


def values(rows, n, seed):
    """Numbers between -4 and 4, in float32."""
    return np.random.default_rng(seed).uniform(-4.0, 4.0, (rows, n)).astype(np.float32)


def ulps(found, expected, dtype):
    """The largest distance in units of the last place of a format; arguments are arrays of float64."""
    digits, least = _FORMATS[dtype]
    scale = np.maximum(np.abs(expected), 2.0**least)
    unit = 2.0 ** (np.floor(np.log2(scale)) - digits)
    return float(np.max(np.abs(found - expected) / unit, initial=0.0))
