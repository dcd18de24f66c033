"""Studies as table files for other programs: CSV, or Parquet with pyarrow."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.errors import FormatError, SearchError
from homodyn.foundation import atomic_file
from homodyn.search.jobs.job import stored_job
from homodyn.search.studies.candidate_table import candidate_columns
from homodyn.search.studies.study import Study


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
    file = Path(path)
    writers = {".csv": _write_csv, ".parquet": _write_parquet}
    if file.suffix.lower() not in writers:
        accepted = ", ".join(writers)
        raise SearchError(f"{file} has {file.suffix or 'no suffix'}; accepted: {accepted}")
    write = writers[file.suffix.lower()]
    try:
        with atomic_file(file) as temporary:
            return write(_tables(study), temporary)
    except FormatError as error:
        raise SearchError(str(error)) from None


def _tables(study: Study) -> Iterator[dict[str, Any]]:
    """Parts of the table, as columns by name."""
    job = stored_job(study.job)
    for part in study.all_candidates():
        yield candidate_columns(job, part)


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
    """Numbers as the shortest text that reads back to the same bits; NaN is an empty cell."""
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
