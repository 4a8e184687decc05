"""JAX's persistent compilation cache for the plugin's platforms.

JAX uses the cache on platforms that it lists, and decides once in a process, when the first program is compiled: if
that is for another platform, the CPU's programs are not stored either.
"""

from __future__ import annotations

import functools
from typing import Any

_platforms: set[str] = set()


def serve_platform(platform: str) -> None:
    """Lets programs for `platform` be stored where `jax_compilation_cache_dir` says."""
    _platforms.add(platform)
    _take_over()


class _Supported:
    """The checks that JAX makes of a client before it uses the cache, answered as its CPU client does."""

    platform = "cpu"
    supports_executable_serialization = True


@functools.cache
def _take_over() -> None:
    from jax._src import compilation_cache

    original = compilation_cache.is_cache_used

    @functools.wraps(original)
    def is_cache_used(backend: Any) -> bool:
        return original(_Supported() if backend.platform in _platforms else backend)

    compilation_cache.is_cache_used = is_cache_used
