"""Progress of a search study, read from its database."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from homodyn.search import Study
from homodyn.search.jobs.job import stored_job
from homodyn.search.studies.summary import StudySummary, summarize


@dataclass(frozen=True)
class StudyDatabase:
    """The database of an opened study."""

    path: Path


@dataclass(frozen=True, eq=False)
class StudyProgress:
    """Summary of a study, and the values of its generations in the last stage that was reached."""

    overview: StudySummary
    objective: str
    generation: np.ndarray
    so_far: np.ndarray
    best: np.ndarray
    mean: np.ndarray


def read_progress(path: Path) -> StudyProgress:
    """Read the progress of a study from its database."""
    study = Study.open(path)
    try:
        overview, job = summarize(study), stored_job(study.job)
        rows = study.generations()
    finally:
        study.close()
    stage = np.array([row.best_stage for row in rows], dtype=int)
    reached = int(stage.max(initial=0))
    last = [row for row in rows if row.best_stage == reached]
    best = np.array([row.best_value for row in last], dtype=float)
    mean = np.array([np.nan if r.mean_value is None else r.mean_value for r in last], dtype=float)
    name, sign = job.goal.describe(reached, 1.0)
    factor = -1.0 if sign < 0 else 1.0
    so_far = np.minimum.accumulate(best) if len(best) else best
    number = np.array([row.number for row in last], dtype=float)
    return StudyProgress(overview, name, number, factor * so_far, factor * best, factor * mean)


def file_state(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Name, size and modification time of the database and its journals."""
    found = []
    for file in sorted(path.parent.glob(f"{path.name}*")):
        state = file.stat()
        found.append((file.name, state.st_size, state.st_mtime_ns))
    return tuple(found)
