"""Real recordings of walking as motions and plates."""

from dataclasses import replace
from pathlib import Path

import numpy as np

import homodyn as hd
from homodyn.capture import (
    Table,
    read_plates,
    read_table,
)
from homodyn.model import Model
from homodyn.motion import (
    ForcePlate,
    Motion,
)

WALKS = {
    "gait10dof": ("subject01.osim", "ref_ik.mot", "walk_grf.mot"),
    "arnold2013/subject01": ("subject01.osim", "coordinates.sto", "grf.mot"),
    "opensim_id": ("subject01.osim", "subject01_walk1_ik.mot", "subject01_walk1_grf.mot"),
}
"""Model, coordinates and forces by folder."""


def walk(data: Path, name: str) -> tuple[Motion, tuple[ForcePlate, ...]]:
    """Motion of a recording and its plates: that under the right foot, then the left."""
    model, coordinates, forces = (data / name / file for file in WALKS[name])
    table = read_table(coordinates)
    if "angles are in degrees" in coordinates.read_text()[:1000].lower():
        table = replace(table, degrees=True)
    return motion_of(hd.load(model), table), read_plates(forces)


def motion_of(model: Model, table: Table) -> Motion:
    """Columns of coordinates as a motion, speeds by differences."""
    q = np.tile(model.neutral(), (len(table.time), 1))
    for k, coordinate in enumerate(model.coordinate_names):
        if coordinate in table.names:
            column = table.column(coordinate)
            slides = coordinate.endswith(("_tx", "_ty", "_tz"))
            q[:, k] = np.deg2rad(column) if table.degrees and not slides else column
    v = np.gradient(q, table.time, axis=0)
    return Motion(model, table.time, q, v, np.gradient(v, table.time, axis=0))
