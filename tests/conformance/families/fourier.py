"""Fourier transforms."""

from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

from conformance import inputs
from conformance.cases import Case, family
from conformance.compare import Tolerance

_NEAR = Tolerance(24, of_largest=True, reason="another factorisation of the transform; errors grow with its logarithm")


@family
def fft(rng: np.random.Generator) -> Iterator[Case]:
    """All kinds, of one to three dimensions, of lengths that are powers of two, prime, one and zero."""
    for dtype, real in (("complex64", "float32"), ("complex128", "float64")):
        for shape in ((8,), (7,), (1,), (3, 30), (5, 97), (2, 1024)):
            x, r = inputs.moderate(rng, dtype, shape), inputs.moderate(rng, real, shape)
            yield Case("fft", dtype, f"fft {shape}", jnp.fft.fft, [x], _NEAR)
            yield Case("fft", dtype, f"ifft {shape}", jnp.fft.ifft, [x], _NEAR)
            yield Case("fft", real, f"rfft {shape}", jnp.fft.rfft, [r], _NEAR)
            yield Case(
                "fft",
                dtype,
                f"irfft {shape}",
                lambda x, n=shape[-1]: jnp.fft.irfft(x[..., : n // 2 + 1], n),
                [x],
                _NEAR,
            )
        x, r = inputs.moderate(rng, dtype, (3, 4, 6, 5)), inputs.moderate(rng, real, (3, 4, 6, 5))
        yield Case("fft", dtype, "fft2", jnp.fft.fft2, [x], _NEAR)
        yield Case("fft", dtype, "ifftn", lambda x: jnp.fft.ifftn(x, axes=(1, 2, 3)), [x], _NEAR)
        yield Case("fft", real, "rfftn", lambda r: jnp.fft.rfftn(r, axes=(1, 2, 3)), [r], _NEAR)
        yield Case("fft", real, "round trip", lambda r: jnp.fft.irfft2(jnp.fft.rfft2(r), (6, 5)), [r], _NEAR)
