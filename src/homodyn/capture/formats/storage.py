"""MOT and STO files: columns over time with a header, as SIMM and OpenSim write them."""

from __future__ import annotations

import re
from pathlib import Path

from homodyn.capture.formats.cells import CUT_ROW_MESSAGE, inspect_end, parse_rows
from homodyn.capture.formats.file_content import read_text
from homodyn.capture.formats.unique_names import unique_names
from homodyn.capture.table import Table
from homodyn.errors import FormatError
from homodyn.foundation.files import write_text
from homodyn.foundation.text import count_of

_OWN_KEYS = {
    "nrows",
    "ncolumns",
    "indegrees",
    "version",
    "datarows",
    "datacolumns",
    "range",
    "name",
    "datatype",
}
"""Keys of the header that are written from the table itself."""
_COMPONENT_COUNTS = {
    "vec2": 2,
    "vec3": 3,
    "vec4": 4,
    "vec5": 5,
    "vec6": 6,
    "quaternion": 4,
    "spatialvec": 6,
}


def read_storage(path: Path, *, partial: bool = False) -> Table:
    """The table in a MOT or STO file, with the header of SIMM or of OpenSim.

    ``partial`` reads the complete rows of a truncated file, with a note, instead of refusing it.
    """
    text = read_text(path)
    lines = text.splitlines()
    end = next(
        (k for k, line in enumerate(lines[:1000]) if line.strip().lower() == "endheader"), None
    )
    if end is None:
        raise FormatError(
            "this is not a MOT or STO file: the line endheader is missing; expected are a header, "
            "endheader, the names of the columns and rows of numbers",
            str(path),
        )
    title, header = _parse_header(lines[:end])
    number = end + 1
    while number < len(lines) and not lines[number].strip():
        number += 1
    if number >= len(lines):
        raise FormatError("the file ends after its header; export it again", str(path))
    delimiter = "\t" if "\t" in lines[number] else None
    names = [name.strip() for name in lines[number].strip().split(delimiter)]
    rows = [line.strip("\r\n") for line in lines[number + 1 :] if line.strip()]
    kind = header.get("datatype", "double").lower()
    if parts := _COMPONENT_COUNTS.get(kind):
        names = [names[0], *(f"{name}_{k}" for name in names[1:] for k in range(1, parts + 1))]
        rows = [row.replace(",", delimiter or " ") for row in rows]
    elif kind not in ("double", "float"):
        raise FormatError(
            f"DataType={kind} is not supported; accepted: double, float, "
            f"{', '.join(_COMPONENT_COUNTS)}",
            str(path),
        )
    if names[0].lower() != "time":
        raise FormatError(
            f"the first column is {names[0]!r}; time is expected", str(path), f"line {number + 1}"
        )
    stated = header.get("nrows") or header.get("datarows")
    notes = []
    file_end = inspect_end(text, [row.strip(" ") for row in rows], delimiter)
    if file_end.is_cut and not partial:
        raise FormatError(CUT_ROW_MESSAGE, str(path))
    if file_end.note:
        notes.append(f"{path.name}: {file_end.note}")
    if partial and rows and (file_end.is_cut or len(rows[-1].split(delimiter)) < len(names)):
        notes.append(f"the last row is incomplete and not read: {path.name}")
        rows.pop()
    if stated and stated.isdigit() and int(stated) > len(rows):
        if not partial:
            raise FormatError(
                f"the file is truncated: the header states {count_of(int(stated), 'row')}, the "
                f"file has {len(rows)}; export it again, correct the header, or read the rows "
                "that are there: homodyn analyze --lenient, read_table(path, partial=True)",
                str(path),
            )
        notes.append(f"{path.name} is truncated: {len(rows)} of {stated} rows are read")
    if not rows:
        raise FormatError("there are no rows of numbers; export it again", str(path))
    # Rows may begin or end with blanks.
    stripped = [row.strip(" ") for row in rows]
    table = parse_rows(stripped, len(names), delimiter, str(path), number + 2)
    unique, _ = unique_names(names[1:], len(names) - 1, "column")
    degrees = _is_in_degrees(header, path)
    return Table(unique, table[:, 0], table[:, 1:], degrees, title, header, tuple(notes))


def _is_in_degrees(header: dict[str, str], path: Path) -> bool:
    """Whether angles are in degrees; MOT files of SIMM, without a version, always are."""
    stated = header.get("indegrees")
    if stated is None:
        return path.suffix.lower() == ".mot" and "version" not in header
    return stated.lower() in ("yes", "y", "true", "1")


def _parse_header(lines: list[str]) -> tuple[str, dict[str, str]]:
    """The title, and the entries ``key=value`` or ``key value`` by keys in lower case."""
    title, header = "", {}
    for number, line in enumerate(lines):
        text = line.strip()
        if not text:
            continue
        pair = re.match(r"(\w+)\s*=\s*(.*)$", text) or re.match(
            r"(name|datacolumns|datarows|range|version)\s+(.+)$", text, re.IGNORECASE
        )
        if pair:
            header[pair[1].lower()] = pair[2].strip()
        elif number == 0:
            title = text
    return title or header.get("name", ""), header


def write_storage(table: Table, path: Path) -> None:
    """Write a table as MOT or STO; every number is restored bit by bit."""
    further = {key: value for key, value in table.header.items() if key not in _OWN_KEYS}
    lines = [
        (table.title or path.stem).replace("\n", " ").replace("=", " "),
        "version=1",
        f"nRows={len(table.time)}",
        f"nColumns={1 + len(table.names)}",
        f"inDegrees={'yes' if table.degrees else 'no'}",
        *(f"{key}={value}" for key, value in further.items()),
        "endheader",
        "\t".join(["time", *table.names]),
    ]
    for time, row in zip(table.time.tolist(), table.values.tolist(), strict=True):
        lines.append("\t".join(map(repr, [time, *row])))
    write_text(path, "\n".join(lines) + "\n")
