"""Evaluation on a Dask cluster by its address: workers join, leave, fail and are set aside.

Dask schedules; this only submits, with priorities that share the cluster fairly between studies.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection
from concurrent.futures import Future
from typing import Any

from homodyn.errors import SearchError
from homodyn.search.evaluation import Evaluator
from homodyn.search.fair import FairQueue
from homodyn.search.outcome import Outcomes, Tasks
from homodyn.search.sites import Lost, Site
from homodyn.search.worker import packed, work_on_cluster

PATIENCE = 20.0
"""Seconds to wait for the scheduler to answer."""
ALONE = 15.0
"""Seconds without any worker before that is told."""
_CLOCK = ["homodyn", "search", "virtual time"]


class Cluster(Site):
    """The workers of a Dask scheduler, under one study's share of them."""

    name = "dask"

    def __init__(
        self, evaluator: Evaluator, address: str, *, priority: float = 1.0, study: str = ""
    ) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise SearchError(
                "a cluster needs the package distributed: pip install 'homodyn[cluster]'"
            ) from None
        self._payload = packed(evaluator)
        self._study = study
        try:
            if address.endswith(".json"):
                self._client = Client(
                    scheduler_file=address, timeout=PATIENCE, set_as_default=False
                )
            else:
                self._client = Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise SearchError(f"no Dask scheduler answers at {address}: {error}") from None
        self.address = address
        self._queue = FairQueue(priority)
        self._now = 0.0
        self._asked = 0.0
        self._known: dict[str, tuple[str, int]] = {}
        self._alone_since: float | None = None
        self._told: list[str] = []
        self._count = 0
        self._look()

    def _look(self) -> None:
        """Ask the scheduler who is there and how far the shared virtual time is."""
        if self._client.status != "running":
            raise SearchError(f"the Dask scheduler at {self.address} is gone; resume later")
        try:
            workers = self._client.scheduler_info(n_workers=-1)["workers"]
        except TypeError:  # before n_workers there was no limit
            workers = self._client.scheduler_info()["workers"]
        self._known = {
            str(info["name"]): (address, int(info["nthreads"])) for address, info in workers.items()
        }
        with contextlib.suppress(KeyError):
            self._now = max(self._now, float(self._client.get_metadata(_CLOCK)))
        self._asked = time.monotonic()
        if self._known:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = time.monotonic()
        elif time.monotonic() - self._alone_since > ALONE:
            self._told.append(f"no worker at {self.address} since {ALONE:.0f} s; waiting")
            self._alone_since = float("inf")

    def _current(self) -> dict[str, tuple[str, int]]:
        if time.monotonic() - self._asked > 0.5:
            self._look()
        return self._known

    @property
    def width(self) -> int:
        """Threads of all workers, at least one: whoever joins finds work."""
        return max(1, sum(threads for _, threads in self._current().values()))

    @property
    def window(self) -> int:
        """Enough that no worker waits for this process, few enough to be called back."""
        return 4 * self.width

    def nodes(self) -> set[str]:
        """The workers by name."""
        return set(self._current())

    def told(self) -> list[str]:
        """What happened to the cluster."""
        told, self._told = self._told, []
        return told

    def submit(self, tasks: Tasks, *, cost: float, avoid: Collection[str]) -> Future[Outcomes]:
        """Have the scheduler place the tasks, as early as the study's share allows."""
        start = self._queue.start(self._now, cost)
        options: dict[str, Any] = {}
        allowed = {name: place for name, (place, _) in self._current().items() if name not in avoid}
        if avoid and allowed:
            options = {"workers": sorted(allowed.values()), "allow_other_workers": False}
        self._count += 1
        name = f"search-{self._study}-{id(self):x}-{tasks.generation}-{self._count}"
        inner = self._client.submit(
            work_on_cluster,
            self._payload,
            tasks,
            key=name,
            pure=False,
            priority=-start,
            **options,
        )
        answer: Future[Outcomes] = Future()
        answer.set_running_or_notify_cancel()

        def pass_on(done: Any) -> None:
            self._pass_on(done, answer, start)

        inner.add_done_callback(pass_on)
        # Dask forgets work that nobody holds.
        answer.inner = inner  # type: ignore[attr-defined]
        return answer

    def _pass_on(self, done: Any, answer: Future[Outcomes], start: float) -> None:
        from distributed import KilledWorker

        if answer.done():
            return
        if done.status == "finished":
            try:
                outcomes = done.result(timeout=PATIENCE)
            except Exception as error:
                answer.set_exception(Lost(f"a result was lost on its way: {error}"))
                return
            self._advance(start)
            answer.set_result(outcomes)
        elif done.status == "error":
            reason = done.exception(timeout=PATIENCE)
            if isinstance(reason, KilledWorker):
                node = str(getattr(reason.last_worker, "name", ""))
                answer.set_exception(Lost(f"its worker {node} ended", node))
            else:
                answer.set_exception(Lost(f"{type(reason).__name__}: {reason}"))
        else:
            answer.set_exception(Lost("the cluster gave the task up"))

    def _advance(self, start: float) -> None:
        if start > self._now:
            self._now = start
            with contextlib.suppress(Exception):
                self._client.set_metadata(_CLOCK, self._now)

    def close(self, *, at_once: bool = False) -> None:
        """Leave the cluster; what is not finished is forgotten by it."""
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)
