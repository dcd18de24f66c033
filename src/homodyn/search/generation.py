"""One generation evaluated somewhere, whatever happens to workers on the way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field

import numpy as np

from homodyn.search.limits import GRACE
from homodyn.search.nodes import Nodes
from homodyn.search.outcome import Outcomes, Status, Tasks
from homodyn.search.sites import Clock, Lost, Site

TASK_TIME = 0.25
"""Seconds a task of many small candidates should take: long beside the cost of sending it."""
TRIES = 2
"""How often a candidate may end the process that evaluates it, alone, before it is blamed."""
_TICK = 0.5
_OWN_FAULT = {Status.FAILED, Status.MEMORY, Status.INVALID, Status.NOT_FINITE}


@dataclass
class _Flight:
    """Tasks that were submitted, where they may not run, and what became of them before."""

    tasks: Tasks
    avoid: frozenset[str] = frozenset()
    tries: int = 0
    before: Outcomes | None = None
    nodes: frozenset[str] = frozenset()
    ended: str = ""
    """The node whose worker ended with these tasks before."""
    since: Clock = field(default_factory=Clock)


class Dispatch:
    """Sends the candidates of generation after generation to a site and hands back outcomes.

    ``done`` hears of outcomes as they come: tasks, outcomes, attempts. ``note`` hears sentences.
    """

    def __init__(
        self,
        site: Site,
        *,
        at_once: bool,
        group: int | None,
        estimate: float | None,
        time_limit: float | None,
        objectives: int,
        note: Callable[[str], None],
    ) -> None:
        self.site = site
        self.nodes = Nodes()
        self._at_once = at_once
        self._group = group
        self._mean = estimate
        self._time_limit = time_limit
        self._objectives = objectives
        self._note = note

    def run(
        self,
        tasks: Tasks,
        population: int,
        clock: Clock,
        done: Callable[[Tasks, Outcomes, int], None],
    ) -> bool:
        """Evaluate the tasks; whether all are done when the time was up or the work was."""
        waiting: deque[_Flight] = deque(_Flight(part) for part in self._parts(tasks, population))
        flying: dict[Future[Outcomes], _Flight] = {}
        try:
            while waiting or flying:
                if clock.over:
                    return False
                while waiting and len(flying) < self.site.window and not clock.over:
                    flight = self._next(waiting)
                    flying[self._submit(flight)] = flight
                landed, _ = wait(flying, min(_TICK, clock.left), FIRST_COMPLETED)
                for future in landed:
                    self._land(future, flying.pop(future), waiting, done)
                for sentence in self.site.told():
                    self._note(sentence)
                self._call_back(flying, waiting)
            return True
        finally:
            for future in flying:
                future.cancel()

    def _parts(self, tasks: Tasks, population: int) -> list[Tasks]:
        """Candidates that are one call stay together in blocks that do not depend on timing.

        The bits of a sum can depend on how many rows it is computed for: the same blocks again
        give the same bits after an interruption.
        """
        if not len(tasks):
            return []
        if not self._at_once:
            return [tasks]
        if self._group is not None:
            size = self._group
        else:
            size = population if self.site.whole_generation else max(16, -(-population // 64))
        block = tasks.members // size
        edges = np.flatnonzero(np.diff(block)) + 1
        return [tasks[part] for part in np.split(np.arange(len(tasks)), edges)]

    def _next(self, waiting: deque[_Flight]) -> _Flight:
        """The next tasks to send: as many small candidates as fill a task, and no more."""
        flight = waiting.popleft()
        if self._at_once or flight.tries or flight.before is not None:
            return flight
        count = len(flight.tasks)
        if self._group is not None:
            size = self._group
        elif self._mean is None:
            size = 1
        else:
            share = -(-count // (2 * self.site.width)) if self.site.width > 1 else count
            size = max(1, min(int(TASK_TIME / max(self._mean, 1e-9)), share))
        if size < count:
            waiting.appendleft(_Flight(flight.tasks[size:]))
            flight = _Flight(flight.tasks[:size])
        return flight

    def _submit(self, flight: _Flight) -> Future[Outcomes]:
        avoid = flight.avoid | self.nodes.aside
        flight.nodes = frozenset(self.site.nodes() - avoid) if avoid else frozenset()
        flight.since = Clock()
        cost = (self._mean or 1.0) * len(flight.tasks)
        return self.site.submit(flight.tasks, cost=cost, avoid=avoid)

    def _call_back(self, flying: dict[Future[Outcomes], _Flight], waiting: deque[_Flight]) -> None:
        """Submit again what may only run on nodes that have left."""
        for future, flight in list(flying.items()):
            if flight.nodes and not flight.nodes & self.site.nodes() and not future.done():
                future.cancel()
                waiting.append(flying.pop(future))

    def _land(
        self,
        future: Future[Outcomes],
        flight: _Flight,
        waiting: deque[_Flight],
        done: Callable[[Tasks, Outcomes, int], None],
    ) -> None:
        try:
            outcomes = future.result()
        except Lost as lost:
            self._lost(lost, flight, waiting, done)
            return
        if outcomes.results.shape[1] != self._objectives:
            # Whoever could not even load the evaluation does not know how many there are.
            outcomes.results = np.full((len(flight.tasks), self._objectives), np.nan)
        seconds = float(outcomes.seconds.mean())
        self._mean = seconds if self._mean is None else 0.5 * (self._mean + seconds)
        if flight.before is not None:
            outcomes = self._second_opinion(flight.before, outcomes)
        else:
            failed = np.isin(outcomes.status, [int(status) for status in _OWN_FAULT])
            others = self.site.nodes() - self.nodes.aside - {outcomes.node}
            if failed.any() and others:
                self._ask_another(flight, outcomes, failed, waiting, done)
                return
            if not failed.any():
                self.nodes.succeeded(outcomes.node)
                if flight.ended and flight.ended != outcomes.node:
                    self._strike(flight.ended, "its worker ended")
        done(flight.tasks, outcomes, flight.tries + 1 + (flight.before is not None))

    def _ask_another(
        self,
        flight: _Flight,
        outcomes: Outcomes,
        failed: np.ndarray,
        waiting: deque[_Flight],
        done: Callable[[Tasks, Outcomes, int], None],
    ) -> None:
        """Have what failed tried by another node, and keep the rest."""
        rows = np.flatnonzero(failed)
        again = _Flight(
            flight.tasks[rows], frozenset({outcomes.node}), flight.tries, _taken(outcomes, rows)
        )
        waiting.appendleft(again)
        kept = np.flatnonzero(~failed)
        if len(kept):
            done(flight.tasks[kept], _taken(outcomes, kept), flight.tries + 1)

    def _second_opinion(self, first: Outcomes, second: Outcomes) -> Outcomes:
        """What holds when two nodes tried: a success of either; a failure of both stays."""
        good = second.status == Status.OK
        if good.any():
            self.nodes.succeeded(second.node)
            self._strike(first.node, next(iter(first.messages.values()), "no reason given"))
        rows = np.flatnonzero(~good)
        second.results[rows] = first.results[rows]
        second.status[rows] = first.status[rows]
        second.messages.update({int(r): first.messages.get(int(r), "") for r in rows})
        return second

    def _strike(self, node: str, reason: str) -> None:
        """Count a failure of a node against it, and tell when it is set aside."""
        if self.nodes.failed_alone(node):
            self._note(f"node {node} is set aside: it failed what other nodes evaluate ({reason})")

    def _lost(
        self,
        lost: Lost,
        flight: _Flight,
        waiting: deque[_Flight],
        done: Callable[[Tasks, Outcomes, int], None],
    ) -> None:
        """Send candidates whose worker ended once more, one by one, until one is to blame."""
        told, alone = str(lost), len(flight.tasks) == 1
        limit = self._time_limit
        if alone and limit is not None and flight.since.elapsed >= limit + GRACE:
            why = f"longer than {limit:g} s, and its process had to be ended"
            outcomes = Outcomes.lost(1, self._objectives, Status.SLOW, why)
            done(flight.tasks, outcomes, flight.tries + 1)
            return
        if alone and flight.tries + 1 >= TRIES:
            why = f"{told}, {flight.tries + 1} times with this candidate"
            outcomes = Outcomes.lost(1, self._objectives, Status.CRASHED, why)
            done(flight.tasks, outcomes, flight.tries + 1)
            return
        self._note(f"{told}; {len(flight.tasks)} candidates are sent again")
        avoid = flight.avoid | {lost.node} if lost.node else flight.avoid
        for row in range(len(flight.tasks)):
            tries = flight.tries + 1 if alone else 0
            one = flight.tasks[row : row + 1]
            waiting.appendleft(_Flight(one, avoid, tries, ended=lost.node))


def _taken(outcomes: Outcomes, rows: np.ndarray) -> Outcomes:
    """Some rows of outcomes."""
    return Outcomes(
        outcomes.results[rows],
        outcomes.status[rows],
        outcomes.seconds[rows],
        {k: outcomes.messages[int(r)] for k, r in enumerate(rows) if int(r) in outcomes.messages},
        {k: outcomes.data[int(r)] for k, r in enumerate(rows) if int(r) in outcomes.data},
        outcomes.node,
    )
