"""Which libraries: those whose source distributions have their tests."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Library:
    """A library, and where its tests are."""

    name: str
    """As pip knows it."""
    version: str
    tests: str
    """The files of tests, as a pattern below the source distribution."""
    without: tuple[str, ...] = ()
    """Beginnings of paths that are left out: they need packages that are not installed, or hours."""


LIBRARIES = (
    Library("chex", "0.1.92", "chex/_src/*_test.py"),
    Library("optax", "0.2.8", "optax/**/*_test.py"),
    Library("dm-haiku", "0.0.17", "haiku/_src/**/*_test.py", without=("haiku/_src/integration/jax2tf",)),
    Library("flax", "0.12.8", "tests/**/*_test.py", without=("tests/tensorboard_test", "tests/import_test")),
)
