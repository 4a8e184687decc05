"""Other work on the machine: a process for each core that never waits."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

# It ends with its parent, however that ends.
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(100_000))"


@contextlib.contextmanager
def on_every_core() -> Iterator[None]:
    """Keeps every core that this process may use busy."""
    processes = [subprocess.Popen([sys.executable, "-S", "-c", BUSY]) for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()
