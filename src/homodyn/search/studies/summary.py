"""Summary of a study, from its database alone."""

from __future__ import annotations

import numpy as np

from homodyn.foundation import Record, count_of, record
from homodyn.search.evaluation.outcomes import EvaluationStatus
from homodyn.search.jobs.job import Job, stored_job
from homodyn.search.studies.database import guarded_study
from homodyn.search.studies.result import SearchSolution, best_solutions
from homodyn.search.studies.study import Study

MAX_LISTED_SUBSPACES = 8
MAX_LISTED_NOTES = 5


@record
class StudySummary(Record):
    """Progress and best candidate of a study."""

    name: str
    """Name of the study."""
    optimizer: str
    """Kind of the optimizer."""
    generations: int
    """Complete generations."""
    iterations: int
    """Planned generations."""
    candidates: int
    """Candidates that were evaluated."""
    statuses: dict[str, int]
    """Number of candidates by status, such as ``ok`` and ``failed``."""
    best: SearchSolution | None
    """The best candidate; None if none was evaluated successfully."""
    criterion: str
    """Objective of the stage of the best candidate, or the combination of objectives."""
    figure: float
    """Value of the criterion of the best candidate."""
    mean: float
    """Mean value of the criterion in the last generation."""
    stage: int
    """Stage of the best candidate."""
    stages: int
    """Stages of the goal."""
    subspaces: int
    """Subspaces of the space."""
    visits: tuple[tuple[str, int], ...]
    """Number of candidates per visited subspace, the most visited first."""
    seconds: float
    """Elapsed time (s)."""
    seconds_left: float
    """Estimated remaining time (s)."""
    notes: tuple[str, ...]
    """Remarks about the runs, one sentence each."""

    def headline(self) -> str:
        """Name, optimizer, generation and candidates."""
        failed = ", ".join(
            f"{count} {status.replace('_', ' ')}"
            for status, count in self.statuses.items()
            if status != "ok"
        )
        return (
            f"{self.name}: {self.optimizer}, generation {self.generations} of {self.iterations}, "
            f"{count_of(self.candidates, 'candidate')}" + (f" ({failed})" if failed else "")
        )

    def summary(self) -> str:
        """The study as text: progress, best candidate, subspaces, time and notes."""
        return "\n".join(self.lines())

    def __str__(self) -> str:
        return self.summary()

    def lines(self) -> list[str]:
        """The lines of the summary."""
        lines = [self.headline()]
        if self.best is not None:
            stage = f"stage {self.stage + 1} of {self.stages + 1}, " if self.stages else ""
            lines.append(
                f"best: {stage}{self.criterion} {self.figure:.6g} "
                f"(mean of the last generation {self.mean:.6g})"
            )
            lines.append(f"  {self.best}")
        if self.subspaces > 1:
            lines.append(f"subspaces visited: {len(self.visits)} of {self.subspaces}")
            lines += [f"  {count:8d}  {name}" for name, count in self.visits[:MAX_LISTED_SUBSPACES]]
        left = f", about {duration(self.seconds_left)} left" if self.seconds_left > 0 else ""
        lines.append(f"time: {duration(self.seconds)}{left}")
        lines += [f"note: {note}" for note in self.notes[-MAX_LISTED_NOTES:]]
        return lines


def summarize(study: Study) -> StudySummary:
    """Summarize the progress and the best candidate of a study.

    Args:
        study: The study; another process may be running it.

    Returns:
        Counts of generations and candidates by status, the best candidate, visited subspaces, and
        the elapsed and estimated remaining time (s).

    Raises:
        SearchError: The database of the study cannot be read, or its content is damaged.
    """
    with guarded_study(study.place):
        return _summary(study)


def _summary(study: Study) -> StudySummary:
    job = stored_job(study.job)
    rows = study.generations()
    solutions = best_solutions(study)
    best = solutions[0] if solutions else None
    stage = best.stage if best else 0
    criterion, figure = job.goal.describe(stage, best.value if best else np.nan)
    last = rows[-1] if rows else None
    mean = np.nan
    if last is not None and last.mean_value is not None:
        _, mean = job.goal.describe(last.best_stage, last.mean_value)
    statuses = study.statuses()
    seconds = sum(row.seconds for row in rows)
    left = job.iterations - len(rows)
    return StudySummary(
        name=study.name,
        optimizer=job.optimizer.kind,
        generations=len(rows),
        iterations=job.iterations,
        candidates=sum(statuses.values()),
        statuses={EvaluationStatus(code).name.lower(): n for code, n in statuses.items()},
        best=best,
        criterion=criterion,
        figure=float(figure),
        mean=float(mean),
        stage=stage,
        stages=job.goal.stages,
        subspaces=job.space.subspaces,
        visits=tuple(visits_by_name(study, job)) if job.pools else (),
        seconds=seconds,
        seconds_left=left * seconds / len(rows) if rows else 0.0,
        notes=tuple(study.notes()),
    )


def visits_by_name(study: Study, job: Job) -> list[tuple[str, int]]:
    """Number of candidates in each visited subspace.

    Args:
        study: The study.
        job: Its job.

    Returns:
        Names of subspaces and numbers of candidates, the most visited first.
    """
    counts: dict[bytes, int] = {}
    for _, groups, count in study.visits():
        counts[groups.tobytes()] = counts.get(groups.tobytes(), 0) + count
    order = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(job.space.subspace_name(np.frombuffer(key, dtype="<i4")), n) for key, n in order]


def duration(seconds: float) -> str:
    """A duration as text: ``42 s``, ``15 min``, ``2 h 5 min``.

    Args:
        seconds: The duration (s).

    Returns:
        The text.
    """
    if not np.isfinite(seconds):
        return "an unknown time"
    if seconds < 120:
        return f"{seconds:.3g} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
