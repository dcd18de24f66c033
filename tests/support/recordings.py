"""Real recordings of walking as motions and plates, read the plain way."""

from pathlib import Path

import numpy as np

import homodyn as hd
from homodyn.capture import Y_UP, ForcePlate, Motion

WALKS = {
    "gait10dof": (
        "gait10dof/subject01.osim",
        "gait10dof/ref_ik.mot",
        "gait10dof/walk_grf.mot",
        ("ground_{}", "1_ground_{}"),
    ),
    "arnold2013": (
        "arnold2013/subject01/subject01.osim",
        "arnold2013/subject01/coordinates.sto",
        "arnold2013/subject01/grf.mot",
        ("ground_{}_r", "ground_{}_l"),
    ),
    "opensim_id": (
        "opensim_id/subject01.osim",
        "opensim_id/subject01_walk1_ik.mot",
        "opensim_id/subject01_walk1_grf.mot",
        ("ground_{}", "l_ground_{}"),
    ),
}
"""Model, coordinates, forces, and the column groups of the right and the left foot."""


def walk(folder: Path, name: str) -> tuple[Motion, tuple[ForcePlate, ...]]:
    """Motion of a recording and its plates: that under the right foot, then the left."""
    model_file, coordinates, forces, groups = WALKS[name]
    names, values, degrees = table(folder / coordinates)
    model = hd.load(folder / model_file)
    time = values[:, 0]
    q = np.tile(model.neutral(), (len(time), 1))
    for k, coordinate in enumerate(model.coordinate_names):
        if coordinate in names:
            column = values[:, names.index(coordinate)]
            slides = coordinate.endswith(("_tx", "_ty", "_tz"))
            q[:, k] = np.deg2rad(column) if degrees and not slides else column
    v = np.gradient(q, time, axis=0)
    motion = Motion(model, time, q, v, np.gradient(v, time, axis=0))
    names, values, _ = table(folder / forces)

    def vectors(group, kind, letter):
        stem = f"{group.format(kind)}_{letter}"
        return np.stack([values[:, names.index(stem + axis)] for axis in "xyz"], axis=1)

    rate = (len(values) - 1) / (values[-1, 0] - values[0, 0])
    plates = [
        ForcePlate(
            group,
            rate,
            vectors(group, "force", "v"),
            vectors(group, "force", "p"),
            vectors(group, "torque", ""),
            start=values[0, 0],
        ).turned(Y_UP)
        for group in groups
    ]
    return motion, tuple(plates)


def table(path: Path) -> tuple[list[str], np.ndarray, bool]:
    """Names, numbers and whether angles are in degrees of a .mot or .sto file."""
    lines = path.read_text().splitlines()
    end = next(k for k, line in enumerate(lines) if line.strip() == "endheader")
    head = "\n".join(lines[:end]).lower()
    numbers = [[float(x) for x in line.split()] for line in lines[end + 2 :] if line.strip()]
    return lines[end + 1].split(), np.array(numbers), "indegrees=yes" in head or "in degrees" in head
