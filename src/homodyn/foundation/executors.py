"""Executors: where tasks run, behind one interface.

An `Executor` takes functions with their arguments and returns futures. `SerialExecutor` runs them
in this process, `ProcessExecutor` in worker processes of this machine, `DaskExecutor` on a
cluster. Searches and batch analyses use this interface only, so a class of your own that derives
from `Executor` works in both.

>>> from homodyn.foundation.executors import SerialExecutor
>>> with SerialExecutor() as executor:
...     print(list(executor.map(abs, [-1, 2])))
[1, 2]
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import connection, parent_process
from typing import Any, Generic, Self, TypeVar

import cloudpickle

from homodyn.errors import HomodynError
from homodyn.foundation.fair_queue import FairQueue

T = TypeVar("T")

SCHEDULER_TIMEOUT_S = 20.0
"""How long a Dask scheduler may take to answer."""
NO_WORKER_NOTICE_S = 15.0
"""Time without any worker after which a message says so."""
SCHEDULER_POLL_INTERVAL_S = 0.5
"""Age above which the list of workers is requested again."""
THREAD_VARIABLES = (
    "HOMODYN_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)
"""Environment variables that limit the threads of a process."""
_VIRTUAL_TIME = ["homodyn", "search", "virtual time"]
"""Where clients of one Dask scheduler share their virtual time."""


class ExecutorError(HomodynError):
    """An executor that cannot be created, or a function that it cannot be given."""


class WorkerLost(HomodynError):
    """The process or machine that ran a task ended before the task did.

    Attributes:
        node: Name of the node, empty where it is not known.
    """

    def __init__(self, message: str, node: str = "") -> None:
        super().__init__(message)
        self.node = node


@dataclass(frozen=True)
class TaskResult(Generic[T]):
    """What became of one task of `Executor.map_unordered`.

    Attributes:
        index: Position of its item.
        value: What the function returned; None where it failed.
        error: Why it failed; None where it succeeded.
    """

    index: int
    value: T | None
    error: Exception | None = None


class Executor(ABC):
    """A place where tasks run.

    Implement `submit`, `capacity` and `shutdown`; the other methods have defaults that suit
    executors of one machine. The contract:

    - `submit` never blocks for longer than the task itself and never raises what the task raises:
      every failure arrives through the future.
    - A future raises the exception of the function, `WorkerLost` when the worker ended before
      the task did, or ``CancelledError``. After `WorkerLost` the same task may be submitted again.
    - ``future.cancel()`` withdraws a task that has not started and returns whether it did. A task
      that runs is not interrupted.
    - One lost worker affects only the task it was running.
    - `shutdown` may be called several times; the executor accepts no tasks afterwards.

    Attributes:
        name: Short name for messages.
    """

    name: str = "executor"

    @property
    @abstractmethod
    def capacity(self) -> int:
        """Number of tasks that can run at the same time now; at least 1."""

    @property
    def queue_size(self) -> int:
        """Number of tasks to keep submitted so that no worker waits."""
        return self.capacity

    @abstractmethod
    def submit(
        self,
        function: Callable[..., T],
        /,
        *arguments: Any,
        cost: float = 1.0,
        avoid: Collection[str] = (),
    ) -> Future[T]:
        """Run a function on a worker.

        Args:
            function: The function; lambdas and functions of scripts and notebooks are accepted.
            *arguments: Its positional arguments.
            cost: Expected duration (s), for executors that share workers between clients.
            avoid: Nodes that must not run the task, as long as there are others.

        Returns:
            A future of the value.
        """

    @abstractmethod
    def shutdown(self, *, cancel: bool = False) -> None:
        """Release the workers.

        Args:
            cancel: Do not wait for running tasks, and cancel those that wait.
        """

    def nodes(self) -> set[str]:
        """Names of the nodes, where there can be several; empty on a single machine."""
        return set()

    def messages(self) -> list[str]:
        """Sentences about the workers since the last call."""
        return []

    def map(self, function: Callable[..., T], items: Iterable[Any]) -> Iterator[T]:
        """Values of a function of one argument, in the order of the items.

        Args:
            function: The function.
            items: Its arguments.

        Yields:
            The values; the first failure is raised when its turn comes.
        """
        futures = [self.submit(function, item) for item in items]
        try:
            for future in futures:
                yield future.result()
        finally:
            for future in futures:
                future.cancel()

    def map_unordered(
        self, function: Callable[..., T], items: Iterable[Any], *, attempts: int = 2
    ) -> Iterator[TaskResult[T]]:
        """Results of a function of one argument as they complete; failures do not stop the rest.

        Args:
            function: The function.
            items: Its arguments.
            attempts: How often a task runs whose worker is lost before it counts as failed.

        Yields:
            One result per item.
        """
        pending: dict[Future[T], tuple[int, Any, int]] = {}
        try:
            for index, item in enumerate(items):
                pending[self.submit(function, item)] = (index, item, 1)
            while pending:
                completed, _ = wait(pending, return_when=FIRST_COMPLETED)
                for future in completed:
                    index, item, attempt = pending.pop(future)
                    try:
                        yield TaskResult(index, future.result())
                    except WorkerLost as error:
                        if attempt >= attempts:
                            yield TaskResult(index, None, error)
                        else:
                            pending[self.submit(function, item)] = (index, item, attempt + 1)
                    except CancelledError:
                        yield TaskResult(index, None, WorkerLost("the task was cancelled"))
                    except Exception as error:
                        yield TaskResult(index, None, error)
        finally:
            for future in pending:
                future.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        self.shutdown(cancel=kind is not None)


class SerialExecutor(Executor):
    """Runs every task at once in this process and thread."""

    name = "serial"

    @property
    def capacity(self) -> int:
        """One."""
        return 1

    def submit(
        self,
        function: Callable[..., T],
        /,
        *arguments: Any,
        cost: float = 1.0,
        avoid: Collection[str] = (),
    ) -> Future[T]:
        """Run the function now; see `Executor.submit`."""
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, *, cancel: bool = False) -> None:
        """Nothing to release."""


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
            _start_fork_server(preload)
        self._lock = threading.RLock()
        self._waiting: deque[_Task] = deque()
        self._workers = [_Worker(self._start) for _ in range(workers or os.cpu_count() or 1)]
        self._closed = False

    @property
    def capacity(self) -> int:
        """The number of processes."""
        return len(self._workers)

    def _start(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            1,
            mp_context=self._context,
            initializer=_initialize_worker,
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
        task = _Task(*_portable(function, arguments), Future())
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
                    with _environment(self._threads):
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


@dataclass
class _Task:
    """A function that was submitted, in a form that can be sent, and its future."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    by_value: bool
    future: Future[Any]


class _Worker:
    """One process, replaced when it dies."""

    def __init__(self, start: Callable[[], ProcessPoolExecutor]) -> None:
        self._start = start
        self._pool: ProcessPoolExecutor | None = None
        self._process_id: Future[int] | None = None
        self._current: Future[Any] | None = None

    @property
    def busy(self) -> bool:
        return self._current is not None

    def run(self, task: _Task, on_idle: Callable[[], None]) -> None:
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
            with _hidden_main_module():
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


def _portable(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[Callable[..., Any], tuple[Any, ...], bool]:
    """A task in a form that worker processes can load, and whether its result comes by value.

    Functions of Homodyn are sent by reference. Others, with their arguments, are sent by value
    where they are part of a script, because workers do not run the script again.
    """
    module = getattr(function, "__module__", None) or ""
    if module.startswith("homodyn.") and "<" not in getattr(function, "__qualname__", "<"):
        return function, arguments, False
    try:
        return _call_by_value, (cloudpickle.dumps((function, arguments)),), True
    except Exception as error:
        raise ExecutorError(
            f"{getattr(function, '__qualname__', function)!r} cannot be sent to other processes "
            f"({error}); define it in a module, or run it in this process (serial)"
        ) from None


def _call_by_value(payload: bytes) -> bytes:
    """Value and error of a function that was sent by value, in a worker process."""
    function, arguments = pickle.loads(payload)
    try:
        return bytes(cloudpickle.dumps((function(*arguments), None)))
    except Exception as error:
        return bytes(cloudpickle.dumps((None, error)))


def _initialize_worker(initializer: Callable[..., None] | None, arguments: tuple[Any, ...]) -> None:
    """Prepare a worker process."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if initializer is not None:
        initializer(*arguments)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


_main_module_lock = threading.Lock()


@contextlib.contextmanager
def _hidden_main_module() -> Iterator[None]:
    """Start processes that do not run the script of this process again.

    Python's ``multiprocessing`` imports the main module in every child, which in a script without a
    guard would start processes without end. Tasks bring what they need by value instead.
    """
    main = sys.modules.get("__main__")
    with _main_module_lock:
        hidden: dict[str, Any] = {
            name: main.__dict__[name]
            for name in ("__file__", "__spec__")
            if main is not None and name in main.__dict__
        }
        if main is not None:
            main.__dict__.pop("__file__", None)
            main.__dict__["__spec__"] = None
        try:
            yield
        finally:
            if main is not None:
                main.__dict__.pop("__spec__", None)
                main.__dict__.update(hidden)


def _start_fork_server(preload: tuple[str, ...]) -> None:
    """Start the process that workers are forked from, with modules already imported.

    It imports before it learns where this process looks for modules, so the environment says so.
    """
    from multiprocessing import forkserver

    multiprocessing.set_forkserver_preload(list(preload))
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


@contextlib.contextmanager
def _environment(threads: int | None) -> Iterator[None]:
    """Processes started meanwhile use at most so many threads."""
    if threads is None:
        yield
        return
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ |= {name: str(threads) for name in THREAD_VARIABLES}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class DaskExecutor(Executor):
    """The workers of a Dask scheduler; they may join and leave at any time.

    Several clients share the cluster in proportion to their priorities (`FairQueue`).

    Args:
        address: Address of the scheduler (``tcp://host:8786``) or its scheduler file (``.json``).
        priority: Share of the cluster relative to other clients.
        label: Prefix of the names of the tasks on the dashboard.

    Raises:
        ExecutorError: The package ``distributed`` is not installed, or no scheduler answers.
    """

    name = "dask"

    def __init__(self, address: str, *, priority: float = 1.0, label: str = "homodyn") -> None:
        try:
            from distributed import Client
        except ImportError:
            raise ExecutorError(
                "a cluster needs the package distributed: pip install 'homodyn[cluster]'"
            ) from None
        where: dict[str, Any] = (
            {"scheduler_file": address} if address.endswith(".json") else {"address": address}
        )
        try:
            self._client = Client(**where, timeout=SCHEDULER_TIMEOUT_S, set_as_default=False)
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            raise ExecutorError(
                f"no Dask scheduler answers at {address}: {error}; start one with "
                "`dask scheduler` and give its address as tcp://host:8786"
            ) from None
        self.address = address
        self._label = label
        self._queue = FairQueue(priority)
        self._now = 0.0
        self._updated = 0.0
        self._workers: dict[str, tuple[str, int]] = {}
        self._no_worker_since: float | None = None
        self._messages: list[str] = []
        self._count = 0
        self._update()

    def _update(self) -> None:
        """Request the list of workers and the shared virtual time from the scheduler."""
        if self._client.status != "running":
            raise ExecutorError(f"the Dask scheduler at {self.address} is gone; resume later")
        try:
            workers = self._client.scheduler_info(n_workers=-1)["workers"]
        except TypeError:  # versions without n_workers list all of them
            workers = self._client.scheduler_info()["workers"]
        self._workers = {
            str(info["name"]): (address, int(info["nthreads"])) for address, info in workers.items()
        }
        with contextlib.suppress(KeyError):
            self._now = max(self._now, float(self._client.get_metadata(_VIRTUAL_TIME)))
        self._updated = time.monotonic()
        if self._workers:
            self._no_worker_since = None
        elif self._no_worker_since is None:
            self._no_worker_since = time.monotonic()
        elif time.monotonic() - self._no_worker_since > NO_WORKER_NOTICE_S:
            self._messages.append(
                f"no worker at {self.address} for {NO_WORKER_NOTICE_S:.0f} s; waiting"
            )
            self._no_worker_since = float("inf")

    def _current_workers(self) -> dict[str, tuple[str, int]]:
        """Address and threads of every worker, by name."""
        if time.monotonic() - self._updated > SCHEDULER_POLL_INTERVAL_S:
            self._update()
        return self._workers

    @property
    def capacity(self) -> int:
        """Threads of all workers, at least one so that a worker that joins finds a task."""
        return max(1, sum(threads for _, threads in self._current_workers().values()))

    @property
    def queue_size(self) -> int:
        """Enough that no worker waits for this process, few enough to be withdrawn."""
        return 4 * self.capacity

    def nodes(self) -> set[str]:
        """Names of the workers."""
        return set(self._current_workers())

    def messages(self) -> list[str]:
        """Sentences about the cluster since the last call."""
        messages, self._messages = self._messages, []
        return messages

    def submit(
        self,
        function: Callable[..., T],
        /,
        *arguments: Any,
        cost: float = 1.0,
        avoid: Collection[str] = (),
    ) -> Future[T]:
        """Have the scheduler run the function as early as the share of this client allows.

        See `Executor.submit`.

        Raises:
            ExecutorError: The scheduler is gone.
        """
        start = self._queue.start(self._now, cost)
        options: dict[str, Any] = {}
        workers = self._current_workers()
        allowed = [address for name, (address, _) in workers.items() if name not in avoid]
        if avoid and allowed:
            options = {"workers": sorted(allowed), "allow_other_workers": False}
        self._count += 1
        inner = self._client.submit(
            function,
            *arguments,
            key=f"{self._label}-{id(self):x}-{self._count}",
            pure=False,
            priority=-start,
            **options,
        )
        future: _DaskFuture[T] = _DaskFuture(inner)
        future.set_running_or_notify_cancel()
        inner.add_done_callback(lambda done: self._complete(done, future, start))
        return future

    def _complete(self, done: Any, future: Future[Any], start: float) -> None:
        from distributed import KilledWorker

        if future.done():
            return
        if done.status == "finished":
            try:
                value = done.result(timeout=SCHEDULER_TIMEOUT_S)
            except Exception as error:
                future.set_exception(WorkerLost(f"a result was lost in transfer: {error}"))
                return
            self._advance_virtual_time(start)
            future.set_result(value)
        elif done.status == "error":
            reason = done.exception(timeout=SCHEDULER_TIMEOUT_S)
            if isinstance(reason, KilledWorker):
                node = str(getattr(reason.last_worker, "name", ""))
                future.set_exception(WorkerLost(f"its worker {node} ended", node))
            else:
                future.set_exception(reason)
        else:
            future.set_exception(WorkerLost("the cluster cancelled the task"))

    def _advance_virtual_time(self, start: float) -> None:
        if start > self._now:
            self._now = start
            with contextlib.suppress(Exception):
                self._client.set_metadata(_VIRTUAL_TIME, self._now)

    def shutdown(self, *, cancel: bool = False) -> None:
        """Disconnect; the cluster forgets tasks that are not finished."""
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)


class _DaskFuture(Future[T]):
    """A future that keeps its task on the cluster: Dask forgets tasks without a reference."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner


def create_executor(
    where: str,
    *,
    workers: int | None = None,
    threads: int | None = None,
    priority: float = 1.0,
) -> Executor:
    """The executor of a name.

    Args:
        where: ``"serial"``, ``"pool"``, or the address of a Dask scheduler (``tcp://host:8786``) or
            its scheduler file (``.json``).
        workers: Processes of the pool; one per processor by default.
        threads: Threads of numerical libraries in each process of the pool.
        priority: Share of a cluster relative to other clients.

    Returns:
        An executor; use it in a ``with`` statement.

    Raises:
        ExecutorError: The name is not one of these, or the cluster does not answer.
    """
    if where == "serial":
        return SerialExecutor()
    if where == "pool":
        return ProcessExecutor(workers, threads=threads)
    if is_cluster_address(where):
        return DaskExecutor(where, priority=priority)
    raise ExecutorError(unknown_place(where))


def is_cluster_address(where: str) -> bool:
    """Whether a text is the address or the scheduler file of a Dask cluster."""
    return "://" in where or where.endswith(".json")


def unknown_place(where: str) -> str:
    """The sentence for a name that is no executor."""
    return (
        f"where is {where!r}; it can be 'serial', 'pool', or the address of a Dask scheduler such "
        "as 'tcp://host:8786'"
    )
