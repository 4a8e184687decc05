"""A progress bar: one line rewritten in place on a terminal, a line every ten seconds elsewhere."""

from __future__ import annotations

import sys
import time

_WIDTH = 32


class Bar:
    """Shows how many of ``total`` steps are done, and how long the rest will take."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self.terminal = sys.stderr.isatty()
        self.started = self.shown = time.monotonic()

    def step(self) -> None:
        """One more is done."""
        self.done += 1
        now = time.monotonic()
        if now - self.shown >= (0.1 if self.terminal else 10) or self.done == self.total:
            self.shown = now
            self._show(now)

    def line(self, text: str) -> None:
        """Prints a line above the bar."""
        if self.terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        print(text, flush=True)

    def end(self) -> None:
        """Leaves the bar's line."""
        if self.terminal:
            print(file=sys.stderr)

    def _show(self, now: float) -> None:
        full = _WIDTH * self.done // self.total
        left = (now - self.started) / self.done * (self.total - self.done)
        text = f"[{'#' * full}{'.' * (_WIDTH - full)}] {self.done}/{self.total} cases, {left:.0f} s left"
        if self.terminal:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)
