"""Results of one generation, collected as they arrive and committed at intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from homodyn.errors import SearchError
from homodyn.search.evaluation.outcomes import (
    CandidateBatch,
    EvaluationOutcomes,
    EvaluationStatus,
    evaluation_seeds,
)
from homodyn.search.goal import Score
from homodyn.search.jobs.job import Job
from homodyn.search.optimizers.interface import Population
from homodyn.search.stopwatch import Stopwatch
from homodyn.search.studies.candidate_rows import RecordedBatch
from homodyn.search.studies.study import Study

COMMIT_INTERVAL_S = 0.5
"""Time between commits within a generation; an interruption loses at most this much."""
PROGRESS_INTERVAL_S = 1.0
"""Time between reports on the progress of a generation."""


class GenerationResults:
    """The outcomes of one generation; recorded candidates are not evaluated again.

    Args:
        job: The job.
        study: Where outcomes are recorded.
        population: The candidates.
        number: Number of the generation.
        fresh: Whether the study cannot have candidates of it, because this run began it.
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
        self._uncommitted: list[RecordedBatch] = []
        self._since_commit, self._since_report = Stopwatch(), Stopwatch()
        if not fresh:
            self._restore()
        self._earlier = int(self._known.sum())

    def _restore(self) -> None:
        """Restore the outcomes that an interrupted run recorded of this generation."""
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
        """Add outcomes; commit and report at intervals.

        Args:
            tasks: The candidates.
            outcomes: Their outcomes.
            attempts: Number of attempts.
        """
        rows = tasks.members
        self.outcomes.results[rows] = outcomes.results
        self.outcomes.status[rows] = outcomes.status
        self.outcomes.messages.update({int(rows[k]): m for k, m in outcomes.messages.items()})
        self._known[rows] = True
        score = self._job.goal.score(outcomes.results, outcomes.status != EvaluationStatus.OK)
        self._uncommitted.append(RecordedBatch(tasks, outcomes, score, attempts))
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
        """Commit the outcomes.

        Args:
            complete: Columns of the row of the generation; None while it is incomplete.
        """
        if self._uncommitted or complete is not None:
            self._study.record(self._number, self._uncommitted, complete)
        self._uncommitted = []
        self._since_commit = Stopwatch()


def candidates_differ_error(study: Study, generation: int) -> SearchError:
    """Error of a study whose recorded candidates differ from those that are proposed now.

    Args:
        study: The study.
        generation: Number of the generation.

    Returns:
        The error, to be raised.
    """
    return SearchError(
        f"{study.place}: the candidates of generation {generation} differ from the recorded ones; "
        "the study was run by another version of homodyn or numpy, or the number of iterations "
        "changed and probabilities depend on it. Start a new study that is seeded from this one"
    )
