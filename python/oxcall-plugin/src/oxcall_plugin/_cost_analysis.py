"""`jax.jit(f).lower(...).cost_analysis()` on the plugin's platforms.

jaxlib estimates costs before compilation for its own clients only, and JAX says so of every plugin. Compiling takes the
plugin milliseconds: the estimate is that of the compiled program.
"""

from __future__ import annotations

import functools
from typing import Any

_platforms: set[str] = set()


def serve_platform(platform: str) -> None:
    """Makes JAX answer for programs of a platform."""
    from jax._src.interpreters import pxla

    if not _platforms:
        known = pxla.MeshComputation.cost_analysis

        @functools.wraps(known)
        def cost_analysis(lowering: Any) -> Any:
            if getattr(lowering.compile_args["backend"], "platform", None) in _platforms:
                cost = lowering.compile().cost_analysis()
                # Before 0.5, JAX has one for each of a program's modules, of which there is one.
                return cost[0] if isinstance(cost, list) else cost
            return known(lowering)

        pxla.MeshComputation.cost_analysis = cost_analysis
    _platforms.add(platform)
