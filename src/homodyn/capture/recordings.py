"""Reading and writing recordings, force plates and tables; the extension selects the format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.capture.formats import standard_formats as _standard_formats  # noqa: F401
from homodyn.capture.formats.file_format import ReadOptions, format_for, registered_formats
from homodyn.capture.formats.force_columns import force_table, plates_from_table
from homodyn.capture.table import Table
from homodyn.capture.trial import Trial
from homodyn.errors import FormatError
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.motion import ForcePlate


@guarded_reader("recording")
def read(
    path: str | Path,
    *,
    up: str | None = None,
    columns: Mapping[str, Any] | str | Path | None = None,
    forces: str | Path | None = None,
    partial: bool = False,
) -> Trial:
    """Read a recording: a ``.c3d``, ``.trc`` or ``.csv`` file, or any registered format.

    Args:
        path: The file.
        up: Axis of the file that points up (``"y"``, ``"-z"``, ...). When left out it is taken from
            the file, and ``trial.notes`` says how.
        columns: Column map of a CSV file, or the path of one in TOML; see `ColumnMap`.
        forces: Force file that belongs to the markers, in the same axes (Y up unless ``up`` is
            given); its plates replace those of the recording.
        partial: Read the complete frames of a truncated file instead of refusing it.

    Returns:
        The trial in meters, seconds and newtons, Z up.

    Raises:
        FormatError: The file cannot be read; the message says where and what is accepted.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    found = registered_formats().get(suffix)
    if columns is not None and (found is None or not found.accepts_columns):
        raise FormatError("columns is for .csv files; leave it out", str(path))
    if found is not None and not found.supports("read_trial") and found.supports("read_table"):
        if path.exists() and _has_quaternions(path):
            raise FormatError(
                "it contains orientations of sensors (DataType=Quaternion), not markers; accepted "
                "recordings are marker trajectories: .c3d, .trc, .csv",
                str(path),
            )
        raise FormatError(
            f"a {suffix} file contains columns, not markers: read forces with read_plates, "
            "coordinates and results with read_table",
            str(path),
        )
    reader = format_for(path, "read_trial", "trials cannot be read from")
    trial = reader.read_trial(path, ReadOptions(up=up, columns=columns, partial=partial))
    if forces is None:
        return trial
    return replace(
        trial,
        plates=read_plates(forces, up=up or "y"),
        notes=(*trial.notes, f"force plates are read from {Path(forces).name}"),
    )


def _has_quaternions(path: Path) -> bool:
    """Whether the header of a storage file states cells of quaternions."""
    with path.open(encoding="utf-8", errors="replace") as stream:
        lines = islice(stream, 20)
        head = [line.strip().lower().replace(" ", "") for line in lines]
    return "datatype=quaternion" in head


def write(trial: Trial, path: str | Path) -> None:
    """Write a recording as ``.c3d``, ``.trc`` or ``.csv``, or in any registered format.

    C3D stores everything: markers as 32-bit numbers, plates, channels, events, properties. TRC and
    CSV store the markers only; write forces with `write_plates`. The file is written atomically.

    Args:
        trial: The recording.
        path: The file; its extension selects the format.

    Raises:
        FormatError: The format cannot express the trial, or the extension is unknown.
    """
    path = Path(path)
    writer = format_for(path, "write_trial", "trials cannot be written as")
    if writer.needs_markers and not trial.markers:
        raise FormatError(
            f"a trial without markers cannot be written as {path.suffix.lower()}; .c3d can store "
            "plates only",
            str(path),
        )
    writer.write_trial(trial, path)


@guarded_reader("force file")
def read_plates(
    path: str | Path, *, setup: str | Path | None = None, up: str = "y", unit: str = "m"
) -> tuple[ForcePlate, ...]:
    """Read ground forces from a ``.mot``, ``.sto`` or ``.csv`` file into Z-up axes.

    Columns are grouped by their names (``ground_force_vx``, ``1_ground_force_px``,
    ``ground_torque_x``, ...) or by ``setup``.

    Args:
        path: The file.
        setup: ExternalLoads file of OpenSim that names the columns of each force.
        up: Axis of the file that points up.
        unit: Unit of length of the file, also in torques.

    Returns:
        One plate per force.

    Raises:
        FormatError: The file cannot be read, or its forces contradict ``up`` or ``unit``.
    """
    path = Path(path)
    return plates_from_table(read_table(path), str(path), setup=setup, up=up, unit=unit)


def write_plates(plates: Sequence[ForcePlate], path: str | Path, *, up: str = "y") -> None:
    """Write ground forces as ``.mot``, ``.sto`` or ``.csv`` with the column names of OpenSim.

    Args:
        plates: Plates with the same start and rate.
        path: The file; its extension selects the format.
        up: Axis of the file that points up.

    Raises:
        CaptureError: The plates differ in start, rate or length.
        FormatError: The extension is unknown.
    """
    write_table(force_table(plates, up=up), path)


@guarded_reader("table")
def read_table(path: str | Path, *, partial: bool = False) -> Table:
    """Read the columns of a ``.mot``, ``.sto`` or ``.csv`` file.

    Args:
        path: The file.
        partial: Read the complete rows of a truncated file, with a note, instead of refusing it.

    Returns:
        The table, in the units of the file.

    Raises:
        FormatError: The file cannot be read.
    """
    path = Path(path)
    reader = format_for(path, "read_table", "tables cannot be read from")
    table = reader.read_partial_table(path) if partial else reader.read_table(path)
    _check_times(table, str(path))
    return table


def _check_times(table: Table, path: str) -> None:
    """Refuse times that are missing or go backwards; equal times mark an event."""
    missing = np.flatnonzero(~np.isfinite(table.time))
    if len(missing):
        raise FormatError("the time is missing; every row needs one", path, f"row {missing[0] + 1}")
    backwards = np.flatnonzero(np.diff(table.time) < 0.0)
    if len(backwards):
        row = int(backwards[0])
        raise FormatError(
            f"time goes back from {table.time[row]:g} s to {table.time[row + 1]:g} s; sort or "
            "correct the rows",
            path,
            f"row {row + 2}",
        )


def write_table(table: Table, path: str | Path) -> None:
    """Write a table as ``.mot``, ``.sto`` or ``.csv``; every number is restored bit by bit.

    Args:
        table: The table.
        path: The file; its extension selects the format.

    Raises:
        FormatError: The extension is unknown.
    """
    path = Path(path)
    format_for(path, "write_table", "tables cannot be written as").write_table(table, path)
