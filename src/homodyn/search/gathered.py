"""What becomes of one generation, gathered as it comes in and written from time to time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from homodyn.errors import SearchError
from homodyn.search.goal import Score
from homodyn.search.job import Job
from homodyn.search.optimiser import Population
from homodyn.search.outcome import Outcomes, Status, Tasks, evaluation_seeds
from homodyn.search.sites import Clock
from homodyn.search.study import Study

COMMIT = 0.5
"""Seconds between commits within a generation: what an interruption loses at most."""
SHOWN = 1.0
"""Seconds between tellings of how far a generation is."""


class Gathered:
    """The outcomes of one generation; what a study knows of it already is not asked for again.

    A ``fresh`` generation follows one of the same run, so that nothing of it can be known. Now and
    then ``told`` hears how large the generation is, how many outcomes there are, and how many of
    them were there before.
    """

    def __init__(
        self,
        job: Job,
        study: Study,
        people: Population,
        number: int,
        *,
        fresh: bool,
        told: Callable[[int, int, int], None],
    ) -> None:
        self._job, self._study, self._people, self._number = job, study, people, number
        self._told = told
        self.outcomes = Outcomes.blank(len(people), len(job.goal.names))
        self._known = np.zeros(len(people), dtype=bool)
        self._waiting: list[tuple[np.ndarray, np.ndarray, np.ndarray, Outcomes, Any, int]] = []
        self._written, self._shown = Clock(), Clock()
        if not fresh:
            self._recall()
        self._earlier = int(self._known.sum())

    def _recall(self) -> None:
        """Take what an interrupted run left of this generation."""
        recorded = self._study.candidates(self._number)
        rows = recorded.member
        if recorded.values.tobytes() != self._people.values[rows].tobytes():
            raise other_candidates(self._study, self._number)
        self.outcomes.results[rows] = recorded.results
        self.outcomes.status[rows] = recorded.status
        self._known[rows] = True

    def missing(self) -> Tasks:
        """The candidates without an outcome."""
        rows = np.flatnonzero(~self._known)
        seeds = evaluation_seeds(self._job.seed, self._number, rows, self._job.evaluate.repeats)
        return Tasks(
            rows, self._people.values[rows], self._people.groups[rows], seeds, self._number
        )

    def take(self, tasks: Tasks, outcomes: Outcomes, attempts: int) -> None:
        """Keep outcomes; write and tell when that has waited long enough."""
        rows = tasks.members
        self.outcomes.results[rows] = outcomes.results
        self.outcomes.status[rows] = outcomes.status
        self.outcomes.messages.update({int(rows[k]): m for k, m in outcomes.messages.items()})
        self._known[rows] = True
        score = self._job.goal.score(outcomes.results, outcomes.status != Status.OK)
        self._waiting.append((rows, tasks.values, tasks.groups, outcomes, score, attempts))
        if self._known.all():
            return
        if self._written.elapsed > COMMIT:
            self.write(None)
        if self._shown.elapsed > SHOWN:
            self._shown = Clock()
            self._told(len(self._people), int(self._known.sum()), self._earlier)

    def score(self) -> Score:
        """Scores of the whole generation."""
        return self._job.goal.score(self.outcomes.results, self.outcomes.status != Status.OK)

    def write(self, complete: dict[str, Any] | None) -> None:
        """Write what is waiting, with the generation when it is complete."""
        if self._waiting or complete is not None:
            self._study.record(self._number, self._waiting, complete)
        self._waiting = []
        self._written = Clock()


def other_candidates(study: Study, generation: int) -> SearchError:
    """Why a study cannot go on whose recorded candidates are not those proposed now."""
    return SearchError(
        f"{study.place}: generation {generation} would now have other candidates than are "
        "recorded; it was run by another version of homodyn or numpy, or iterations changed "
        "with curves that depend on them. Start a new study, seeded from this one"
    )
