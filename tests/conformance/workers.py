"""Processes that run cases: one that a case brings down, or that hangs, costs only that case."""

from __future__ import annotations

import abc
import multiprocessing
import multiprocessing.connection
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

LIMIT = 900  # seconds for a case, the start of its process included, on a machine that does other things, too
CLEAR = 256  # cases after which JAX's caches are emptied

Runner = Callable[[int, Callable[[str], None]], Any]


class Job(abc.ABC):
    """Numbered cases, in a form that travels between processes, where functions do not."""

    @abc.abstractmethod
    def prepare(self) -> Runner:
        """In a worker, once: what gives the outcome of a case. It names its stages, for the case that ends it."""

    @abc.abstractmethod
    def failed(self, number: int, stage: str, message: str) -> Any:
        """The outcome of a case that ended its process, or that took too long."""


def run(job: Job, chosen: Sequence[int], count: int, limit: float = LIMIT) -> Iterator[Any]:
    """The outcomes of the chosen cases, in the order in which they end."""
    waiting = iter(chosen)
    fresh = (_Worker(job, limit) for _ in range(min(count, len(chosen))))
    workers = [worker for worker in fresh if worker.give(waiting)]
    while workers:
        ready = multiprocessing.connection.wait([worker.pipe for worker in workers], timeout=1.0)
        for worker in list(workers):
            outcome = worker.look(worker.pipe in ready)
            if outcome is None:
                continue
            yield outcome
            if not worker.give(waiting):
                worker.end()
                workers.remove(worker)


class _Worker:
    def __init__(self, job: Job, limit: float) -> None:
        self.job, self.limit = job, limit
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

    def look(self, ready: bool) -> Any:
        """The outcome of its case, if that has ended, well or badly."""
        problem = None
        if ready:
            try:
                message = self.pipe.recv()
            except (EOFError, ConnectionResetError):
                self.process.join()
                problem = f"the process ended with exit code {self.process.exitcode} during {self.stage}"
            else:
                if not isinstance(message, str):
                    return message
                self.stage = message
        elif time.monotonic() - self.since > self.limit:
            problem = f"{self.stage} takes longer than {self.limit} seconds"
        if problem is None:
            return None
        stage = self.stage
        self.end()
        self.start()
        return self.job.failed(self.number, stage, problem)

    def end(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


def _work(job: Job, pipe: multiprocessing.connection.Connection) -> None:
    import jax

    prepared, done = job.prepare(), 0
    while True:
        try:
            number = pipe.recv()
        except EOFError:
            return
        pipe.send(prepared(number, pipe.send))
        done += 1
        if done % CLEAR == 0:
            jax.clear_caches()
