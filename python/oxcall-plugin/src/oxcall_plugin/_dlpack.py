"""DLPack in the test mode, in which the plugin takes the place of JAX's CPU."""

from __future__ import annotations

import functools
from typing import Any


@functools.cache
def take_dlpack() -> None:
    """Has `jax.dlpack.from_dlpack` copy what cannot be used where it is; jaxlib does so for XLA:CPU only."""
    import jax
    import numpy as np
    from jaxlib import xla_client

    from oxcall._dlpack import array_of

    view = xla_client._xla.dlpack_managed_tensor_to_buffer

    @functools.wraps(view)
    def to_buffer(dlpack: Any, device: Any, stream: Any, copy: bool | None = None, *options: Any) -> Any:
        if not copy:
            try:
                return view(dlpack, device, stream, False, *options)
            except Exception:  # jaxlib has several types for what it cannot do
                if copy is False:
                    raise
        return jax.device_put(np.array(array_of(dlpack)), device)

    xla_client._xla.dlpack_managed_tensor_to_buffer = to_buffer
