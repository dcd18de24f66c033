"""Column map of a CSV file, given in code or as a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any

from homodyn.capture.formats.file_content import read_text
from homodyn.errors import FormatError
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import closest_name, unknown_name

MIN_MISTYPED_SIMILARITY = 0.75
"""Similarity from which a name beside a column map is a mistyped setting, and no marker."""
Column = str | int
"""A column by its name in the header of the file, or by its number, starting at 1."""


@record(eq=True)
class ColumnMap(Record):
    """What a CSV file does not state: markers, time, unit, vertical axis and layout."""

    markers: Mapping[str, tuple[Column, Column, Column]] = field(default_factory=dict)
    """Columns of x, y and z by marker name; empty: by the names of the columns."""
    time: Column | None = None
    """The column of time (s); None: the column named time."""
    rate: float | None = None
    """Frames per second (Hz), for files without a time column."""
    unit: str = ""
    """Unit of length; empty: the unit in which the markers have the size of a person."""
    up: str = ""
    """The axis that points up; empty: detected from the markers."""
    delimiter: str = ""
    """Separator of cells; empty: tab, semicolon, comma or blanks, whichever occurs."""
    skip: int = 0
    """Lines to skip above the names of the columns."""
    missing: tuple[float, ...] = ()
    """Numbers that mark missing markers; numbers beyond 1e20 always do."""


@guarded_reader("column map")
def read_column_map(source: Mapping[str, Any] | str | Path | None) -> ColumnMap:
    """The column map in a mapping or in a TOML file.

    A mapping whose keys are no settings, and similar to none, is a map of markers.

    Raises:
        FormatError: A key is unknown or a value has a wrong type.
    """
    if source is None:
        return ColumnMap()
    where = ""
    if isinstance(source, (str, Path)):
        where = str(source)
        try:
            source = tomllib.loads(read_text(Path(source)))
        except tomllib.TOMLDecodeError as error:
            raise FormatError(f"it is not valid TOML: {error}", where) from error
    settings = _settings(source, where)
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
            raise FormatError(
                f"{settings['rate']:g} Hz is not a frame rate; expected 0 to 1e7 Hz", where, "rate"
            )
    for key in ("unit", "up", "delimiter"):
        _check_type(settings.get(key, ""), str, key, where)
    if settings.get("time") is not None:
        _check_type(settings["time"], (str, int), "time", where)
    return ColumnMap(
        markers={name: _triple(name, columns, where) for name, columns in markers.items()},
        **settings,
    )


def _settings(source: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The settings of a map; a map of nothing but markers becomes their table.

    Raises:
        FormatError: A key is no setting, and could be one that is mistyped.
    """
    known = [entry.name for entry in fields(ColumnMap)]
    unknown = [key for key in source if key not in known]
    mistyped = [key for key in unknown if closest_name(key, known, MIN_MISTYPED_SIMILARITY)]
    if mistyped or (unknown and len(unknown) < len(source)):
        key = mistyped[0] if mistyped else unknown[0]
        raise FormatError(
            f"{unknown_name('setting of a column map', key, known)}; if it is a marker, put it "
            "into the table [markers]",
            where,
        )
    return {"markers": source} if unknown else dict(source)


def _check_type(value: Any, kind: type | tuple[type, ...], key: str, where: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        words = {str: "a text", int: "a number", float: "a number"}
        expected = " or ".join(dict.fromkeys(words[k] for k in kinds))
        raise FormatError(f"{value!r} is not {expected}", where, key)
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
        f"{columns!r} is not accepted; expected are three columns, the number of the first of "
        "three, or the beginning of their names before x, y, z",
        where,
        f"markers.{name}",
    )
