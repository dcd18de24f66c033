"""Motions from tables of coordinates, as other programs write them."""

from __future__ import annotations

import numpy as np

from homodyn.capture.kinetics.motion_filter import filter_motion
from homodyn.capture.table import Table
from homodyn.errors import CaptureError
from homodyn.model import Model
from homodyn.motion.coordinate_columns import angular_coordinates
from homodyn.motion.motion import Motion


def motion_from_table(model: Model, table: Table) -> Motion:
    """The motion whose coordinates are the columns of a table, differentiated by splines.

    Other columns are ignored, and coordinates without a column keep their default; the notes list
    both. Angles in degrees become radians.

    Args:
        model: The model.
        table: Columns with the names of coordinates.

    Returns:
        The motion.

    Raises:
        CaptureError: No column is a coordinate, or a value is NaN.
    """
    names = [n for n in model.coordinate_names if n in table.names]
    if not names:
        raise CaptureError(
            f"no column of the table is a coordinate of model {model.name!r}; it has "
            f"{', '.join(model.coordinate_names)}"
        )
    q = np.tile(model.neutral(), (len(table.time), 1))
    angles = angular_coordinates(model)
    for name in names:
        k = model.coordinate_index(name)
        place = model.position_index[k]
        if place is None:
            raise CaptureError(
                f"coordinate {name!r} belongs to a quaternion, which a table of angles cannot tell"
            )
        values = table.column(name)
        q[:, place] = np.radians(values) if table.degrees and angles[k] else values
    missing = [n for n in model.coordinate_names if n not in names]
    others = [n for n in table.names if n not in names]
    notes = []
    if missing:
        notes.append(f"not in the table, at their defaults: {', '.join(missing)}")
    if others:
        notes.append(f"columns that are no coordinate of the model: {', '.join(others)}")
    still = np.zeros((len(q), model.nv))
    bare = Motion(model, table.time, q, still, still, method="from a table", notes=tuple(notes))
    return filter_motion(bare, cutoff=None)
