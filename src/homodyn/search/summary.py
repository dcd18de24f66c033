"""How far a study is and what it has found, from its database alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.search.job import Job, stored_job
from homodyn.search.outcomes import EvaluationStatus
from homodyn.search.result import SearchSolution, best_solutions
from homodyn.search.study import Study


@dataclass(frozen=True)
class StudySummary:
    """A study in numbers; ``visits`` are candidates per subspace, the most visited first."""

    name: str
    optimizer: str
    generations: int
    iterations: int
    candidates: int
    statuses: dict[EvaluationStatus, int]
    best: SearchSolution | None
    criterion: str
    figure: float
    mean: float
    stage: int
    stages: int
    subspaces: int
    visits: tuple[tuple[str, int], ...]
    seconds: float
    seconds_left: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The study for a person."""
        failed = ", ".join(
            f"{count} {status.name.lower().replace('_', ' ')}"
            for status, count in self.statuses.items()
            if status != EvaluationStatus.OK
        )
        lines = [
            f"{self.name}: {self.optimizer}, generation {self.generations} of {self.iterations}, "
            f"{self.candidates} candidates" + (f" ({failed})" if failed else "")
        ]
        if self.best is not None:
            stage = f"stage {self.stage + 1} of {self.stages + 1}, " if self.stages else ""
            lines.append(
                f"best: {stage}{self.criterion} {self.figure:.6g} "
                f"(mean of the last generation {self.mean:.6g})"
            )
            lines.append(f"  {self.best}")
        if self.subspaces > 1:
            lines.append(f"subspaces visited: {len(self.visits)} of {self.subspaces}")
            lines += [f"  {count:8d}  {name}" for name, count in self.visits[:8]]
        left = f", about {duration(self.seconds_left)} left" if self.seconds_left > 0 else ""
        lines.append(f"time: {duration(self.seconds)}{left}")
        lines += [f"note: {note}" for note in self.notes[-5:]]
        return lines


def summarize(study: Study) -> StudySummary:
    """Summarize the progress and the best candidate of a study.

    Args:
        study: The study; another process may be running it.

    Returns:
        Counts of generations and candidates by status, the best candidate, visited subspaces, and
        the elapsed and estimated remaining time (s).

    Raises:
        SearchError: The database of the study cannot be read.
    """
    job = stored_job(study.job)
    rows = study.generations()
    best = best_solutions(study)
    found = best[0] if best else None
    stage = found.stage if found else 0
    name, figure = job.goal.describe(stage, found.value if found else np.nan)
    last = rows[-1] if rows else None
    mean = np.nan
    if last is not None and last.mean_value is not None:
        _, mean = job.goal.describe(last.best_stage, last.mean_value)
    statuses = study.statuses()
    seconds = sum(row.seconds for row in rows)
    left = job.iterations - len(rows)
    return StudySummary(
        study.name,
        job.optimizer.kind,
        len(rows),
        job.iterations,
        sum(statuses.values()),
        statuses,
        found,
        name,
        float(figure),
        float(mean),
        stage,
        job.goal.stages,
        job.space.subspaces,
        tuple(visits_by_name(study, job)) if job.pools else (),
        seconds,
        left * seconds / len(rows) if rows else 0.0,
        tuple(study.notes()),
    )


def visits_by_name(study: Study, job: Job) -> list[tuple[str, int]]:
    """Candidates in each subspace that was visited, the most visited first."""
    counts: dict[bytes, int] = {}
    for _, groups, count in study.visits():
        counts[groups.tobytes()] = counts.get(groups.tobytes(), 0) + count
    order = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(job.space.subspace_name(np.frombuffer(key, dtype="<i4")), n) for key, n in order]


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    if not np.isfinite(seconds):
        return "an unknown time"
    if seconds < 120:
        return f"{seconds:.3g} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
