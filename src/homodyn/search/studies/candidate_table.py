"""Tables of recorded candidates, as arrays and as named columns."""

from __future__ import annotations

import numpy as np

from homodyn.foundation import Record, count_of, record
from homodyn.search.evaluation.outcomes import EvaluationStatus
from homodyn.search.jobs.job import Job


@record
class CandidateTable(Record):
    """Recorded candidates, one row per candidate."""

    generation: np.ndarray
    """(candidates,), number of the generation."""
    member: np.ndarray
    """(candidates,), number in the generation."""
    values: np.ndarray
    """(candidates, parameters), NaN where a subspace lacks a parameter."""
    groups: np.ndarray
    """(candidates, pools), group numbers."""
    results: np.ndarray
    """(candidates, objectives), NaN for failed candidates."""
    status: np.ndarray
    """(candidates,), `EvaluationStatus`."""
    stage: np.ndarray
    """(candidates,), stages of the goal that are completed."""
    value: np.ndarray
    """(candidates,), score value, lower is better."""
    seconds: np.ndarray
    """(candidates,), duration of the evaluation (s)."""
    node: tuple[str, ...]
    """Node that evaluated the candidate."""
    data: tuple[str | None, ...]
    """Other results as JSON."""
    message: tuple[str | None, ...]
    """Reason of a failure."""

    def headline(self) -> str:
        """Number of candidates."""
        return f"CandidateTable: {count_of(len(self), 'candidate')}"

    def __len__(self) -> int:
        return len(self.member)


def candidate_columns(job: Job, table: CandidateTable) -> dict[str, np.ndarray]:
    """Columns of a table of candidates, by name.

    Args:
        job: The job of the study.
        table: The candidates.

    Returns:
        Generation, member, status, stage, value, the groups of the pools by name, parameters and
        objectives by name, seconds, node, data and message. A name that occurs twice is preceded by
        its kind, such as ``parameter.cost``.
    """
    columns: dict[str, np.ndarray] = {
        "generation": table.generation,
        "member": table.member,
        "status": np.array([EvaluationStatus(code).name.lower() for code in table.status.tolist()]),
        "stage": table.stage,
        "value": table.value,
    }
    names = set(columns) | {"seconds", "node", "data", "message"}

    def unique(kind: str, name: str) -> str:
        chosen = name if name not in names else f"{kind}.{name}"
        names.add(chosen)
        return chosen

    for k, pool in enumerate(job.pools):
        groups = np.array(list(pool.groups))
        columns[unique("pool", pool.name)] = groups[table.groups[:, k]]
    for k, name in enumerate(job.space.names):
        columns[unique("parameter", name)] = table.values[:, k]
    for k, name in enumerate(job.goal.names):
        columns[unique("objective", name)] = table.results[:, k]
    columns["seconds"] = table.seconds
    columns["node"] = np.array(table.node)
    for name in ("data", "message"):
        # As objects: a text array would make all texts as long as the longest.
        columns[name] = np.array([text or "" for text in getattr(table, name)], dtype=object)
    return columns
