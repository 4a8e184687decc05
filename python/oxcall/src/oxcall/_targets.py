"""Targets: the names under which ops are registered with XLA, and by which programs call them.

An op is registered under three names, whichever libraries are loaded before:

* ``my_ops::scale``, its namespace and its name: what programs call, so that one that is saved finds the op wherever its
  library is loaded, and no op of another library;
* ``my_ops::scale#3f1a...``, the same with the build of the library behind it: what programs call where a process has
  several builds of one library, as after a reload;
* ``scale``, if nothing has this name yet: for programs that are written by hand.

An op whose calls are split among devices has each name a second time, with ``.whole`` appended, for calls that must not
be split.

XLA keeps what a name stands for as long as the process lives. So the first build that is loaded has the first name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from oxcall._abi import Handler
from oxcall._errors import LoadError
from oxcall._manifest import OpInfo
from oxcall._platforms import serve_op

WHOLE = ".whole"
"""What follows the target of calls that are not split."""


class Target:
    """The target of one build of an op."""

    def __init__(self, name: str, build: str, builds: set[str], has_name: bool):
        self._name, self._of_build, self._builds, self._has_name = name, f"{name}#{build}", builds, has_name

    def __str__(self) -> str:
        return self._name if self._has_name and len(self._builds) == 1 else self._of_build


class Targets:
    """The targets of this process."""

    def __init__(self) -> None:
        # What each name stands for: the build, the op and its platforms.
        self._known: dict[str, tuple[Any, ...]] = {}
        self._builds: dict[str, set[str]] = {}

    def register(
        self, jax: Any, build: str, info: OpInfo, infos: Sequence[OpInfo], handlers: Sequence[Handler]
    ) -> Target:
        """Registers all implementations of an op.

        Args:
            jax: the module that knows JAX.
            build: the build of the library.
            info: the implementation that stands for the op.
            infos: all implementations.
            handlers: their handlers.

        Raises:
            LoadError: XLA refuses them.
        """
        named = self._register(jax, info.target, build, infos, handlers)
        if not self._register(jax, f"{info.target}#{build}", build, infos, handlers):
            raise LoadError(
                f"the op `{info.name}` could not be registered: another one has the name {info.target}#{build}"
            )
        self._register(jax, info.name, build, infos, handlers)
        builds = self._builds.setdefault(info.target, set())
        builds.add(build)
        return Target(info.target, build, builds, named)

    def _register(
        self, jax: Any, name: str, build: str, infos: Sequence[OpInfo], handlers: Sequence[Handler]
    ) -> bool:  # fmt: skip
        """Registers a name, unless it stands for something already; whether it stands for this op."""
        key = (build, *((info.target, info.platform) for info in infos))
        if name in self._known or jax.is_queued(name):
            return self._known.get(name) == key
        platforms = {info.platform for info in infos}
        try:
            for info, handler in zip(infos, handlers, strict=True):
                _register_handler(jax, name, info, handler, platforms - {info.platform})
                if infos[0].is_partitioned:
                    _register_handler(jax, f"{name}{WHOLE}", info, handler, platforms - {info.platform})
            if infos[0].is_partitioned:
                from oxcall._partitioner import Partitioner  # imports JAX

                jax.register_partitioner(name, Partitioner(infos[0], name))
        except Exception as error:
            if "duplicate" in str(error).lower():  # registered by someone else, not through this package
                return False
            raise LoadError(f"the op `{info.name}` could not be registered: {error}") from error
        self._known[name] = key
        return True


def build_of(path: str) -> str:
    """A name for the contents of a file."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:12]


_STAGES = ("instantiate", "prepare", "initialize", "execute")


def _register_handler(jax: Any, target: str, info: OpInfo, handler: Handler, others: set[str]) -> None:
    """Registers an implementation for its platform and, if that is the CPU, for those like it but ``others``."""
    stages = {stage: address for stage in _STAGES if (address := getattr(handler, stage))}
    legacy = (handler.gpu_v1, handler.gpu_v2, handler.gpu_v2)
    if info.platform == "Host":
        legacy = (handler.cpu_v1, handler.cpu_v2, handler.cpu_v3)

    def register(platform: str) -> None:
        if platform in others:
            return
        jax.register_typed(target, stages, platform, handler.traits)
        for version, address in enumerate(legacy, start=1):
            if info.legacy and address:
                jax.register_legacy(f"{target}.v{version}", address, platform)

    register(info.platform)
    if info.platform == "Host":
        serve_op(register)
