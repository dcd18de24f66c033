"""Where candidates are evaluated: here, in a pool of processes, or on a Dask cluster.

All three are the same to a search: tasks are submitted and futures come back. A process that dies
takes only the tasks with it that it was working on, and they are submitted again.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Collection
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from homodyn.errors import SearchError
from homodyn.search.evaluation import Evaluator
from homodyn.search.outcome import Outcomes, Tasks
from homodyn.search.worker import begin, packed, work


class Lost(Exception):
    """The process that worked on tasks ended before they were done; ``node`` is where, if known."""

    def __init__(self, message: str, node: str = "") -> None:
        super().__init__(message)
        self.node = node


class Site(ABC):
    """A place where tasks are evaluated."""

    name: str
    whole_generation = False
    """Whether a batch of candidates is best one call."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many tasks can be worked on at the same time now."""

    @property
    def window(self) -> int:
        """How many tasks to have submitted at a time."""
        return self.width

    @abstractmethod
    def submit(self, tasks: Tasks, *, cost: float, avoid: Collection[str]) -> Future[Outcomes]:
        """Have tasks evaluated, which will take ``cost`` seconds; not on nodes to avoid.

        The future raises ``Lost`` when whoever worked on them ended.
        """

    def nodes(self) -> set[str]:
        """The nodes there are, where there can be several."""
        return set()

    def told(self) -> list[str]:
        """Sentences about the place since the last time it was asked."""
        return []

    def close(self, *, at_once: bool = False) -> None:
        """Let go of processes; ``at_once`` does not wait for what they work on."""
        return None


class Serial(Site):
    """In this process, one task after the other."""

    name = "serial"
    whole_generation = True

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    @property
    def width(self) -> int:
        """One."""
        return 1

    def submit(self, tasks: Tasks, *, cost: float, avoid: Collection[str]) -> Future[Outcomes]:
        """Evaluate now."""
        future: Future[Outcomes] = Future()
        future.set_running_or_notify_cancel()
        outcomes = self._evaluator(tasks)
        outcomes.node = "here"
        future.set_result(outcomes)
        return future


class Pool(Site):
    """Processes of this machine, each an executor of its own, so that one's death is its own."""

    name = "pool"

    def __init__(self, evaluator: Evaluator, workers: int | None = None) -> None:
        self._payload = packed(evaluator)
        self._memory_limit = evaluator.memory_limit if not evaluator.program else None
        methods = multiprocessing.get_all_start_methods()
        # A fork of this process would inherit locks that its threads hold.
        self._context = multiprocessing.get_context(
            "forkserver" if "forkserver" in methods else "spawn"
        )
        if "forkserver" in methods:
            _start_server()
        count = workers or os.cpu_count() or 1
        self._slots = [_Slot(self._start) for _ in range(count)]

    @property
    def width(self) -> int:
        """The number of processes."""
        return len(self._slots)

    def _start(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            1,
            mp_context=self._context,
            initializer=begin,
            initargs=(self._payload, self._memory_limit),
        )

    def submit(self, tasks: Tasks, *, cost: float, avoid: Collection[str]) -> Future[Outcomes]:
        """Give the tasks to a process that has nothing to do."""
        slot = next((slot for slot in self._slots if not slot.busy), self._slots[0])
        return slot.submit(tasks)

    def close(self, *, at_once: bool = False) -> None:
        """End the processes."""
        for slot in self._slots:
            slot.close(at_once=at_once)


def _start_server() -> None:
    """Start the process that workers are forked from, with all they need already imported.

    It imports before it is told where this process looks for modules, so the environment says it.
    """
    from multiprocessing import forkserver

    multiprocessing.set_forkserver_preload(["homodyn.search.worker"])
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


class _Slot:
    """One process, replaced when it dies."""

    def __init__(self, start: object) -> None:
        self._start = start
        self._executor: ProcessPoolExecutor | None = None
        self._process: Future[int] | None = None
        self._current: Future[Outcomes] | None = None

    @property
    def busy(self) -> bool:
        return self._current is not None and not self._current.done()

    def submit(self, tasks: Tasks) -> Future[Outcomes]:
        answer: Future[Outcomes] = Future()
        # What a process works on cannot be taken back: whoever no longer wants it lets it end.
        answer.set_running_or_notify_cancel()
        try:
            inner = self._ready().submit(work, tasks)
        except BrokenProcessPool:
            # It died while it had nothing to do.
            self._replace()
            inner = self._ready().submit(work, tasks)

        def pass_on(done: Future[Outcomes]) -> None:
            if done.cancelled():
                answer.set_exception(Lost("cancelled"))
                return
            error = done.exception()
            if isinstance(error, BrokenProcessPool):
                self._replace()
                answer.set_exception(Lost("a worker process ended"))
            elif error is not None:
                answer.set_exception(Lost(f"{type(error).__name__}: {error}"))
            else:
                answer.set_result(done.result())

        inner.add_done_callback(pass_on)
        self._current = answer
        return answer

    def _ready(self) -> ProcessPoolExecutor:
        if self._executor is None:
            self._executor = self._start()  # type: ignore[operator]
            self._process = self._executor.submit(os.getpid)
        return self._executor

    def _replace(self) -> None:
        old, self._executor, self._process = self._executor, None, None
        if old is not None:
            old.shutdown(wait=False)

    def close(self, *, at_once: bool) -> None:
        if self._executor is None:
            return
        if at_once and self.busy and self._process is not None and self._process.done():
            with contextlib.suppress(Exception):
                os.kill(self._process.result(), signal.SIGTERM)
        self._executor.shutdown(wait=not at_once, cancel_futures=True)


def site(
    where: str,
    evaluator: Evaluator,
    *,
    workers: int | None = None,
    priority: float = 1.0,
    study: str = "",
) -> Site:
    """The place of that name: "serial", "pool", or the address of a Dask scheduler."""
    if where == "serial":
        return Serial(evaluator)
    if where == "pool":
        return Pool(evaluator, workers)
    if "://" in where or where.endswith(".json"):
        from homodyn.search.cluster import Cluster

        return Cluster(evaluator, where, priority=priority, study=study)
    raise SearchError(
        f"where is {where!r}; it can be 'serial', 'pool', or the address of a Dask scheduler such "
        "as 'tcp://host:8786'"
    )


class Clock:
    """Time since a moment, unmoved by whoever sets the clock on the wall."""

    def __init__(self, limit: float | None = None) -> None:
        self._began = time.monotonic()
        self._limit = limit

    @property
    def elapsed(self) -> float:
        """Seconds since it was made."""
        return time.monotonic() - self._began

    @property
    def over(self) -> bool:
        """Whether the limit is reached."""
        return self._limit is not None and self.elapsed >= self._limit

    @property
    def left(self) -> float:
        """Seconds until the limit, infinite without one."""
        return float("inf") if self._limit is None else max(self._limit - self.elapsed, 0.0)
