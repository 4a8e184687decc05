"""How the dimensions `..b` of a call are split among devices."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True)
class Tiles:
    """The tiling of an array, as in XLA's shardings.

    Attributes:
        dims: into how many parts each dimension of the array is split.
        devices: the devices by part, of shape `(*dims, copies, groups)`: all devices of one group run one program, and
            all copies have the same part.
    """

    dims: tuple[int, ...]
    devices: np.ndarray[Any, Any]


@dataclasses.dataclass(frozen=True)
class Split:
    """A split of the dimensions of a batch.

    Attributes:
        parts: into how many parts each of them is split.
        devices: the devices by part, of shape `(*parts, copies, groups)`.
    """

    parts: tuple[int, ...]
    devices: np.ndarray[Any, Any]

    @classmethod
    def none(cls) -> Split:
        """All of it on one device."""
        return cls((), np.zeros((1, 1), int))

    @property
    def is_split(self) -> bool:
        """Whether there is more than one part."""
        return any(number > 1 for number in self.parts)

    def tiles(self, rank: int, place: int | None) -> Tiles:
        """The tiling of an array that has the batch at this place; without a place, each device has all of it."""
        before, parts = (0, ()) if place is None or not self.parts else (place, self.parts)
        dims = (*(1,) * before, *parts, *(1,) * (rank - before - len(parts)))
        return Tiles(dims, self.devices.reshape(*dims, -1, self.devices.shape[-1]))

    def groups(self) -> np.ndarray[Any, Any]:
        """The devices whose sums over their parts add up, one group in each row."""
        return self.devices.reshape(math.prod(self.parts), -1).T


@dataclasses.dataclass(frozen=True)
class Placed:
    """An array of a call.

    Attributes:
        shape: its shape.
        tiles: its tiling, if it has one.
        place: its first dimension of the batch, if it has the batch.
    """

    shape: Sequence[int]
    tiles: Tiles | None
    place: int | None


def choose(arrays: Sequence[Placed], count: int) -> Split | None:
    """The finest split that an array has of a batch of so many dimensions, and the first of equal ones.

    Returns:
        The split, whose parts are all equal, and which may have a single part; ``None`` where no array is tiled.
    """
    splits = [_split(array.shape, array.tiles, array.place, count) for array in arrays if array.tiles is not None]
    return max(splits, key=lambda split: math.prod(split.parts), default=None)


def _split(shape: Sequence[int], tiles: Tiles, place: int | None, count: int) -> Split:
    """The split of the batch in a tiling. A dimension whose parts would not be equal is left whole.

    XLA fills unequal parts up with anything, which a sum would add, and which a kernel may refuse.
    """
    rank, devices = len(tiles.dims), tiles.devices
    chosen = () if place is None else range(place, place + count)
    batch = [axis for axis in chosen if shape[axis] % tiles.dims[axis] == 0]
    others = [axis for axis in range(rank) if axis not in batch]
    moved = devices.transpose(*batch, *others, rank, rank + 1)
    parts = (1,) * count if place is None else tuple(tiles.dims[axis] if axis in batch else 1 for axis in chosen)
    return Split(parts, moved.reshape(*parts, -1, devices.shape[-1]))
