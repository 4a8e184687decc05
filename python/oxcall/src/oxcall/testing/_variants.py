"""Operands like those of the user's call, which the op takes as well."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from oxcall.testing._subject import Arrays, Subject, is_inexact, wide


def variants(case: Subject, number: int) -> list[Arrays]:
    """Operands for calls of the same shapes, of which the first are the user's.

    Elements are scaled a little, each by itself, or all of an array alike where the op refuses that, or not at all:
    indices and domains are the op's own.
    """
    found = [case.arrays]
    for index in range(1, number):
        for candidate in _candidates(case, index):
            try:
                case.run(candidate)
            except Exception:  # not an example of what it takes
                continue
            found.append(candidate)
            break
        else:
            found.append(case.arrays)
    return found


def _candidates(case: Subject, index: int) -> Iterator[Arrays]:
    random = np.random.default_rng((case.seed, index))
    floats = any(is_inexact(array) for array in case.arrays)
    if floats:
        yield tuple(
            (wide(array) * random.uniform(0.8, 1.25, array.shape)).astype(array.dtype) if is_inexact(array) else array
            for array in case.arrays
        )
        yield tuple(
            (wide(array) * (1 + index / 16)).astype(array.dtype) if is_inexact(array) else array
            for array in case.arrays
        )
    else:
        yield tuple(np.roll(array, index) for array in case.arrays)
