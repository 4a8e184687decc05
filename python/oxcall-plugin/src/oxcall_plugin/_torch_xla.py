"""The plugin as a device of torch_xla, which finds it by the entry point ``torch_xla.plugins``."""

from __future__ import annotations

import os
import warnings

from torch_xla.experimental import plugins

from oxcall_plugin import client_options, library_path
from oxcall_plugin._libraries import with_images


class OxcallDevice(plugins.DevicePlugin):
    """``PJRT_DEVICE=OXCALL``: the devices of this machine's cores, all of one process.

    Options are those of :func:`oxcall_plugin.configure` and of the environment.
    """

    def __init__(self) -> None:
        super().__init__()
        self._forced: dict[str, int] = {}

    def library_path(self) -> str:
        return library_path()

    def client_create_options(self) -> dict[str, str | int]:
        return with_images({**client_options(), **self._forced})

    def physical_chip_count(self) -> int:
        # Processes that `xmp.spawn` starts; it runs a thread for each device of a process.
        return 1

    def configure_single_process(self) -> None:
        self._forced["num_devices"] = 1

    def configure_multiprocess(self, local_rank: int, local_world_size: int) -> None:
        if local_world_size > 1:
            warnings.warn(
                "each process has an OXCALL device of its own, and torch_xla's world in it is that device: neither its "
                "collectives nor its process group `xla` join processes; `gloo` does",
                stacklevel=2,
            )
            # As one device each, the processes share the cores.
            cores = len(os.sched_getaffinity(0))
            self._forced = {"num_devices": 1, "num_threads": max(1, cores // local_world_size)}
