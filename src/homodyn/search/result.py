"""What a search says about itself: how far it is, what it came to, its best candidates."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from homodyn.search.job import stored_job
from homodyn.search.study import Study


@dataclass(frozen=True)
class SearchSolution:
    """A candidate that was evaluated: its parameters, structure and objectives by name."""

    parameters: dict[str, float]
    structure: dict[str, str]
    objectives: dict[str, float]
    stage: int
    value: float
    generation: int
    member: int
    data: dict[str, Any]

    def __str__(self) -> str:
        named = {**self.structure, **{k: f"{v:.6g}" for k, v in self.parameters.items()}}
        told = ", ".join(f"{name} {value:.6g}" for name, value in self.objectives.items())
        return f"{told} at " + ", ".join(f"{name} = {value}" for name, value in named.items())


@dataclass(frozen=True)
class SearchProgress:
    """How far a search is, after a generation and from time to time within a long one.

    ``evaluated`` candidates of the ``population`` under way are done, none right after a
    generation; ``visits`` are candidates in the most visited of the ``subspaces`` that were.
    """

    generation: int
    iterations: int
    evaluations: int
    failed: int
    stage: int
    stages: int
    best: float
    mean: float
    criterion: str
    seconds: float
    seconds_left: float
    evaluated: int
    population: int
    subspaces: int
    visits: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class SearchResult:
    """What a run came to; ``status`` is finished, target (reached) or stopped (can be resumed)."""

    status: str
    study: Study
    best: SearchSolution | None
    generations: int
    evaluations: int
    failed: int
    seconds: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        found = f"best {self.best}" if self.best else "nothing could be evaluated"
        lost = f", {self.failed} of them failed" if self.failed else ""
        return (
            f"{self.status} after {self.generations} generations and {self.evaluations} "
            f"candidates{lost} in {self.seconds:.3g} s: {found}"
        )


def best_solutions(study: Study, count: int = 1) -> list[SearchSolution]:
    """The best candidates of a study.

    Args:
        study: The study; another process may be running it.
        count: How many candidates to return at most.

    Returns:
        Successfully evaluated candidates, best first; of equal candidates the earliest first. The
        list is shorter than ``count`` if the study has fewer.

    Raises:
        SearchError: The database of the study cannot be read.
    """
    job = stored_job(study.job)
    found = study.best(count)
    rows = []
    for k in range(len(found)):
        rows.append(
            SearchSolution(
                {
                    name: value
                    for name, value in zip(job.space.names, found.values[k].tolist(), strict=True)
                    if not np.isnan(value)
                },
                job.space.structure(found.groups[k]),
                dict(zip(job.goal.names, found.results[k].tolist(), strict=True)),
                int(found.stage[k]),
                float(found.value[k]),
                int(found.generation[k]),
                int(found.member[k]),
                json.loads(found.data[k] or "{}"),
            )
        )
    return rows
