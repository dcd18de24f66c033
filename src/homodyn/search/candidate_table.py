"""Studies as tables for other programs: CSV with nothing else, Parquet with pyarrow."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.errors import SearchError
from homodyn.search.job import Job, stored_job
from homodyn.search.outcomes import EvaluationStatus
from homodyn.search.study import CandidateTable, Study


def export(study: Study, path: str | Path) -> int:
    """Write all candidates of a study to a table file, one row per candidate.

    The columns are generation, member, status, stage, value (lower is better), pools with the names
    of their groups, parameters and objectives by name (empty where inactive or not available),
    seconds, node, data and message. On failure an existing file stays unchanged.

    Args:
        study: The study; another process may be running it.
        path: The file, ``.csv`` or ``.parquet``. Parquet requires the package pyarrow.

    Returns:
        The number of rows written.

    Raises:
        SearchError: The suffix is not supported, the file cannot be written, pyarrow is missing, or
            (Parquet only) the study has no candidates yet.
    """
    place = Path(path)
    writers = {".csv": _write_csv, ".parquet": _write_parquet}
    if place.suffix.lower() not in writers:
        raise SearchError(f"{place}: {place.suffix or 'no suffix'} is not among {list(writers)}")
    write = writers[place.suffix.lower()]
    try:
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as beside:
            complete = Path(beside) / place.name
            count = write(_tables(study), complete)
            os.replace(complete, place)
    except OSError as error:
        raise SearchError(f"{place} cannot be written: {error.strerror or error}") from None
    return count


def _tables(study: Study) -> Iterator[dict[str, Any]]:
    """Pieces of the table, column by column."""
    job = stored_job(study.job)
    for piece in study.all_candidates():
        yield _columns(job, piece)


def _columns(job: Job, piece: CandidateTable) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "generation": piece.generation,
        "member": piece.member,
        "status": np.array([EvaluationStatus(code).name.lower() for code in piece.status.tolist()]),
        "stage": piece.stage,
        "value": piece.value,
    }
    taken = set(columns) | {"seconds", "node", "data", "message"}

    def named(kind: str, name: str) -> str:
        # A parameter may be called like an objective, or like one of ours.
        free = name if name not in taken else f"{kind}.{name}"
        taken.add(free)
        return free

    for k, pool in enumerate(job.pools):
        names = np.array(list(pool.groups))
        columns[named("pool", pool.name)] = names[piece.groups[:, k]]
    for k, name in enumerate(job.space.names):
        columns[named("parameter", name)] = piece.values[:, k]
    for k, name in enumerate(job.goal.names):
        columns[named("objective", name)] = piece.results[:, k]
    columns["seconds"] = piece.seconds
    columns["node"] = np.array(piece.node)
    for name in ("data", "message"):
        # As objects: texts of unlike length would all be as long as the longest.
        columns[name] = np.array([words or "" for words in getattr(piece, name)], dtype=object)
    return columns


def _write_csv(tables: Iterator[dict[str, Any]], path: Path) -> int:
    count = 0
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for columns in tables:
            if not count:
                writer.writerow(columns)
            lists = [_cells(values) for values in columns.values()]
            writer.writerows(zip(*lists, strict=True))
            count += len(lists[0])
    return count


def _cells(values: np.ndarray) -> list[Any]:
    """Numbers in the shortest text that reads back to the same bits; nan is an empty cell."""
    if values.dtype.kind != "f":
        return list(values.tolist())
    return ["" if value != value else repr(value) for value in values.tolist()]


def _write_parquet(tables: Iterator[dict[str, Any]], path: Path) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise SearchError(
            "Parquet needs the package pyarrow: pip install 'homodyn[parquet]'; CSV needs nothing"
        ) from None
    count, writer = 0, None
    for columns in tables:
        table = pyarrow.table(columns)
        if writer is None:
            writer = parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
        count += table.num_rows
    if writer is None:
        raise SearchError("the study has no candidates yet")
    writer.close()
    return count
