"""A program that is timed, and the numbers that it gets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np


class Program(NamedTuple):
    """A function with its inputs.

    ``floor`` is the least ratio that is wanted of it; ``calls_lapack`` says whether XLA:CPU calls LAPACK for it, and
    ``compared`` takes from its results what has to agree: eigenvectors, for one, may differ in sign.
    """

    name: str
    function: Callable[..., Any]
    inputs: Sequence[Any]
    floor: float = 0.5
    calls_lapack: bool = False
    compared: Callable[[Any], Any] = lambda results: results


class Numbers:
    """Random inputs, the same in every run."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)

    def normal(self, *shape: int, dtype: str = "float32") -> np.ndarray:
        """Normal numbers."""
        return self._rng.standard_normal(shape).astype(jnp.dtype(dtype))

    def uniform(self, low: float, high: float, *shape: int) -> np.ndarray:
        """Numbers of type f32 between two others."""
        return self._rng.uniform(low, high, shape).astype("float32")

    def integers(self, limit: int, *shape: int) -> np.ndarray:
        """Integers of type i32, from 0 and below a limit."""
        return self._rng.integers(0, limit, shape).astype("int32")

    def positive(self, *shape: int) -> np.ndarray:
        """Matrices, or one, that are positive definite."""
        root = self.normal(*shape)
        return root @ root.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1], dtype="float32")
