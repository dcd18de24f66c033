"""One worker process of a pool: it runs one task at a time and is replaced when it dies."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from homodyn.foundation.executors.interface import ExecutorError, WorkerLost
from homodyn.foundation.executors.process_start import hidden_main_module


@dataclass
class PoolTask:
    """A function that was submitted, in a form that can be sent, and its future."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    by_value: bool
    future: Future[Any]


class WorkerProcess:
    """One process, replaced when it dies."""

    def __init__(self, start: Callable[[], ProcessPoolExecutor]) -> None:
        self._start = start
        self._pool: ProcessPoolExecutor | None = None
        self._process_id: Future[int] | None = None
        self._current: Future[Any] | None = None

    @property
    def busy(self) -> bool:
        return self._current is not None

    def run(self, task: PoolTask, on_idle: Callable[[], None]) -> None:
        """Run a task; ``on_idle`` is called when the worker can take another."""
        self._current = task.future
        try:
            inner = self._ready().submit(task.function, *task.arguments)
        except BrokenProcessPool:
            # The process died while it was idle.
            self._replace()
            inner = self._ready().submit(task.function, *task.arguments)

        def complete(done: Future[Any]) -> None:
            value, error = self._outcome(done, task.by_value)
            self._current = None
            if error is None:
                task.future.set_result(value)
            else:
                task.future.set_exception(error)
            on_idle()

        inner.add_done_callback(complete)

    def _outcome(self, done: Future[Any], by_value: bool) -> tuple[Any, BaseException | None]:
        if done.cancelled():
            return None, WorkerLost("the executor was shut down")
        error = done.exception()
        if isinstance(error, BrokenProcessPool):
            self._replace()
            return None, WorkerLost("a worker process ended")
        if error is not None:
            return None, error
        if not by_value:
            return done.result(), None
        try:
            value, raised = pickle.loads(done.result())
            return value, raised
        except Exception as problem:
            return None, ExecutorError(f"a result cannot be received: {problem}")

    def _ready(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = self._start()
            with hidden_main_module():
                self._process_id = self._pool.submit(os.getpid)
        return self._pool

    def _replace(self) -> None:
        old, self._pool, self._process_id = self._pool, None, None
        if old is not None:
            old.shutdown(wait=False)

    def close(self, *, cancel: bool) -> None:
        pool = self._pool
        if pool is None:
            return
        if cancel and self.busy and self._process_id is not None and self._process_id.done():
            with contextlib.suppress(Exception):
                os.kill(self._process_id.result(), signal.SIGTERM)
        pool.shutdown(wait=not cancel, cancel_futures=True)
