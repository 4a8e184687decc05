"""What tests of every host need: the libraries of this workspace. No host is imported here."""

import os
import pathlib

import pytest

RELEASE = pathlib.Path(__file__).parents[1] / "target" / "release"


@pytest.fixture(scope="session")
def library_path():
    """The path of a library by its crate's name: in `OXCALL_TEST_LIBS`, or where `cargo build --release` puts it."""
    folder = pathlib.Path(os.environ.get("OXCALL_TEST_LIBS", RELEASE))

    def path(name):
        for suffix in (".so", ".dylib"):
            if (found := folder / f"lib{name}{suffix}").exists():
                return found
        return pytest.fail(f"{folder} has no {name}; `cargo build --release --package {name}` makes it")

    return path
