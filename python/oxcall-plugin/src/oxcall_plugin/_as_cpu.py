"""The test mode in which the plugin takes the place of JAX's CPU: `OXCALL_PLATFORM_NAME=cpu`.

JAX knows its own platforms by name in many places. Under the name `cpu` the plugin runs what was written for XLA:CPU,
such as JAX's own tests, as it is.
"""

from __future__ import annotations

import os
import re

CPU = "cpu"


def cpu_options() -> dict[str, int]:
    """The number of devices that JAX's options say its CPU has."""
    import jax

    count = int(getattr(jax.config, "jax_num_cpu_devices", -1) or -1)
    if count < 1:
        flag = re.findall(r"--xla_force_host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", ""))
        count = int(flag[-1]) if flag else -1
    return {"num_devices": count} if count > 0 else {}


def take_own_handlers() -> None:
    """Registers jaxlib's own handlers, those that call Python among them, with the plugin.

    XLA:CPU has them in a table of its own, from which `jax.ffi` cannot take them.
    """
    from jaxlib import xla_client

    for name, stages in xla_client.custom_call_targets("Host").items():
        xla_client.register_custom_call_target(name, stages, platform=CPU, api_version=1)
