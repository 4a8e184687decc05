"""The one of XLA's flags that the plugin obeys, too."""

from __future__ import annotations

import os
import re


def host_devices() -> dict[str, int]:
    """The option `num_devices` as `--xla_force_host_platform_device_count` in `XLA_FLAGS` says it, if it does.

    XLA reads the flag for every platform that runs on the host, whatever its name.
    """
    counts = re.findall(r"--xla_force_host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", ""))
    return {"num_devices": int(counts[-1])} if counts and int(counts[-1]) > 0 else {}
