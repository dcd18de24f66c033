"""Which columns of a CSV file are what: a map that the user gives, in code or as a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any

from homodyn.capture.formats.file_content import read_text
from homodyn.errors import FormatError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name

Column = str | int
"""A column by its name in the head of the file, or by its number, the first being 1."""


@record(eq=True)
class ColumnMap(Record):
    """What a CSV file does not say of itself."""

    markers: Mapping[str, tuple[Column, Column, Column]] = field(default_factory=dict)
    """Columns of x, y and z by the name of the marker; empty: told by the names of the columns."""
    time: Column | None = None
    """The column of time (s); None: the one that is called so."""
    rate: float | None = None
    """Frames per second (Hz) where there is no time."""
    unit: str = ""
    """Unit of length; nothing: the one that makes the markers a person."""
    up: str = ""
    """The axis that points up; nothing: read off the markers."""
    delimiter: str = ""
    """What separates cells; nothing: tab, semicolon, comma or blanks, whichever is there."""
    skip: int = 0
    """Lines to leave out above the names of the columns."""
    missing: tuple[float, ...] = ()
    """Numbers that stand for a marker that was not seen. Anything beyond 1e20 does anyway."""


def read_column_map(source: Mapping[str, Any] | str | Path | None) -> ColumnMap:
    """The map in a mapping or in a TOML file.

    A mapping without the key ``markers`` whose values are all columns is taken as the markers.
    """
    if source is None:
        return ColumnMap()
    where = ""
    if isinstance(source, (str, Path)):
        where = str(source)
        try:
            source = tomllib.loads(read_text(Path(source)))
        except tomllib.TOMLDecodeError as error:
            raise FormatError(f"it is no TOML: {error}", where) from error
    known = [entry.name for entry in fields(ColumnMap)]
    if not set(source) & set(known) or ("markers" not in source and set(source) - set(known)):
        source = {"markers": source}
    for key in source:
        if key not in known:
            raise FormatError(unknown_name("setting of a column map", key, known), where)
    settings = dict(source)
    markers = settings.pop("markers", {})
    if not isinstance(markers, Mapping):
        raise FormatError("markers must be a table of columns by marker name", where, "markers")
    settings["missing"] = _numbers(settings.get("missing", ()), where)
    settings["skip"] = _check_type(settings.get("skip", 0), int, "skip", where)
    if settings["skip"] < 0:
        raise FormatError("it must be 0 or more", where, "skip")
    if settings.get("rate") is not None:
        settings["rate"] = float(_check_type(settings["rate"], (int, float), "rate", where))
        if not 0.0 < settings["rate"] < 1e7:
            raise FormatError(f"{settings['rate']:g} Hz is no frame rate", where, "rate")
    for key in ("unit", "up", "delimiter"):
        _check_type(settings.get(key, ""), str, key, where)
    if settings.get("time") is not None:
        _check_type(settings["time"], (str, int), "time", where)
    return ColumnMap(
        markers={name: _triple(name, columns, where) for name, columns in markers.items()},
        **settings,
    )


def _check_type(value: Any, kind: type | tuple[type, ...], key: str, where: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join({str: "a text", int: "a number", float: "a number"}[k] for k in kinds)
        raise FormatError(f"{value!r} is not {wanted}", where, key)
    return value


def _numbers(value: Any, where: str) -> tuple[float, ...]:
    values = value if isinstance(value, (list, tuple)) else [value]
    return tuple(float(_check_type(one, (int, float), "missing", where)) for one in values)


def _triple(name: str, columns: Any, where: str) -> tuple[Column, Column, Column]:
    if isinstance(columns, int) and not isinstance(columns, bool):
        return columns, columns + 1, columns + 2
    if isinstance(columns, str):
        return f"{columns}x", f"{columns}y", f"{columns}z"
    if isinstance(columns, (list, tuple)) and len(columns) == 3:
        x, y, z = (_check_type(column, (str, int), f"markers.{name}", where) for column in columns)
        return x, y, z
    raise FormatError(
        f"{columns!r} is not accepted; give three columns, the number of the first of three, "
        "or the beginning of their names before x, y, z",
        where,
        f"markers.{name}",
    )
