"""The libraries of ops that the plugin loads: checked, and copied, as those of `oxcall.load` are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from oxcall_plugin._errors import PluginError

# The function by which the plugin gets the ops of a library.
_ENTRY = "oxcall_register_all"


def with_images(options: Mapping[str, Any]) -> dict[str, Any]:
    """Client options with the files in the place of `libraries`, that of the environment too, that are to be loaded.

    Raises:
        PluginError: one of the libraries is missing, or cannot be loaded here.
    """
    paths = options.get("libraries", os.environ.get("OXCALL_LIBRARIES"))
    if not isinstance(paths, str) or not paths:
        return dict(options)
    images = (_image(path) for path in paths.split(os.pathsep) if path)
    return {**options, "libraries": os.pathsep.join(images)}


def _image(path: str) -> str:
    if os.sep not in path and not os.path.exists(path):
        return path  # the dynamic linker looks for it
    # They import more than a process without libraries needs.
    from oxcall._errors import LoadError
    from oxcall._image import image_of

    try:
        return image_of(os.path.abspath(path), _ENTRY).path
    except LoadError as error:
        raise PluginError(f"a library of ops for the plugin: {error}") from None
