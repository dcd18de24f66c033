"""Results of one generation, collected as they arrive and committed at intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from homodyn.errors import SearchError
from homodyn.search.goal import Score
from homodyn.search.job import Job
from homodyn.search.optimizer import Population
from homodyn.search.outcomes import (
    CandidateBatch,
    EvaluationOutcomes,
    EvaluationStatus,
    evaluation_seeds,
)
from homodyn.search.stopwatch import Stopwatch
from homodyn.search.study import Study

COMMIT_INTERVAL_S = 0.5
"""Time between commits within a generation: an interruption loses at most this much."""
PROGRESS_INTERVAL_S = 1.0
"""Time between reports on the progress of a generation."""


class GenerationResults:
    """The outcomes of one generation; those that a study has recorded are not evaluated again.

    Args:
        job: The job.
        study: Where outcomes are recorded.
        population: The candidates.
        number: Number of the generation.
        fresh: Whether nothing of it can be recorded, because it follows one of the same run.
        report: Called at intervals with the size of the generation, the number of outcomes, and
            how many of them were recorded before.
    """

    def __init__(
        self,
        job: Job,
        study: Study,
        population: Population,
        number: int,
        *,
        fresh: bool,
        report: Callable[[int, int, int], None],
    ) -> None:
        self._job, self._study, self._population, self._number = job, study, population, number
        self._report = report
        self.outcomes = EvaluationOutcomes.blank(len(population), len(job.goal.names))
        self._known = np.zeros(len(population), dtype=bool)
        self._waiting: list[
            tuple[np.ndarray, np.ndarray, np.ndarray, EvaluationOutcomes, Any, int]
        ] = []
        self._since_commit, self._since_report = Stopwatch(), Stopwatch()
        if not fresh:
            self._restore()
        self._earlier = int(self._known.sum())

    def _restore(self) -> None:
        """Take over what an interrupted run recorded of this generation."""
        recorded = self._study.candidates(self._number)
        rows = recorded.member
        if recorded.values.tobytes() != self._population.values[rows].tobytes():
            raise candidates_differ_error(self._study, self._number)
        self.outcomes.results[rows] = recorded.results
        self.outcomes.status[rows] = recorded.status
        self._known[rows] = True

    def missing(self) -> CandidateBatch:
        """The candidates without an outcome."""
        rows = np.flatnonzero(~self._known)
        seeds = evaluation_seeds(self._job.seed, self._number, rows, self._job.evaluate.repeats)
        return CandidateBatch(
            rows, self._population.values[rows], self._population.groups[rows], seeds, self._number
        )

    def add(self, tasks: CandidateBatch, outcomes: EvaluationOutcomes, attempts: int) -> None:
        """Add outcomes; commit and report when the intervals have passed."""
        rows = tasks.members
        self.outcomes.results[rows] = outcomes.results
        self.outcomes.status[rows] = outcomes.status
        self.outcomes.messages.update({int(rows[k]): m for k, m in outcomes.messages.items()})
        self._known[rows] = True
        score = self._job.goal.score(outcomes.results, outcomes.status != EvaluationStatus.OK)
        self._waiting.append((rows, tasks.values, tasks.groups, outcomes, score, attempts))
        if self._known.all():
            return
        if self._since_commit.elapsed > COMMIT_INTERVAL_S:
            self.write(None)
        if self._since_report.elapsed > PROGRESS_INTERVAL_S:
            self._since_report = Stopwatch()
            self._report(len(self._population), int(self._known.sum()), self._earlier)

    def score(self) -> Score:
        """Scores of the whole generation."""
        return self._job.goal.score(
            self.outcomes.results, self.outcomes.status != EvaluationStatus.OK
        )

    def write(self, complete: dict[str, Any] | None) -> None:
        """Commit the outcomes that wait, with the generation when it is complete."""
        if self._waiting or complete is not None:
            self._study.record(self._number, self._waiting, complete)
        self._waiting = []
        self._since_commit = Stopwatch()


def candidates_differ_error(study: Study, generation: int) -> SearchError:
    """Why a study cannot continue whose recorded candidates are not those proposed now."""
    return SearchError(
        f"{study.place}: generation {generation} would now have other candidates than are "
        "recorded; it was run by another version of homodyn or numpy, or iterations changed "
        "with curves that depend on them. Start a new study, seeded from this one"
    )
