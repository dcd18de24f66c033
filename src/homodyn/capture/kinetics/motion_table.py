"""Motions from tables of coordinates, as other programs write them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from homodyn.capture.kinetics.motion_filter import filter_motion
from homodyn.capture.table import Table
from homodyn.errors import CaptureError, HomodynError
from homodyn.foundation.text import enumerate_names
from homodyn.model import Model
from homodyn.motion.clinical import coordinate_label, resolve_coordinate
from homodyn.motion.coordinate_columns import angular_coordinates
from homodyn.motion.motion import Motion, MotionSource, motion_from_poses

MAX_LISTED_COLUMNS = 30
"""Columns or coordinates that a note lists."""


def motion_from_table(model: Model, table: Table) -> Motion:
    """The motion whose coordinates are the columns of a table, differentiated by splines.

    Columns may have the names of the model, clinical names or OpenSim names; values of the latter
    two have the sign of the name. Paths of OpenSim states (``/jointset/hip_r/hip_flexion_r/value``)
    count by the name of their coordinate. Other columns are ignored, and coordinates without a
    column keep their default; the notes list both. Angles in degrees become radians.

    Args:
        model: The model.
        table: Columns with the names of coordinates.

    Returns:
        The motion.

    Raises:
        CaptureError: No column is a coordinate, two columns are the same coordinate, a coordinate
            belongs to a quaternion, or a value is NaN.
    """
    columns = coordinate_columns(model, table.names)
    if not columns:
        raise CaptureError(
            f"no column of the table is a coordinate of model {model.name!r}; it has "
            f"{', '.join(model.coordinate_names)}"
        )
    q = np.tile(model.neutral(), (len(table.time), 1))
    angles = angular_coordinates(model)
    for name, (column, sign) in columns.items():
        k = model.coordinate_index(name)
        index = model.position_index[k]
        if index is None:
            raise CaptureError(
                f"coordinate {name!r} is part of a quaternion; a table of angles cannot give it"
            )
        values = sign * table.column(column)
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0]) + 1
            raise CaptureError(f"column {column!r} of the table has no number in row {row}")
        q[:, index] = np.radians(values) if table.degrees and angles[k] else values
    missing = [name for name in model.coordinate_names if name not in columns]
    used = {column for column, _ in columns.values()}
    others = [name for name in table.names if name not in used]
    notes = []
    if missing:
        labels = [coordinate_label(model, name) for name in missing]
        listed = enumerate_names(labels, MAX_LISTED_COLUMNS)
        notes.append(f"not in the table, at their defaults: {listed}")
    if others:
        listed = enumerate_names(others, MAX_LISTED_COLUMNS)
        notes.append(f"columns that are not coordinates of the model: {listed}")
    poses = motion_from_poses(model, table.time, q, method="from a table", source=MotionSource.FILE)
    return filter_motion(replace(poses, notes=tuple(notes)), cutoff=None)


def state_coordinate(column: str) -> str:
    """The coordinate of a column whose name is the path of an OpenSim state.

    Args:
        column: Name of a column: ``"/jointset/hip_r/hip_flexion_r/value"``.

    Returns:
        ``"hip_flexion_r"``; any other name as it is.
    """
    parts = column.split("/")
    return parts[-2] if parts[-1] == "value" and len(parts) > 1 else column


def coordinate_columns(model: Model, names: Iterable[str]) -> dict[str, tuple[str, float]]:
    """The columns of a table that are coordinates of a model.

    Args:
        model: The model.
        names: Names of the columns.

    Returns:
        By coordinate, in the order of the model: the name of its column, and the sign of the column
        relative to the coordinate. A column with the name of the model takes precedence over
        clinical and OpenSim names and over paths of OpenSim states.

    Raises:
        CaptureError: Two columns are aliases (other names or state paths) of one coordinate.
    """
    columns = list(names)
    found = {name: (name, 1.0) for name in columns if name in model.coordinate_names}
    aliases: dict[str, tuple[str, float]] = {}
    for column in columns:
        try:
            coordinate = resolve_coordinate(model, state_coordinate(column))
        except HomodynError:
            continue
        if coordinate.coordinate in found:
            continue
        if coordinate.coordinate in aliases:
            raise CaptureError(
                f"columns {aliases[coordinate.coordinate][0]!r} and {column!r} are both "
                f"{coordinate.title}; remove one of them"
            )
        aliases[coordinate.coordinate] = (column, coordinate.sign)
    found |= aliases
    return {name: found[name] for name in model.coordinate_names if name in found}
