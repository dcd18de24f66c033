"""CSV files: columns of markers or of anything else, separated by commas, semicolons or tabs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from homodyn.capture.formats.cells import find_delimiter, mask_missing_codes, parse_rows
from homodyn.capture.formats.column_map import Column, ColumnMap
from homodyn.capture.formats.file_content import read_text
from homodyn.capture.formats.missing_markers import (
    METRES_PER_UNIT,
    detect_length_unit,
    mark_missing,
)
from homodyn.capture.formats.time_base import TimeBase, fit_time_base
from homodyn.capture.formats.unique_names import unique_names
from homodyn.capture.formats.up_axis import ROTATION_BY_UP_AXIS, detect_up_axis, parse_up_axis
from homodyn.capture.table import Table
from homodyn.capture.trial import Trial
from homodyn.errors import FormatError
from homodyn.foundation.text import unknown_name
from homodyn.model.formats.files import write_text

_TIME = re.compile(r"(time|t|times|timestamp)\s*([\[(]?s(ec(onds)?)?[\])]?)?", re.IGNORECASE)
_COUNT = re.compile(r"(frame|frames|field|sample|index|frame#|#)", re.IGNORECASE)
_AXIS = re.compile(r"(.*?)[\s._:-]*([xyz])", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class _CsvContent:
    """A CSV file taken apart."""

    names: tuple[str, ...]
    """Names of the columns; empty texts where the file has no line of names."""
    values: np.ndarray
    comment_settings: dict[str, str]
    """What comment lines above say as ``key = value``."""

    def column_index(self, column: Column, path: str) -> int:
        """Where a column stands."""
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
    lines = read_text(path).splitlines()
    said: dict[str, str] = {}
    start = mapping.skip
    while start < len(lines) and (
        not lines[start].strip() or lines[start].lstrip().startswith("#")
    ):
        for key, value in re.findall(r"(\w+)\s*=\s*([^,;\s]+)", lines[start]):
            said[key.lower()] = value
        start += 1
    if start >= len(lines):
        raise FormatError("the file has no rows of numbers", str(path))
    delimiter = mapping.delimiter or find_delimiter(lines[start])
    head = _cells(lines[start], delimiter)
    named = any(cell and not _is_number(cell) for cell in head)
    names = tuple(head) if named else ("",) * len(head)
    first = start + 1 if named else start
    rows = [line.replace('"', "") for line in lines[first:] if line.strip()]
    if not rows:
        raise FormatError("the file has no rows of numbers", str(path))
    values = parse_rows(rows, len(names), delimiter, str(path), first + 1)
    return _CsvContent(names, values, said)


def _cells(line: str, delimiter: str | None) -> list[str]:
    cells = [cell.strip().strip('"').strip() for cell in line.split(delimiter)]
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
    """The columns of a CSV file that has a line of names and a column of time."""
    sheet = _read_content(path, ColumnMap())
    if not any(sheet.names):
        raise FormatError("the columns have no names; a line of names is expected", str(path))
    place = _time_column(sheet)
    if place is None:
        raise FormatError(
            f"no column is called time; it has: {', '.join(sheet.names[:20])}", str(path)
        )
    others = [k for k in range(len(sheet.names)) if k != place]
    names, _ = unique_names([sheet.names[k] for k in others], len(others), "column")
    degrees = sheet.comment_settings.get("degrees", "no").lower() in ("yes", "true", "1")
    return Table(names, sheet.values[:, place], sheet.values[:, others], degrees, path.stem)


def _time_column(sheet: _CsvContent) -> int | None:
    return next((k for k, name in enumerate(sheet.names) if _TIME.fullmatch(name.strip())), None)


def read_csv(path: Path, mapping: ColumnMap, *, up: str | None = None) -> Trial:
    """The trial in a CSV file; see `homodyn.capture.read`."""
    sheet = _read_content(path, mapping)
    triples = dict(mapping.markers) or _marker_columns(sheet.names)
    if not triples:
        raise FormatError(
            "no three columns are called after one marker, as LASI.x, LASI.y, LASI.z; "
            "say with columns= which are which",
            str(path),
        )
    places = np.array(
        [
            [sheet.column_index(column, str(path)) for column in columns]
            for columns in triples.values()
        ]
    )
    clock = _time_base(sheet, mapping, str(path))
    points = mask_missing_codes(clock.expand_rows(sheet.values[:, places]), mapping.missing)
    # A comment may say anything: only what makes sense here is taken from it.
    told = sheet.comment_settings.get("unit", "")
    unit = mapping.unit or (told if told.lower() in METRES_PER_UNIT else "")
    length, unit_notes = detect_length_unit(unit, points)
    positions, missing_notes = mark_missing(points * length)
    if not np.isfinite(positions).any():
        raise FormatError("no marker is seen in any frame; check columns= and unit", str(path))
    markers = tuple(triples)
    told = sheet.comment_settings.get("up", "")
    named = up or mapping.up or (told if told in ROTATION_BY_UP_AXIS else "")
    direction = parse_up_axis(named) if named else detect_up_axis(positions, markers)
    trial = Trial(
        name=path.stem,
        markers=markers,
        positions=positions,
        rate=clock.rate,
        start=clock.start,
        source=str(path),
        notes=(*clock.notes, *unit_notes, *missing_notes, direction.note),
    )
    first = sheet.comment_settings.get("first_frame", "")
    if first.isdigit():
        trial = replace(trial, first_frame=int(first))
    return trial.rotate(direction.axes)


def _marker_columns(names: Sequence[str]) -> dict[str, tuple[Column, Column, Column]]:
    """Markers told by the names of their columns: one beginning, then x, y and z."""
    found: dict[str, dict[str, Column]] = {}
    for number, name in enumerate(names, start=1):
        match = _AXIS.fullmatch(name)
        if match and match[1] and not _TIME.fullmatch(name) and not _COUNT.fullmatch(name):
            found.setdefault(match[1], {}).setdefault(match[2].lower(), number)
    return {
        stem: (axes["x"], axes["y"], axes["z"]) for stem, axes in found.items() if len(axes) == 3
    }


def _time_base(sheet: _CsvContent, mapping: ColumnMap, path: str) -> TimeBase:
    said = mapping.rate
    if said is None and (told := sheet.comment_settings.get("rate")) and _is_number(told):
        said = float(told)
    place = (
        sheet.column_index(mapping.time, path) if mapping.time is not None else _time_column(sheet)
    )
    if place is not None:
        return fit_time_base(sheet.values[:, place], path, said=said)
    if said is None or not 0.0 < said < np.inf:
        raise FormatError(
            'there is no column of time; give the frames per second, as columns={"rate": 100, ...}',
            path,
        )
    return TimeBase(0.0, said, np.arange(len(sheet.values)))


def write_csv(trial: Trial, path: Path) -> None:
    """Write the markers of a trial in metres, Z up; every position reads back as the same bits."""
    _refuse_delimiters([*trial.markers], path)
    names = [f"{marker}.{axis}" for marker in trial.markers for axis in "xyz"]
    head = f"# unit = m, up = z, rate = {trial.rate!r}, first_frame = {trial.first_frame}"
    _write(path, [head], names, trial.time, trial.positions.reshape(trial.frames, -1))


def write_csv_table(table: Table, path: Path) -> None:
    """Write a table; every number reads back as the same bits."""
    _refuse_delimiters([*table.names], path)
    head = [f"# degrees = {'yes' if table.degrees else 'no'}"]
    _write(path, head, table.names, table.time, table.values)


def _refuse_delimiters(names: list[str], path: Path) -> None:
    for name in names:
        if set(name) & set(',"\n\r'):
            raise FormatError(
                f"the name {name!r} holds a mark that separates cells; rename it", str(path)
            )


def _write(
    path: Path, head: list[str], names: Sequence[str], time: np.ndarray, values: np.ndarray
) -> None:
    lines = [*head, ",".join(["time", *names])]
    for instant, row in zip(time.tolist(), values.tolist(), strict=True):
        cells = ["" if value != value else repr(value) for value in row]
        lines.append(",".join([repr(instant), *cells]))
    write_text(path, "\n".join(lines) + "\n")
