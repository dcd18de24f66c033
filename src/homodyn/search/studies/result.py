"""Progress, result and best candidates of a search."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from homodyn.errors import SearchError
from homodyn.foundation import Record, count_of, record
from homodyn.search.jobs.job import Job, stored_job
from homodyn.search.optimizers.nsga2 import nondominated_mask
from homodyn.search.studies.candidate_table import CandidateTable
from homodyn.search.studies.database import guarded_study
from homodyn.search.studies.study import Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes as PlotAxes


class SearchStatus(StrEnum):
    """How a run of a search ended."""

    FINISHED = "finished"
    """All generations are complete."""
    TARGET = "target"
    """The target of the job was reached."""
    STOPPED = "stopped"
    """The time limit or the user stopped it; it can be resumed."""


@record(eq=True)
class SearchSolution(Record):
    """A candidate that was evaluated."""

    parameters: dict[str, float]
    """Values by name, of the parameters that its subspace has."""
    structure: dict[str, str]
    """Groups by name of the pool."""
    objectives: dict[str, float]
    """Values by name."""
    stage: int
    """Stages of the goal that are completed."""
    value: float
    """Score value, lower is better."""
    generation: int
    """Number of its generation."""
    member: int
    """Number in the generation."""
    data: dict[str, Any]
    """Other results of the evaluation."""

    def headline(self) -> str:
        """Objectives, structure and parameters."""
        return f"SearchSolution: {self}"

    def __str__(self) -> str:
        """Objectives, structure and parameters in one line."""
        values = {**self.structure, **{k: f"{v:.6g}" for k, v in self.parameters.items()}}
        objectives = ", ".join(f"{name} {value:.6g}" for name, value in self.objectives.items())
        return f"{objectives} at " + ", ".join(f"{name} = {v}" for name, v in values.items())


@record
class SearchProgress(Record):
    """Progress of a search, reported after every generation and at intervals within a long one."""

    generation: int
    """Complete generations."""
    iterations: int
    """Planned generations."""
    evaluations: int
    """Candidates that were evaluated."""
    failed: int
    """Candidates that failed."""
    stage: int
    """Stage of the best candidate; negative while there is none."""
    stages: int
    """Stages of the goal."""
    best: float
    """Best value of the criterion."""
    mean: float
    """Mean value of the criterion in the last generation."""
    criterion: str
    """Objective of the stage, or the combination of objectives."""
    seconds: float
    """Elapsed time (s)."""
    seconds_left: float
    """Estimated remaining time (s)."""
    evaluated: int
    """Candidates of the current generation that were evaluated; 0 after a complete one."""
    population: int
    """Candidates of the current generation."""
    subspaces: int
    """Subspaces that were visited."""
    visits: tuple[tuple[str, int], ...]
    """Number of candidates in the most visited subspaces."""

    def headline(self) -> str:
        """Generation and best value."""
        return (
            f"SearchProgress: generation {self.generation} of {self.iterations}, "
            f"best {self.criterion} {self.best:.6g}"
        )


@record
class SearchResult(Record):
    """Result of a run of a search."""

    _transient: ClassVar[tuple[str, ...]] = ("_study",)

    status: SearchStatus
    """How the run ended."""
    best: SearchSolution | None
    """The best candidate; None if none was evaluated successfully."""
    generations: int
    """Complete generations."""
    evaluations: int
    """Candidates that were evaluated."""
    failed: int
    """Candidates that failed."""
    seconds: float
    """Duration of the run (s)."""
    database: str
    """Database of the study."""
    notes: tuple[str, ...] = ()
    """Remarks about the run, one sentence each."""
    _study: Study | None = None

    @property
    def study(self) -> Study:
        """The study with every candidate.

        Raises:
            SearchError: The result was restored from plain data; open the study by its database.
        """
        if self._study is None:
            raise SearchError(
                f"this result has no open study; open it with Study.open({self.database!r})"
            )
        return self._study

    def pareto_front(self) -> list[SearchSolution]:
        """The candidates that no other candidate dominates; see `pareto_solutions`.

        Raises:
            SearchError: The result was restored from plain data.
        """
        return pareto_solutions(self.study)

    def headline(self) -> str:
        """Status, counts and the best candidate."""
        return f"SearchResult: {self}"

    def __str__(self) -> str:
        """Status, counts and the best candidate in one line."""
        best = f"best {self.best}" if self.best else "no candidate was evaluated"
        failed = f", {self.failed} of them failed" if self.failed else ""
        return (
            f"{self.status} after {count_of(self.generations, 'generation')} and "
            f"{count_of(self.evaluations, 'candidate')}{failed} in {self.seconds:.3g} s: {best}"
        )

    def to_pandas(self) -> pd.DataFrame:
        """All candidates as a data frame; see `Study.to_pandas`.

        Raises:
            HomodynError: pandas is not installed.
            SearchError: The result was restored from plain data.
        """
        return self.study.to_pandas()

    def plot(self, ax: PlotAxes | None = None, **style: Any) -> PlotAxes:
        """Plot the convergence: best and mean value of the last stage over the generations.

        Args:
            ax: Matplotlib axes to draw into; new ones when left out.
            style: Passed on to ``ax.plot``.

        Returns:
            The axes.

        Raises:
            SearchError: The result was restored from plain data.
        """
        import matplotlib.pyplot as plt

        axes = ax if ax is not None else plt.subplots()[1]
        goal = stored_job(self.study.job).goal
        generations = self.study.generations()
        last = max((row.best_stage for row in generations), default=0)
        rows = [row for row in generations if row.best_stage == last]
        numbers = [row.number for row in rows]
        values = [goal.describe(last, row.best_value)[1] for row in rows]
        means = [
            np.nan if row.mean_value is None else goal.describe(last, row.mean_value)[1]
            for row in rows
        ]
        axes.plot(numbers, values, **{"label": "best of the generation", **style})
        axes.plot(numbers, means, **{"label": "mean of the generation", "alpha": 0.5, **style})
        axes.set_xlabel("generation")
        axes.set_ylabel(goal.describe(last, 0.0)[0])
        axes.legend()
        return axes


def best_solutions(study: Study, count: int = 1) -> list[SearchSolution]:
    """The best candidates of a study.

    Args:
        study: The study; another process may be running it.
        count: Maximum number of candidates.

    Returns:
        Successfully evaluated candidates, best first; of equal candidates the earliest first. The
        list is shorter than ``count`` if the study has fewer.

    Raises:
        SearchError: The database of the study cannot be read, or its content is damaged.
    """
    with guarded_study(study.place):
        return _best_solutions(study, count)


def pareto_solutions(study: Study) -> list[SearchSolution]:
    """The Pareto front of all candidates of a study, for its objectives without a condition.

    Only candidates of the highest stage count.

    Args:
        study: The study; another process may be running it.

    Returns:
        Candidates that no other one dominates, in the order of the first of these objectives.

    Raises:
        SearchError: The database of the study cannot be read, or its content is damaged.
    """
    with guarded_study(study.place):
        job = stored_job(study.job)
        table = study.candidates(0, job.iterations)
        usable = np.flatnonzero(np.isfinite(table.results).all(axis=1))
        if not len(usable):
            return []
        usable = usable[table.stage[usable] == table.stage[usable].max()]
        costs = job.goal.costs(table.results[usable], np.zeros(len(usable), dtype=bool))
        front = usable[nondominated_mask(costs)]
        order = np.argsort(job.goal.costs(table.results[front], np.zeros(len(front), bool))[:, 0])
        return _solutions(job, table, front[order])


def _best_solutions(study: Study, count: int) -> list[SearchSolution]:
    table = study.best(count)
    return _solutions(stored_job(study.job), table, np.arange(len(table)))


def _solutions(job: Job, table: CandidateTable, rows: np.ndarray) -> list[SearchSolution]:
    """Candidates of a table."""
    return [
        SearchSolution(
            {
                name: value
                for name, value in zip(job.space.names, table.values[k].tolist(), strict=True)
                if not np.isnan(value)
            },
            job.space.structure(table.groups[k]),
            dict(zip(job.goal.names, table.results[k].tolist(), strict=True)),
            int(table.stage[k]),
            float(table.value[k]),
            int(table.generation[k]),
            int(table.member[k]),
            json.loads(table.data[k] or "{}"),
        )
        for k in rows.tolist()
    ]
