"""MOT and STO files: columns over time under a head, as SIMM and OpenSim write them."""

from __future__ import annotations

import re
from pathlib import Path

from homodyn.capture.formats.cells import parse_rows
from homodyn.capture.formats.file_content import read_text
from homodyn.capture.formats.unique_names import unique_names
from homodyn.capture.table import Table
from homodyn.errors import FormatError
from homodyn.model.formats.files import write_text

_COMPONENT_COUNTS = {
    "vec2": 2,
    "vec3": 3,
    "vec4": 4,
    "vec5": 5,
    "vec6": 6,
    "quaternion": 4,
    "spatialvec": 6,
}


def read_storage(path: Path) -> Table:
    """The table in a MOT or STO file, of the old (SIMM) or the new (OpenSim) kind of head."""
    lines = read_text(path).splitlines()
    end = next(
        (k for k, line in enumerate(lines[:1000]) if line.strip().lower() == "endheader"), None
    )
    if end is None:
        raise FormatError(
            "this is no MOT or STO file: no line says endheader; "
            "expected are a head, endheader, the names of the columns and rows of numbers",
            str(path),
        )
    title, header = _parse_header(lines[:end])
    place = end + 1
    while place < len(lines) and not lines[place].strip():
        place += 1
    if place >= len(lines):
        raise FormatError("the file ends after its head; export it again", str(path))
    delimiter = "\t" if "\t" in lines[place] else None
    names = [name.strip() for name in lines[place].strip().split(delimiter)]
    rows = [line.strip("\r\n") for line in lines[place + 1 :] if line.strip()]
    kind = header.get("datatype", "double").lower()
    if parts := _COMPONENT_COUNTS.get(kind):
        names = [names[0], *(f"{name}_{k}" for name in names[1:] for k in range(1, parts + 1))]
        rows = [row.replace(",", delimiter or " ") for row in rows]
    elif kind not in ("double", "float"):
        raise FormatError(f"DataType={kind} is not known; double and Vec3 are", str(path))
    if names[0].lower() != "time":
        raise FormatError(
            f"the first column is {names[0]!r}; time is expected", str(path), f"line {place + 1}"
        )
    said = header.get("nrows") or header.get("datarows")
    if said and said.isdigit() and int(said) > len(rows):
        raise FormatError(
            f"the file is cut off: its head says {said} rows, {len(rows)} are there; "
            "export it again or correct the head",
            str(path),
        )
    if not rows:
        raise FormatError("there are no rows below the names; export it again", str(path))
    # Blanks may stand around the tabs of a row, and a row may begin with some.
    cleaned = [row.strip(" ") for row in rows]
    table = parse_rows(cleaned, len(names), delimiter, str(path), place + 2)
    unique, _ = unique_names(names[1:], len(names) - 1, "column")
    return Table(unique, table[:, 0], table[:, 1:], _is_in_degrees(header, path), title, header)


def _is_in_degrees(header: dict[str, str], path: Path) -> bool:
    """What the head says of angles; a MOT file of SIMM's, without a version, means degrees."""
    said = header.get("indegrees")
    if said is None:
        return path.suffix.lower() == ".mot" and "version" not in header
    return said.lower() in ("yes", "y", "true", "1")


def _parse_header(lines: list[str]) -> tuple[str, dict[str, str]]:
    """The title, and what follows it by keys in small letters: ``key=value`` or ``key value``."""
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
    """Write a table as MOT or STO; every number reads back as the same bits."""
    kept = {
        key: value
        for key, value in table.header.items()
        if key
        not in (
            "nrows",
            "ncolumns",
            "indegrees",
            "version",
            "datarows",
            "datacolumns",
            "range",
            "name",
        )
        and key != "datatype"
    }
    lines = [
        (table.title or path.stem).replace("\n", " ").replace("=", " "),
        "version=1",
        f"nRows={len(table.time)}",
        f"nColumns={1 + len(table.names)}",
        f"inDegrees={'yes' if table.degrees else 'no'}",
        *(f"{key}={value}" for key, value in kept.items()),
        "endheader",
        "\t".join(["time", *table.names]),
    ]
    for time, row in zip(table.time.tolist(), table.values.tolist(), strict=True):
        lines.append("\t".join(map(repr, [time, *row])))
    write_text(path, "\n".join(lines) + "\n")
