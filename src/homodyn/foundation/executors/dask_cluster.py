"""An executor that runs tasks on the workers of a Dask scheduler."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection
from concurrent.futures import Future
from typing import Any, TypeVar

from homodyn.foundation.executors.fair_queue import FairQueue
from homodyn.foundation.executors.interface import Executor, ExecutorError, WorkerLost

T = TypeVar("T")

SCHEDULER_TIMEOUT_S = 20.0
"""How long a Dask scheduler may take to answer."""
NO_WORKER_NOTICE_S = 15.0
"""Time without any worker after which a message says so."""
SCHEDULER_POLL_INTERVAL_S = 0.5
"""Age above which the list of workers is requested again."""
_VIRTUAL_TIME = ["homodyn", "search", "virtual time"]
"""Where clients of one Dask scheduler share their virtual time."""


class DaskExecutor(Executor):
    """The workers of a Dask scheduler; they may join and leave at any time.

    Several clients share the cluster in proportion to their priorities (`FairQueue`).

    Args:
        address: Address of the scheduler (``tcp://host:8786``) or its scheduler file (``.json``).
        priority: Share of the cluster relative to other clients.
        label: Prefix of the names of the tasks on the dashboard.
        timeout: How long the scheduler may take to answer (s); 20 s by default.

    Raises:
        ExecutorError: The package ``distributed`` is not installed, or no scheduler answers.
    """

    name = "dask"

    def __init__(
        self,
        address: str,
        *,
        priority: float = 1.0,
        label: str = "homodyn",
        timeout: float | None = None,
    ) -> None:
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
            self._client = Client(
                **where, timeout=timeout or SCHEDULER_TIMEOUT_S, set_as_default=False
            )
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
            raise ExecutorError(
                f"the Dask scheduler at {self.address} cannot be reached; resume later"
            )
        try:
            workers = self._client.scheduler_info(n_workers=-1)["workers"]
        except TypeError:  # versions without n_workers list all of them
            workers = self._client.scheduler_info()["workers"]
        self._workers = {
            str(info["name"]): (address, int(info["nthreads"])) for address, info in workers.items()
        }
        # Without a default the scheduler logs a traceback for an unused cluster.
        self._now = max(self._now, float(self._client.get_metadata(_VIRTUAL_TIME, default=0.0)))
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
            ExecutorError: The scheduler cannot be reached.
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
