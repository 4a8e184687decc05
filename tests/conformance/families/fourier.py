"""Fourier transforms: every function of jnp.fft, and the op on awkward lengths."""

from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np
from jax import lax

from conformance import inputs
from conformance.cases import Case, family
from conformance.compare import Tolerance

_NEAR = Tolerance(24, of_largest=True, reason="another factorisation of the transform; errors grow with its logarithm")
_DTYPES = ("float32", "float64", "complex64", "complex128")
_LENGTHS = ((8,), (7,), (1,), (3, 30), (5, 97), (2, 1024), (0, 4))
_PLANES = ((4, 6), (1, 1), (3, 5), (2, 7, 8), (16, 9))

# Of each function: the shapes it is called on.
NUMPY = {
    **dict.fromkeys(("fft", "ifft", "hfft", "ihfft", "irfft", "rfft"), _LENGTHS),
    **dict.fromkeys(("fft2", "fftn", "ifft2", "ifftn", "irfft2", "irfftn", "rfft2", "rfftn"), _PLANES),
    **dict.fromkeys(("fftshift", "ifftshift"), (*_LENGTHS, *_PLANES)),
}
# Functions of a length instead.
NUMPY_SIZES = ("fftfreq", "rfftfreq")
_OF_REAL = ("rfft", "ihfft", "rfft2", "rfftn")


@family
def numpy_fft(rng: np.random.Generator) -> Iterator[Case]:
    """jnp.fft."""
    for name, shapes in NUMPY.items():
        function = getattr(jnp.fft, name)
        for dtype in _DTYPES[:2] if name in _OF_REAL else _DTYPES:
            for shape in shapes:
                if name in ("hfft", "irfft", "irfft2", "irfftn") and shape[-1] == 1:
                    shape = (*shape[:-1], 2)  # a transform of no elements otherwise
                x = inputs.moderate(rng, dtype, shape)
                yield Case(f"jnp.fft.{name}", dtype, f"{shape}", function, [x], _NEAR)
    for name in NUMPY_SIZES:
        for dtype in _DTYPES[:2]:
            for n in (1, 2, 3, 8, 97):
                call = lambda n=n, name=name, dtype=dtype: getattr(jnp.fft, name)(n, dtype=dtype)  # noqa: E731
                yield Case(f"jnp.fft.{name}", dtype, f"{n}", call, [], _NEAR)


@family
def fft(rng: np.random.Generator) -> Iterator[Case]:
    """All kinds, of one to three dimensions, of lengths that are powers of two, prime, one and zero."""
    for dtype, real in (("complex64", "float32"), ("complex128", "float64")):
        for shape, lengths in (
            ((8,), (8,)),
            ((7,), (7,)),
            ((1,), (1,)),
            ((3, 30), (30,)),
            ((2, 4099), (4099,)),
            ((2, 4, 6), (4, 6)),
            ((3, 4, 6, 5), (4, 6, 5)),
            ((0, 8), (8,)),
        ):
            x, r = inputs.moderate(rng, dtype, shape), inputs.moderate(rng, real, shape)
            half = x[..., : shape[-1] // 2 + 1]
            for kind, operand in (("FFT", x), ("IFFT", x), ("RFFT", r), ("IRFFT", half)):

                def transform(x, kind=kind, lengths=lengths):
                    return lax.fft(x, kind, lengths)

                at = real if kind == "RFFT" else dtype
                yield Case("fft", at, f"{kind} {shape} {lengths}", transform, [operand], _NEAR)
