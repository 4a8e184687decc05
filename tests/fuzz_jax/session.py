"""Many programs, in processes that a crash costs one program."""

from __future__ import annotations

import dataclasses
import gc
import os
import pathlib
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

from conformance import workers

from fuzz_jax import DEVICES, case, store
from fuzz_jax.case import Outcome
from fuzz_jax.generate import generate
from fuzz_jax.program import Program
from fuzz_jax.shrink import shrink

LIMIT = 900.0  # seconds for a program and for making it smaller, on a machine that does other things, too
SHRINKING = 120.0  # seconds
SMALLER = "making it smaller"  # a stage
_SHRUNK: set[tuple[str, ...]] = set()  # errors of which a smaller program is known to this process
_SHARE = 10  # of so many programs, one runs on several devices


@dataclasses.dataclass(frozen=True)
class Numbered:
    """What came of the program of a number; a finding has the smaller program in a file."""

    number: int
    outcome: Outcome
    file: pathlib.Path | None = None


@dataclasses.dataclass(frozen=True)
class Programs(workers.Job):
    """The programs of seeds.

    Attributes:
        platform: what is compared with JAX's CPU.
        x64: with 64-bit types or without; None stands for every other program.
        devices: how many devices every program runs on; None stands for some programs on several.
        folder: where findings are written.
        shrinks: whether findings are made smaller.
    """

    platform: str
    x64: bool | None
    devices: int | None
    folder: pathlib.Path
    shrinks: bool

    def prepare(self) -> workers.Runner:
        # What processes say as they end, of which XLA says much.
        words = os.open(self.folder / "stderr.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(words, 2)
        gc.freeze()  # JAX's modules: a tenth of the time goes into looking for garbage among them
        gc.set_threshold(100_000, 20, 100)
        return self._run

    def program(self, number: int) -> Program:
        """The program of a number."""
        x64 = number % 2 == 1 if self.x64 is None else self.x64
        devices = self.devices or (DEVICES if number // 2 % _SHARE == 0 else 1)
        return generate(number, x64, devices)

    def _run(self, number: int, stage) -> Numbered:
        stage("the generator")
        program = self.program(number)
        outcome = case.check(program, self.platform, stage)
        if not outcome.is_finding:
            return Numbered(number, outcome)
        stage(SMALLER)
        return Numbered(number, outcome, self._keep(number, program, outcome))

    def _keep(self, number: int, program: Program, outcome: Outcome) -> pathlib.Path:
        path = self.folder / f"{number}.json"
        store.save(program, f"{outcome.kind}: {outcome.message}", path)
        words = (outcome.kind, *_words(outcome))
        if not self.shrinks or (outcome.kind == "error" and words in _SHRUNK):
            return path
        _SHRUNK.add(words)

        def fails(candidate: Program) -> bool:
            found = case.check(candidate, self.platform)
            return found.kind == outcome.kind and (found.kind == "wrong" or _words(found) == _words(outcome))

        smaller = shrink(program, fails, outcome.output, SHRINKING)
        again = case.check(smaller, self.platform)
        store.save(smaller, f"{again.kind}: {again.message}", path)
        return path

    # What ends a process, or takes too long, is made smaller in processes of its own.
    def failed(self, number: int, stage: str, message: str) -> Numbered:
        path = self.folder / f"{number}.json"
        if stage == SMALLER:
            return Numbered(number, Outcome("wrong", f"see the file: {message}"), path)
        if stage != self.platform:
            return Numbered(number, Outcome("refused", message))
        outcome = Outcome("late" if "longer" in message else "ended", message)
        program = self.program(number)
        store.save(program, f"{outcome.kind}: {message}", path)
        if self.shrinks and outcome.kind == "ended":
            smaller = shrink(program, lambda candidate: _ends(candidate, self.platform, path), 0, SHRINKING)
            store.save(smaller, f"{outcome.kind}: {message}", path)
        return Numbered(number, outcome, path)


def _words(outcome: Outcome) -> list[str]:
    """An error's message without numbers and names."""
    return re.findall("[A-Za-z]{3,}", outcome.message)[:8]


@dataclasses.dataclass(frozen=True)
class Kept(Programs):
    """The programs of files.

    Attributes:
        files: those of the numbers.
    """

    files: tuple[pathlib.Path, ...] = ()

    def program(self, number: int) -> Program:
        return store.load(self.files[number])


def _ends(program: Program, platform: str, path: pathlib.Path) -> bool:
    """Whether a program ends a process of its own."""
    attempt = path.with_suffix(".attempt")
    store.save(program, "", attempt)
    command = [sys.executable, "-m", "fuzz_jax", "--replay", str(attempt), "--platform", platform]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False, env=os.environ)
    attempt.unlink()
    return done.returncode < 0


def run(job: Programs, numbers: range, processes: int) -> Iterator[Numbered]:
    """The outcomes of programs, in the order in which they end."""
    job.folder.mkdir(parents=True, exist_ok=True)
    return workers.run(job, numbers, processes, LIMIT)


def summary(counts: Counter[str]) -> str:
    """What came of all of them, in a line."""
    findings = sum(counts[kind] for kind in ("wrong", "error", "ended", "late"))
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    return f"{sum(counts.values())} programs, {findings} findings: {kinds}"
