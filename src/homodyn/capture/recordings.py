"""Recordings in and out: the format is told by the suffix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from homodyn.capture.formats.c3d import read_c3d
from homodyn.capture.formats.c3d_write import write_c3d
from homodyn.capture.formats.column_map import read_column_map
from homodyn.capture.formats.csv import read_csv, read_csv_table, write_csv, write_csv_table
from homodyn.capture.formats.force_columns import force_table, plates_from_table
from homodyn.capture.formats.storage import read_storage, write_storage
from homodyn.capture.formats.trc import read_trc, write_trc
from homodyn.capture.table import Table
from homodyn.capture.trial import Trial
from homodyn.errors import FormatError
from homodyn.motion import ForcePlate


def read(
    path: str | Path,
    *,
    up: str | None = None,
    columns: Mapping[str, Any] | str | Path | None = None,
    forces: str | Path | None = None,
    partial: bool = False,
) -> Trial:
    """The trial in a ``.c3d``, ``.trc`` or ``.csv`` file: metres, seconds, newtons, Z up.

    ``up`` names the axis of the file that points up (``"y"``, ``"-z"``, ...); without it the file
    tells, and ``trial.notes`` says how. ``columns`` is the column map of a CSV file, or the path of
    one in TOML (see `ColumnMap`). ``forces`` is a force file that belongs to the markers, in the
    same axes (Y up unless ``up`` is given); its plates replace those of the recording. A file that
    is cut off is refused, unless ``partial``.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if columns is not None and suffix != ".csv":
        raise FormatError("columns is for .csv files; leave it out", str(path))
    if suffix == ".c3d":
        trial = read_c3d(path, up=up, partial=partial)
    elif suffix == ".trc":
        trial = read_trc(path, up=up, partial=partial)
    elif suffix == ".csv":
        trial = read_csv(path, read_column_map(columns), up=up)
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
    if forces is None:
        return trial
    return replace(
        trial,
        plates=read_plates(forces, up=up or "y"),
        notes=(*trial.notes, f"the plates are those of {Path(forces).name}"),
    )


def write(trial: Trial, path: str | Path) -> None:
    """Write a trial as ``.c3d``, ``.trc`` or ``.csv``; the file appears whole or not at all.

    C3D holds all of it: markers to 32 bits, plates, channels, events, properties. TRC and CSV hold
    the markers alone; forces are written with `write_plates`.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".c3d":
        write_c3d(trial, path)
    elif suffix in (".trc", ".csv") and not trial.markers:
        raise FormatError(
            f"a trial without markers is not written as {suffix}; .c3d holds plates alone",
            str(path),
        )
    elif suffix == ".trc":
        write_trc(trial, path)
    elif suffix == ".csv":
        write_csv(trial, path)
    else:
        raise FormatError(
            f"trials are not written as {suffix!r}; accepted: .c3d, .trc, .csv", str(path)
        )


def read_plates(
    path: str | Path, *, setup: str | Path | None = None, up: str = "y", unit: str = "m"
) -> tuple[ForcePlate, ...]:
    """The ground forces in a ``.mot``, ``.sto`` or ``.csv`` file, in our axes (Z up).

    Columns are grouped by their names (``ground_force_vx``, ``1_ground_force_px``,
    ``ground_torque_x``, ...) or as ``setup``, an ExternalLoads file of OpenSim, says. ``up`` is the
    axis of the file that points up and ``unit`` its unit of length, also in torques. Forces that
    contradict either are refused.
    """
    path = Path(path)
    return plates_from_table(read_table(path), str(path), setup=setup, up=up, unit=unit)


def write_plates(plates: Sequence[ForcePlate], path: str | Path, *, up: str = "y") -> None:
    """Write ground forces as a ``.mot``, ``.sto`` or ``.csv`` file with the columns of OpenSim."""
    write_table(force_table(plates, up=up), path)


def read_table(path: str | Path) -> Table:
    """The columns of a ``.mot``, ``.sto`` or ``.csv`` file, as they stand there."""
    path = Path(path)
    if path.suffix.lower() in (".mot", ".sto"):
        return read_storage(path)
    if path.suffix.lower() == ".csv":
        return read_csv_table(path)
    raise FormatError(
        f"tables are not read from {path.suffix!r}; accepted: .mot, .sto, .csv", str(path)
    )


def write_table(table: Table, path: str | Path) -> None:
    """Write a table as ``.mot``, ``.sto`` or ``.csv``; every number reads back as the same bits."""
    path = Path(path)
    if path.suffix.lower() in (".mot", ".sto"):
        write_storage(table, path)
    elif path.suffix.lower() == ".csv":
        write_csv_table(table, path)
    else:
        raise FormatError(
            f"tables are not written as {path.suffix!r}; accepted: .mot, .sto, .csv", str(path)
        )
