"""Rows of the candidate table of a database: written from batches, read into arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from homodyn.search.evaluation.outcomes import CandidateBatch, EvaluationOutcomes
from homodyn.search.goal import Score
from homodyn.search.studies.candidate_table import CandidateTable


@dataclass(frozen=True, eq=False)
class RecordedBatch:
    """Evaluated candidates of a generation."""

    candidates: CandidateBatch
    """The candidates."""
    outcomes: EvaluationOutcomes
    """Their outcomes."""
    score: Score
    """Their scores."""
    attempts: int
    """How often they were evaluated."""


def candidate_rows(
    study: int, generation: int, batch: RecordedBatch, now: float
) -> Iterator[tuple[Any, ...]]:
    """Rows of candidates, in the order of the columns of the table.

    Args:
        study: Number of the study.
        generation: Number of the generation.
        batch: The candidates.
        now: Time stamp (s).

    Returns:
        One row per candidate.
    """
    candidates, outcomes = batch.candidates, batch.outcomes
    count = len(candidates.members)
    results = _row_bytes(outcomes.results, count)
    messages = {row: escape_text(text) for row, text in outcomes.messages.items()}
    for k in np.flatnonzero(outcomes.status).tolist():
        results[k] = None
    return zip(
        repeat(study),
        repeat(generation),
        candidates.members.tolist(),
        _row_bytes(candidates.values, count),
        _row_bytes(candidates.groups, count),
        results,
        outcomes.status.tolist(),
        batch.score.stage.tolist(),
        batch.score.value.tolist(),
        map(outcomes.data.get, range(count)),
        outcomes.seconds.tolist(),
        repeat(outcomes.node),
        repeat(batch.attempts),
        repeat(now),
        map(messages.get, range(count)),
        strict=False,
    )


def _row_bytes(rows: np.ndarray, count: int) -> list[bytes | None]:
    """The bytes of each row."""
    content, size = rows.tobytes(), rows.itemsize * rows.shape[1]
    return [content[k : k + size] for k in range(0, size * count, size)] if size else [b""] * count


def escape_text(text: str) -> str:
    """Text that every database accepts: file names may contain bytes that are not Unicode."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


def table_of_rows(
    rows: Sequence[Any], parameters: int, pools: int, objectives: int
) -> CandidateTable:
    """Rows of a database as arrays.

    Args:
        rows: The rows, with all columns.
        parameters: Number of parameters of the job.
        pools: Number of pools of the job.
        objectives: Number of objectives of the job.

    Returns:
        The candidates; objectives of failed ones are NaN.
    """
    none = np.full(objectives, np.nan).tobytes()

    def matrix(name: str, kind: str, columns: int, default: bytes = b"") -> np.ndarray:
        joined = b"".join(bytes(getattr(row, name) or default) for row in rows)
        return np.frombuffer(joined, dtype=kind).reshape(len(rows), columns)

    def column(name: str, kind: Any) -> np.ndarray:
        return np.array([getattr(row, name) for row in rows], dtype=kind)

    return CandidateTable(
        column("generation", int),
        column("member", int),
        matrix("parameters", "<f8", parameters),
        matrix("groups", "<i4", pools),
        matrix("objectives", "<f8", objectives, none),
        column("status", np.int8),
        column("stage", int),
        column("value", float),
        column("seconds", float),
        tuple(row.node for row in rows),
        tuple(row.data for row in rows),
        tuple(row.message for row in rows),
    )
