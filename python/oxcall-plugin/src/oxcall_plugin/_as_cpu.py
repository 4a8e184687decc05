"""The test mode in which the plugin takes the place of JAX's CPU: `OXCALL_PLATFORM_NAME=cpu`.

JAX knows its own platforms by name in many places. Under the name `cpu` the plugin runs what was written for XLA:CPU,
such as JAX's own tests, as it is.
"""

from __future__ import annotations

from oxcall_plugin._xla_flags import host_devices

CPU = "cpu"


def cpu_options() -> dict[str, int]:
    """The number of devices that JAX's options say its CPU has."""
    import jax

    count = int(getattr(jax.config, "jax_num_cpu_devices", -1) or -1)
    return {"num_devices": count} if count > 0 else host_devices()


def take_own_handlers() -> None:
    """Registers jaxlib's own handlers with the plugin, but for those that call Python.

    XLA:CPU has them in a table of its own, from which `jax.ffi` cannot take them. Those that call Python are compiled
    together with XLA, and read its objects, errors for instance, as C++ objects; of another host they are not.
    """
    from jaxlib import xla_client

    for name, stages in xla_client.custom_call_targets("Host").items():
        if "python" not in name:
            xla_client.register_custom_call_target(name, stages, platform=CPU, api_version=1)
