"""What a search for robots found: outcomes, visits, and the best candidate of each topology."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from homodyn.codesign.design_solution import DesignSolution, solve_design
from homodyn.codesign.design_space import POOL
from homodyn.codesign.design_study import DesignStudy
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.search import MMPSO, SearchOptions, SearchSolution, Study
from homodyn.search.evaluation.outcomes import EvaluationStatus

STAGE_NAMES = ("bar too long", "singular or unreachable", "falls", "does not walk", "walks")
"""Outcome of a candidate by the number of objectives whose condition is met."""


@record
class SearchOutcome(Record):
    """Outcomes of all candidates of a search."""

    counts: dict[str, int]
    """Candidates by the names of `STAGE_NAMES`, and ``"broken"``."""
    visits: dict[str, int]
    """Candidates by group, of groups that were visited."""
    best: dict[int, SearchSolution]
    """The best candidate by number of the topology."""

    @property
    def candidates(self) -> int:
        """All candidates."""
        return sum(self.counts.values())

    @property
    def evaluations(self) -> int:
        """Candidates whose walking was simulated to a result."""
        return sum(self.counts[name] for name in STAGE_NAMES[2:])

    def headline(self) -> str:
        """Counts by outcome."""
        parts = [f"{count} {name}" for name, count in self.counts.items() if count]
        return f"SearchOutcome of {self.candidates} candidates: {', '.join(parts)}"


def search_outcome(study: DesignStudy, recorded: Study) -> SearchOutcome:
    """Read the outcomes of a search from its database.

    Args:
        study: The design study.
        recorded: Its recorded search.

    Returns:
        Counts, visits and the best of each topology.
    """
    counts = dict.fromkeys((*STAGE_NAMES, "broken"), 0)
    groups = study.designs.groups
    visits = np.zeros(len(groups), dtype=int)
    best: dict[int, tuple[int, float, SearchSolution]] = {}
    names = [one.name for one in study.objectives]
    for part in recorded.all_candidates():
        usable = part.status == int(EvaluationStatus.OK)
        counts["broken"] += int((~usable).sum())
        for stage, name in enumerate(STAGE_NAMES):
            counts[name] += int((part.stage[usable] == stage).sum())
        visits += np.bincount(part.groups[:, 0], minlength=len(groups))
        numbers = np.array([groups[int(k)].topology.number for k in part.groups[:, 0]])
        for number in np.unique(numbers[usable]):
            own = np.flatnonzero(usable & (numbers == number))
            k = int(own[np.lexsort((part.value[own], -part.stage[own]))[0]])
            key = (-int(part.stage[k]), float(part.value[k]))
            if int(number) in best and best[int(number)][:2] <= key:
                continue
            values = zip(study.space.names, part.values[k].tolist(), strict=True)
            found = SearchSolution(
                {name: value for name, value in values if not np.isnan(value)},
                study.space.structure(part.groups[k]),
                dict(zip(names, part.results[k].tolist(), strict=True)),
                int(part.stage[k]),
                float(part.value[k]),
                int(part.generation[k]),
                int(part.member[k]),
                {},
            )
            best[int(number)] = (*key, found)
    seen = {groups[k].name: int(n) for k, n in enumerate(visits) if n}
    return SearchOutcome(counts, seen, {n: best[n][2] for n in sorted(best)})


def refine_design(
    study: DesignStudy,
    parameters: Mapping[str, float],
    structure: Mapping[str, str],
    *,
    iterations: int = 100,
    population: int = 60,
    seed: int = 0,
    options: SearchOptions | None = None,
) -> DesignSolution:
    """Search on from one design with its topology and actuators fixed.

    Args:
        study: The study.
        parameters: Values by name.
        structure: Its group.
        iterations: Generations.
        population: Particles; all begin as copies in which some parameters are drawn again.
        seed: Seed of the optimizer.
        options: Database, executor, time limit and progress of the search.

    Returns:
        The best design; the given one where nothing better was found.

    Raises:
        HomodynError: The group does not exist.
    """
    group = next((one for one in study.designs.groups if one.name == structure.get(POOL)), None)
    if group is None:
        raise HomodynError(f"study {study.name!r} has no group {structure.get(POOL)!r}")
    name = f"{study.name} {group.name.replace(':', '')}"
    own = replace(study, name=name, topologies=(group.topology,))
    found = own.search(
        seed,
        options=options,
        iterations=iterations,
        optimizer=MMPSO(population=population, explore=0.0, local=0.0, globally=0.0),
        solutions=({**parameters, **structure},),
    )
    assert found.best is not None  # The given design is a candidate.
    return solve_design(study, found.best.parameters, found.best.structure)


def open_search(folder: str | Path, database: str = "study.db") -> Study:
    """The recorded search in a folder.

    Args:
        folder: Folder of a search.
        database: Name of the file.

    Returns:
        The recorded search.

    Raises:
        HomodynError: There is no search in the folder.
    """
    path = Path(folder) / database
    if not path.is_file():
        raise HomodynError(f"{folder}: there is no search here ({database} is missing)")
    return Study.open(path)
