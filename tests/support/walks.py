"""Walking trials that OpenSim has answered: motions, plates and its generalized forces."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import homodyn as hd
from homodyn.capture import (
    Table,
    motion_from_table,
    read_plates,
    read_table,
)
from homodyn.motion import (
    ForcePlate,
    Motion,
)

WALKS = {
    # model, coordinates, forces, answers
    "gait10dof": ("gait10dof", "subject01.osim", "ref_ik.mot", "walk_grf.mot", "ref_id.sto"),
    "arnold2013": (
        "arnold2013/subject01",
        "subject01.osim",
        "coordinates.sto",
        "grf.mot",
        "id.sto",
    ),
    "gait23": (
        "opensim_id",
        "subject01.osim",
        "subject01_walk1_ik.mot",
        "subject01_walk1_grf.mot",
        "std_subject01_InverseDynamics.sto",
    ),
}
DEGREES = ("gait10dof", "gait23")
"""OpenSim takes angles for degrees unless the head of the file denies it."""


@dataclass(frozen=True)
class Walk:
    motion: Motion
    plates: tuple[ForcePlate, ...]
    answers: Table

    def answer(self, coordinate: str) -> np.ndarray:
        """What OpenSim found for a coordinate, at the frames of ``rows``."""
        name = f"{coordinate}_moment"
        return self.answers.column(name if name in self.answers.names else f"{coordinate}_force")

    @property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Frames of the motion and rows of the answers that belong to the same instants."""
        frames = [np.abs(self.motion.time - time).argmin() for time in self.answers.time]
        same = np.abs(self.motion.time[frames] - self.answers.time) < 1e-4
        return np.array(frames)[same], np.flatnonzero(same)


def walk(folder: Path, name: str, *, model: hd.model.Model | None = None) -> Walk:
    place, file, coordinates, forces, answers = WALKS[name]
    table = read_table(folder / place / coordinates)
    table = replace(table, degrees=name in DEGREES)
    person = model or hd.model.load(folder / place / file)
    return Walk(
        motion_from_table(person, table),
        read_plates(folder / place / forces),
        read_table(folder / place / answers),
    )


def with_toes(folder: Path) -> hd.model.Model:
    """The subject of arnold2013 with toes that turn, as in the motion; its file welds them."""
    subject = hd.model.load(folder / "arnold2013/subject01/subject01.osim")
    generic = hd.model.load(folder / "arnold2013/generic/unscaled_generic.osim")
    joints = []
    for joint in subject.joints:
        if joint.name.startswith("mtp"):
            pin = generic.joint(joint.name)
            joint = replace(joint, kind=pin.kind, coordinates=pin.coordinates, axes=pin.axes)
        joints.append(joint)
    return replace(subject, joints=tuple(joints))


def planar_walk(folder: Path) -> tuple[Motion, tuple[ForcePlate, ...]]:
    """The planar walk of rbdl_planar: per foot a point, a force and a torque in its .ff file."""
    place = folder / "rbdl_planar"
    person = hd.model.load(place / "gait912.lua", as_measured=True)
    q = np.loadtxt(place / "qIK.csv", delimiter=",")
    rows = np.loadtxt(place / "grf.ff", delimiter=",")
    still = np.zeros((len(q), person.nv))
    plates = tuple(
        ForcePlate(name, 50.0, rows[:, k + 3 : k + 6], rows[:, k : k + 3], rows[:, k + 6 : k + 9])
        for name, k in (("first", 1), ("second", 10))
    )
    return Motion(person, q[:, 0], q[:, 1:], still, still), plates
