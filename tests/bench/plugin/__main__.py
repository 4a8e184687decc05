"""Times programs on both platforms: ``python -m bench.plugin GALLERY BENCH_OPS PAGE SCRATCH [NAME]... [OPTION]...``."""

from __future__ import annotations

import contextlib
import sys

from bench.plugin import load, options

if __name__ == "__main__":
    chosen = options.parse(sys.argv[1:])
    if chosen.condition == options.HUGE_PAGES:
        options.with_huge_pages()
    from bench.plugin import sets  # JAX, only where the process is the one that stays

    with load.on_every_core() if chosen.condition == options.LOAD else contextlib.nullcontext():
        sys.exit(sets.run(chosen))
