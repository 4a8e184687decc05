"""The hook's settings: the table `[tool.hatch.build.hooks.oxcall]` of pyproject.toml, and OXCALL_PORTABLE."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from typing import Any

from oxcall._errors import BuildError, listing, nearest
from oxcall._signature import is_name

TABLE = "[tool.hatch.build.hooks.oxcall]"
PORTABLE = "OXCALL_PORTABLE"
# Settings that hatchling itself reads.
_HATCH = ("dependencies", "enable-by-default", "require-runtime-dependencies", "require-runtime-features")


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings.

    Attributes:
        module: the Python package that gets the library; by default the project's name, with `_` for `-`.
        crate: the folder of the crate's Cargo.toml, from the project's folder.
        features: features of the crate.
        portable: whether the library is linked for glibc 2.17, with Zig's linker.
    """

    module: str
    crate: str = "."
    features: tuple[str, ...] = ()
    portable: bool = False


_KINDS: dict[str, tuple[type, str]] = {
    "module": (str, "a string"),
    "crate": (str, "a string"),
    "features": (list, "a list of strings"),
    "portable": (bool, "true or false"),
}


def settings_of(table: Mapping[str, Any], project: str) -> Settings:
    """The settings of a project.

    Args:
        table: the hook's table.
        project: the project's name.

    Raises:
        BuildError: there is no such setting, or it has another type.
    """
    given = {name: value for name, value in table.items() if name not in _HATCH}
    for name, value in given.items():
        if name not in _KINDS:
            hint = nearest(name, _KINDS) or f"; the settings are {listing(_KINDS)}"
            raise BuildError(f"{TABLE} of pyproject.toml has no setting `{name}`{hint}")
        kind, words = _KINDS[name]
        items = value if isinstance(value, list) else []
        if not isinstance(value, kind) or not all(isinstance(item, str) for item in items):
            raise BuildError(f"`{name}` in {TABLE} of pyproject.toml must be {words}, not {value!r}")
    given["features"] = tuple(given.get("features", ()))
    given.setdefault("module", re.sub(r"[-.]+", "_", project))
    if os.environ.get(PORTABLE, "0") not in ("", "0"):
        given["portable"] = True
    settings = Settings(**given)
    if not is_name(settings.module):
        raise BuildError(
            f"`{settings.module}` cannot be imported in Python: set `module` in {TABLE} of pyproject.toml to the name "
            "of the package"
        )
    return settings
