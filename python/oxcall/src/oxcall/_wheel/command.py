"""`oxcall build`: the wheel of the project in the current folder, by hatchling in this process."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

from oxcall._errors import BuildError
from oxcall._wheel.settings import PORTABLE, TABLE


def build(out: str, *, portable: bool) -> str:
    """Builds the wheel, and gives its path.

    Args:
        out: the folder that gets it.
        portable: whether it is to run on old Linux distributions.

    Raises:
        BuildError: the folder has no project with the hook, or hatchling is missing.
        SystemExit: the build failed, and has said why.
    """
    if importlib.util.find_spec("hatchling") is None:
        raise BuildError("`oxcall build` runs hatchling, which is not installed: `pip install 'oxcall[build]'`")
    _check_project()
    if portable:
        os.environ[PORTABLE] = "1"
    from hatchling.build import build_wheel

    try:
        return os.path.join(out, build_wheel(out))
    except (ValueError, TypeError, OSError) as error:  # of hatchling, for a mistake in pyproject.toml
        raise BuildError(f"hatchling does not build this project; correct pyproject.toml: {error}") from error


def _check_project() -> None:
    try:
        with open("pyproject.toml", "rb") as file:
            content = file.read()
    except FileNotFoundError:
        raise BuildError(
            f"{os.getcwd()} has no pyproject.toml: run this in the folder of a project; `oxcall new NAME` makes one"
        ) from None
    try:
        project = _parsed(content.decode())
    except ValueError as error:
        raise BuildError(f"pyproject.toml cannot be read: correct it: {error}") from None
    tool = project.get("tool", {}).get("hatch", {}).get("build", {})
    hooks = [tool.get("hooks", {}), tool.get("targets", {}).get("wheel", {}).get("hooks", {})]
    if not any("oxcall" in each for each in hooks):
        raise BuildError(f"pyproject.toml does not use oxcall's hook: add the line {TABLE} to it")
    backend = project.get("build-system", {}).get("build-backend")
    if backend != "hatchling.build":
        raise BuildError(
            f'the `build-backend` in pyproject.toml must be "hatchling.build", which runs the hook, not {backend!r}'
        )


def _parsed(text: str) -> Any:
    # Python 3.10 has none of its own; hatchling needs this one there.
    name = "tomllib" if importlib.util.find_spec("tomllib") else "tomli"
    return importlib.import_module(name).loads(text)
