"""Processes that run cases: one that a case brings down, or that hangs, costs only that case."""

from __future__ import annotations

import dataclasses
import multiprocessing
import multiprocessing.connection
import time
from collections.abc import Iterator, Sequence

from conformance import runner
from conformance.cases import Case, all_cases

LIMIT = 900  # seconds for a case, the start of its process included, on a machine that does other things, too
CLEAR = 256  # cases after which JAX's caches are emptied


@dataclasses.dataclass(frozen=True)
class Job:
    """What workers need to make the cases again: functions do not travel between processes."""

    families: Sequence[str]
    seed: int
    platform: str


def run(job: Job, cases: Sequence[Case], chosen: Sequence[int], count: int) -> Iterator[runner.Outcome]:
    """The outcomes of the chosen cases, in the order in which they end."""
    waiting = iter(chosen)
    workers = [worker for worker in (_Worker(job) for _ in range(min(count, len(chosen)))) if worker.give(waiting)]
    while workers:
        ready = multiprocessing.connection.wait([worker.pipe for worker in workers], timeout=1.0)
        for worker in list(workers):
            outcome = worker.look(cases, worker.pipe in ready)
            if outcome is None:
                continue
            yield outcome
            if not worker.give(waiting):
                worker.end()
                workers.remove(worker)


class _Worker:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(self.job, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.stage = "start"

    def give(self, waiting: Iterator[int]) -> bool:
        number = next(waiting, None)
        if number is None:
            return False
        self.number, self.since = number, time.monotonic()
        self.pipe.send(number)
        return True

    def look(self, cases: Sequence[Case], ready: bool) -> runner.Outcome | None:
        """The outcome of its case, if that has ended, well or badly."""
        problem = None
        if ready:
            try:
                message = self.pipe.recv()
            except (EOFError, ConnectionResetError):
                self.process.join()
                problem = f"the process ended with exit code {self.process.exitcode} during {self.stage}"
            else:
                if isinstance(message, runner.Outcome):
                    return message
                self.stage = message
        elif time.monotonic() - self.since > LIMIT:
            problem = f"{self.stage} takes longer than {LIMIT} seconds"
        if problem is None:
            return None
        self.end()
        self.start()
        return runner.Outcome.of(cases[self.number], ulp=float("inf"), message=problem)

    def end(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


def _work(job: Job, pipe: multiprocessing.connection.Connection) -> None:
    import jax

    jax.config.update("jax_enable_x64", True)
    from conformance import families  # noqa: F401  (registers them)

    cases = list(all_cases(job.families, job.seed))
    done = 0
    while True:
        try:
            number = pipe.recv()
        except EOFError:
            return
        pipe.send(runner.run(cases[number], job.platform, pipe.send))
        done += 1
        if done % CLEAR == 0:
            jax.clear_caches()
