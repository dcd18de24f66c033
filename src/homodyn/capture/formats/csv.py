"""CSV files: columns of markers or of anything else, separated by commas, semicolons or tabs."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from homodyn.capture.formats.cells import (
    CUT_ROW_MESSAGE,
    find_delimiter,
    inspect_end,
    mask_missing_codes,
    parse_rows,
)
from homodyn.capture.formats.column_map import Column, ColumnMap
from homodyn.capture.formats.file_content import read_text
from homodyn.capture.formats.missing_markers import (
    METERS_PER_UNIT,
    detect_length_unit,
    mark_missing,
)
from homodyn.capture.formats.time_base import TimeBase, fit_time_base
from homodyn.capture.formats.unique_names import unique_names
from homodyn.capture.formats.up_axis import ROTATION_BY_UP_AXIS, detect_up_axis, parse_up_axis
from homodyn.capture.table import Table
from homodyn.capture.trial import Trial
from homodyn.errors import FormatError
from homodyn.foundation.files import write_text
from homodyn.foundation.text import enumerate_names, unknown_name

_TIME_NAME = re.compile(r"(time|t|times|timestamp)\s*([\[(]?s(ec(onds)?)?[\])]?)?", re.IGNORECASE)
_FRAME_NAME = re.compile(r"(frame|frames|field|sample|index|frame#|#)", re.IGNORECASE)
_AXIS_NAME = re.compile(r"(.*?)[\s._:-]*([xyz])", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class _CsvContent:
    """The content of a CSV file."""

    names: tuple[str, ...]
    """Names of the columns; empty texts if the file has no line of names."""
    values: np.ndarray
    """(rows, columns)."""
    comment_settings: dict[str, str]
    """Entries ``key = value`` of the comment lines above."""
    notes: tuple[str, ...] = ()
    """What the reader noticed, one sentence each."""

    def column_index(self, column: Column, path: str) -> int:
        """Index of a column, by name or number."""
        if isinstance(column, int):
            if not 1 <= column <= len(self.names):
                raise FormatError(
                    f"there is no column {column}; the file has 1 to {len(self.names)}", path
                )
            return column - 1
        if column not in self.names:
            raise FormatError(
                unknown_name("column", column, [name for name in self.names if name]), path
            )
        return self.names.index(column)


def _read_content(path: Path, mapping: ColumnMap) -> _CsvContent:
    text = read_text(path)
    lines = text.splitlines()
    settings: dict[str, str] = {}
    start = mapping.skip
    while start < len(lines) and (
        not lines[start].strip() or lines[start].lstrip().startswith("#")
    ):
        for key, value in re.findall(r"(\w+)\s*=\s*([^,;\s]+)", lines[start]):
            settings[key.lower()] = value
        start += 1
    if start >= len(lines):
        raise FormatError("the file has no rows of numbers", str(path))
    delimiter = mapping.delimiter or find_delimiter(lines[start])
    head = _head_cells(lines[start], delimiter)
    has_names = any(cell and not _is_number(cell) for cell in head)
    names = tuple(head) if has_names else ("",) * len(head)
    first = start + 1 if has_names else start
    rows = [line.replace('"', "") for line in lines[first:] if line.strip()]
    if not rows:
        raise FormatError("the file has no rows of numbers", str(path))
    end = inspect_end(text, rows, delimiter)
    if end.is_cut:
        raise FormatError(CUT_ROW_MESSAGE, str(path))
    values = parse_rows(rows, len(names), delimiter, str(path), first + 1)
    return _CsvContent(names, values, settings, (end.note,) if end.note else ())


def _head_cells(line: str, delimiter: str | None) -> list[str]:
    """Cells of the line of names; a name in quotes may contain the delimiter."""
    if delimiter is None:
        cells = [cell.strip('"') for cell in line.split()]
    else:
        reader = csv.reader([line], delimiter=delimiter, skipinitialspace=True)
        cells = [cell.strip().strip('"').strip() for cell in next(reader)]
    while len(cells) > 1 and not cells[-1]:
        cells.pop()
    return cells


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def read_csv_table(path: Path) -> Table:
    """The columns of a CSV file with a line of names and a column of time."""
    content = _read_content(path, ColumnMap())
    if not any(content.names):
        raise FormatError("the columns have no names; a line of names is expected", str(path))
    time = _time_column(content)
    if time is None:
        raise FormatError(
            f"no column is named time; the file has {enumerate_names(content.names, 20)}", str(path)
        )
    others = [k for k in range(len(content.names)) if k != time]
    names, _ = unique_names([content.names[k] for k in others], len(others), "column")
    degrees = content.comment_settings.get("degrees", "no").lower() in ("yes", "true", "1")
    return Table(
        names,
        content.values[:, time],
        content.values[:, others],
        degrees,
        path.stem,
        notes=content.notes,
    )


def _time_column(content: _CsvContent) -> int | None:
    names = enumerate(content.names)
    return next((k for k, name in names if _TIME_NAME.fullmatch(name.strip())), None)


def read_csv(path: Path, mapping: ColumnMap, *, up: str | None = None) -> Trial:
    """The trial in a CSV file; see `homodyn.capture.read`."""
    content = _read_content(path, mapping)
    triples = dict(mapping.markers) or _marker_columns(content.names)
    if not triples:
        raise FormatError(
            "no columns are named after markers, such as LASI.x, LASI.y, LASI.z; pass a column map "
            "with --columns map.toml (in Python, columns=)",
            str(path),
        )
    indices = np.array(
        [
            [content.column_index(column, str(path)) for column in columns]
            for columns in triples.values()
        ]
    )
    clock = _time_base(content, mapping, str(path))
    points = mask_missing_codes(clock.expand_rows(content.values[:, indices]), mapping.missing)
    # Comments may contain anything: only valid entries are used.
    unit = content.comment_settings.get("unit", "")
    unit = mapping.unit or (unit if unit.lower() in METERS_PER_UNIT else "")
    length, unit_notes = detect_length_unit(unit, points)
    positions, missing_notes = mark_missing(points * length)
    if not np.isfinite(positions).any():
        raise FormatError("no marker is visible in any frame; check columns= and unit", str(path))
    markers = tuple(triples)
    stated = content.comment_settings.get("up", "")
    axis = up or mapping.up or (stated if stated in ROTATION_BY_UP_AXIS else "")
    direction = parse_up_axis(axis) if axis else detect_up_axis(positions, markers)
    trial = Trial(
        name=path.stem,
        markers=markers,
        positions=positions,
        rate=clock.rate,
        start=clock.start,
        source=str(path),
        notes=(*content.notes, *clock.notes, *unit_notes, *missing_notes, direction.note),
    )
    first = content.comment_settings.get("first_frame", "")
    if first.isdigit():
        trial = replace(trial, first_frame=int(first))
    return trial.rotate(direction.axes)


def _marker_columns(names: Sequence[str]) -> dict[str, tuple[Column, Column, Column]]:
    """Columns by marker: names with a common beginning, followed by x, y and z."""
    found: dict[str, dict[str, Column]] = {}
    for number, name in enumerate(names, start=1):
        match = _AXIS_NAME.fullmatch(name)
        is_marker = not _TIME_NAME.fullmatch(name) and not _FRAME_NAME.fullmatch(name)
        if match and match[1] and is_marker:
            found.setdefault(match[1], {}).setdefault(match[2].lower(), number)
    return {
        stem: (axes["x"], axes["y"], axes["z"]) for stem, axes in found.items() if len(axes) == 3
    }


def _time_base(content: _CsvContent, mapping: ColumnMap, path: str) -> TimeBase:
    rate = mapping.rate
    stated = content.comment_settings.get("rate", "")
    if rate is None and _is_number(stated):
        rate = float(stated)
    if mapping.time is not None:
        time: int | None = content.column_index(mapping.time, path)
    else:
        time = _time_column(content)
    if time is not None:
        return fit_time_base(content.values[:, time], path, stated_rate=rate)
    if rate is None or not 0.0 < rate < np.inf:
        raise FormatError(
            "there is no column of time; pass the frames per second, such as --rate 100 (in "
            'Python, columns={"rate": 100, ...})',
            path,
        )
    return TimeBase(0.0, rate, np.arange(len(content.values)))


def write_csv(trial: Trial, path: Path) -> None:
    """Write the markers of a trial in meters, Z up; every position is restored bit by bit."""
    _refuse_delimiters([*trial.markers], path)
    names = [f"{marker}.{axis}" for marker in trial.markers for axis in "xyz"]
    head = f"# unit = m, up = z, rate = {trial.rate!r}, first_frame = {trial.first_frame}"
    _write(path, [head], names, trial.time, trial.positions.reshape(trial.frames, -1))


def write_csv_table(table: Table, path: Path) -> None:
    """Write a table; every number is restored bit by bit."""
    _refuse_delimiters([*table.names], path)
    head = [f"# degrees = {'yes' if table.degrees else 'no'}"]
    _write(path, head, table.names, table.time, table.values)


def _refuse_delimiters(names: list[str], path: Path) -> None:
    for name in names:
        if set(name) & set(',"\n\r'):
            raise FormatError(
                f"the name {name!r} contains a comma, a quote or a line break; rename it", str(path)
            )


def _write(
    path: Path, head: list[str], names: Sequence[str], time: np.ndarray, values: np.ndarray
) -> None:
    lines = [*head, ",".join(["time", *names])]
    for instant, row in zip(time.tolist(), values.tolist(), strict=True):
        cells = ["" if value != value else repr(value) for value in row]
        lines.append(",".join([repr(instant), *cells]))
    write_text(path, "\n".join(lines) + "\n")
