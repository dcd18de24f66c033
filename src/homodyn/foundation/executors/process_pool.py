"""An executor that runs tasks in worker processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Collection
from concurrent.futures import Future, ProcessPoolExecutor, wait
from typing import Any, TypeVar

from homodyn.foundation.executors.interface import Executor, ExecutorError
from homodyn.foundation.executors.portable_call import portable_call
from homodyn.foundation.executors.process_start import initialize_worker, start_fork_server
from homodyn.foundation.executors.thread_limit import thread_limit
from homodyn.foundation.executors.worker_process import PoolTask, WorkerProcess

T = TypeVar("T")


class ProcessExecutor(Executor):
    """Worker processes of this machine, each replaced when it dies.

    Functions and arguments that are defined in a script or a notebook are sent by value, so a
    script needs no ``if __name__ == "__main__"`` guard. Workers end when this process ends.

    Args:
        workers: Number of processes; one per processor by default.
        threads: Threads that numerical libraries may use in each process; not limited by default.
        initializer: Importable function that each process calls first.
        initializer_arguments: Its arguments.
        preload: Modules to import before the first task, once for all processes where possible.
    """

    name = "pool"

    def __init__(
        self,
        workers: int | None = None,
        *,
        threads: int | None = None,
        initializer: Callable[..., None] | None = None,
        initializer_arguments: tuple[Any, ...] = (),
        preload: tuple[str, ...] = (),
    ) -> None:
        # A fork of this process would inherit locks that its threads own. A fork server has
        # imported numerical libraries already, so limits on their threads need a fresh process.
        methods = multiprocessing.get_all_start_methods()
        forks = "forkserver" in methods and threads is None
        self._context: Any = multiprocessing.get_context("forkserver" if forks else "spawn")
        self._threads = threads
        self._initializer = (initializer, initializer_arguments)
        if forks:
            start_fork_server(preload)
        self._lock = threading.RLock()
        self._waiting: deque[PoolTask] = deque()
        self._workers = [WorkerProcess(self._start) for _ in range(workers or os.cpu_count() or 1)]
        self._closed = False

    @property
    def capacity(self) -> int:
        """The number of processes."""
        return len(self._workers)

    def _start(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            1,
            mp_context=self._context,
            initializer=initialize_worker,
            initargs=self._initializer,
        )

    def submit(
        self,
        function: Callable[..., T],
        /,
        *arguments: Any,
        cost: float = 1.0,
        avoid: Collection[str] = (),
    ) -> Future[T]:
        """Run the function in an idle process, or in the first that becomes idle.

        See `Executor.submit`.

        Raises:
            ExecutorError: The function or an argument cannot be sent to another process, or the
                executor was shut down.
        """
        task = PoolTask(*portable_call(function, arguments), Future())
        with self._lock:
            if self._closed:
                raise ExecutorError("the executor was shut down; create another")
            self._waiting.append(task)
            self._dispatch()
        return task.future

    def _dispatch(self) -> None:
        """Hand waiting tasks to idle workers."""
        with self._lock:
            idle = [worker for worker in self._workers if not worker.busy]
            while idle and self._waiting and not self._closed:
                task = self._waiting.popleft()
                if task.future.set_running_or_notify_cancel():
                    with thread_limit(self._threads):
                        idle.pop().run(task, self._dispatch)

    def shutdown(self, *, cancel: bool = False) -> None:
        """End the processes; see `Executor.shutdown`."""
        if not cancel:
            while True:
                with self._lock:
                    pending = [task.future for task in self._waiting]
                if not pending:
                    break
                wait(pending)
        with self._lock:
            self._closed = True
            waiting, self._waiting = list(self._waiting), deque()
        for task in waiting:
            task.future.cancel()
        for worker in self._workers:
            worker.close(cancel=cancel)
