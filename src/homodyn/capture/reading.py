"""Recordings in and out: the format is told by the suffix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from homodyn.capture.formats.c3d import read_c3d
from homodyn.capture.formats.forces import plates_of
from homodyn.capture.formats.storage import read_storage, write_storage
from homodyn.capture.formats.trc import read_trc, write_trc
from homodyn.capture.table import Table
from homodyn.capture.trial import ForcePlate, Trial
from homodyn.errors import FormatError


def read(
    path: str | Path,
    *,
    up: str | None = None,
    columns: Mapping[str, Any] | str | Path | None = None,
    forces: str | Path | None = None,
    partial: bool = False,
) -> Trial:
    """The trial in a ``.c3d`` or ``.trc`` file: metres, seconds, newtons, Z up."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".c3d":
        trial = read_c3d(path, up=up, partial=partial)
    elif suffix == ".trc":
        trial = read_trc(path, up=up, partial=partial)
    elif suffix in (".mot", ".sto"):
        raise FormatError(
            f"a {suffix} file holds columns, not markers: read forces with read_plates, "
            "coordinates and results with read_table",
            str(path),
        )
    else:
        raise FormatError(
            f"trials are not read from {suffix!r}; accepted: .c3d, .trc, .csv", str(path)
        )
    return replace(trial, plates=read_plates(forces)) if forces else trial


def read_plates(
    path: str | Path, *, setup: str | Path | None = None, up: str = "y", unit: str = "m"
) -> tuple[ForcePlate, ...]:
    """The ground forces in a ``.mot``, ``.sto`` or ``.csv`` file, in our axes (Z up)."""
    path = Path(path)
    return plates_of(read_table(path), str(path), setup=setup, up=up, unit=unit)


def read_table(path: str | Path) -> Table:
    """The columns of a ``.mot``, ``.sto`` or ``.csv`` file."""
    path = Path(path)
    if path.suffix.lower() in (".mot", ".sto"):
        return read_storage(path)
    raise FormatError(
        f"tables are not read from {path.suffix!r}; accepted: .mot, .sto, .csv", str(path)
    )


def write_table(table: Table, path: str | Path) -> None:
    """Write a table as ``.mot``, ``.sto`` or ``.csv``; no number changes."""
    path = Path(path)
    if path.suffix.lower() in (".mot", ".sto"):
        write_storage(table, path)
    else:
        raise FormatError(
            f"tables are not written as {path.suffix!r}; accepted: .mot, .sto, .csv", str(path)
        )


def write(trial: Trial, path: str | Path) -> None:
    """Write a trial as ``.c3d``, ``.trc`` or ``.csv``."""
    path = Path(path)
    if path.suffix.lower() == ".trc":
        write_trc(trial, path)
    else:
        raise FormatError(
            f"trials are not written as {path.suffix!r}; accepted: .c3d, .trc, .csv", str(path)
        )
