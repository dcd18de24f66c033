"""HDM, the Human Dynamic Model: 21 segments, 20 joints with 48 degrees of freedom, a free root.

L. Liu, J. L. Cooper and D. H. Ballard, Computational Modeling: Human Dynamic Model, with the sizes,
anchors, ranges and markers of its companion programs. There x is to the right and y forward; here x
is forward, y to the left and z up. Segments keep their own frames, at their centers with z along a
capsule, so that marker positions are those of the programs. Angles keep their meaning too: rotation
of the first segment of a joint relative to its second, about the lateral axis of the first, then
the vertical axis, then the forward axis of the second.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import pi, radians
from typing import Any

import numpy as np

from homodyn.catalog.data_tables import table_rows
from homodyn.catalog.registry import entry
from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Assembly, Body, Model, box, capsule, joints, sphere
from homodyn.spatial import Array, Transform

SIZES = ("default", "tracing", "program")
MARKERS = ("cmu", "suit", "tracing", "none")
ROOT = "pelvis"

_FROM_PROGRAM_AXES = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
"""From the axes of the programs (right, forward, up) to forward, left, up."""
_SECOND_BY_FIRST = {"x": "y", "z": "z", "y": "-x"}
"""Axis about which the second segment rotates relative to the first, for each letter."""
_FIRST_BY_SECOND = {"x": "-y", "z": "-z", "y": "x"}
"""The same for the first segment relative to the second."""
_NAMES = {"x": "pitch", "z": "yaw", "y": "roll"}
MAX_MARKER_DISTANCE_M = 0.3
"""Positions beyond this were not measured: the programs fill them with numbers up to one."""

ASSUMPTIONS = (
    "Mass and inertia are those of the homogeneous shapes at one density.",
    "Anchors of the tracing subject are the same fractions of its sizes as in the default set.",
    "The root is the pelvis (the waist of the paper); in the programs it is the head.",
    "Angles are rotations of the first segment relative to the second; otherwise the ranges would "
    "not let knees and elbows flex.",
    "Diodes of the tracing subject that were not located are at the center of their segment.",
    "The toes rotate about the forward axis, as in the programs.",
    "Boxes are drawn as capsules.",
)


@entry(
    source="companion programs of Liu, Cooper and Ballard, Human Dynamic Model",
    limits="the companion programs",
    assumed=ASSUMPTIONS,
)
def hdm(sizes: str = "default", markers: str = "cmu", *, density: Array = 1000.0) -> Model:
    """Human Dynamic Model: 48 joint degrees of freedom, free pelvis, for physics-based tracking.

    Gravity is 9.8 m/s2, as in the paper.

    Args:
        sizes: Segment sizes: ``"default"``, ``"tracing"`` (another subject) or ``"program"`` (the
            values of the companion programs before a file is loaded).
        markers: Marker set: ``"cmu"`` (41 markers), ``"suit"`` (the 35 attached diodes of 50),
            ``"tracing"`` (50 diodes) or ``"none"``.
        density: Density of all segments (kg/m3); a number or a symbol.

    Returns:
        The model: 21 bodies, 54 degrees of freedom.

    Raises:
        ModelError: ``sizes`` or ``markers`` is unknown.
    """
    for what, value, known in (("sizes", sizes, SIZES), ("markers", markers, MARKERS)):
        if value not in known:
            raise ModelError(f"hdm has {unknown_name(what, value, known)}")
    segments = {row["segment"]: _Segment.of(row, sizes) for row in table_rows("hdm_segments")}
    source = f"Human Dynamic Model, sizes {sizes!r}, markers {markers!r}."
    assembly = Assembly("hdm", notes=(source, *ASSUMPTIONS))
    start = (*_standing_position(sizes, segments), 0.0, 0.0, 0.0)
    upright = Transform(segments[ROOT].rotation, np.zeros(3))
    root = joints.free(default=start)
    assembly = assembly.add(segments[ROOT].body(density), root, child_at=upright, joint_name="root")
    for row, parent, child in _outwards():
        anchors = [
            Transform(segments[name].rotation, _anchor(row, name, sizes, segments[name].size))
            for name in (parent, child)
        ]
        assembly = assembly.add(
            segments[child].body(density),
            _joint(row, child),
            parent,
            at=anchors[0],
            child_at=anchors[1],
            joint_name=row["joint"],
        )
    for segment in segments.values():
        assembly = segment.with_shapes(assembly)
    for name, segment_name, position in _markers(markers):
        assembly = assembly.marker(name, segment_name, position)
    return assembly.model(gravity=(0.0, 0.0, -9.8))


@dataclass(frozen=True)
class _Segment:
    """A homogeneous shape: bounding sizes (m), and the rotation of its axes when upright."""

    name: str
    shape: str
    size: np.ndarray
    rotation: np.ndarray

    @staticmethod
    def of(row: dict[str, str], sizes: str) -> _Segment:
        size = np.array([float(row[f"{sizes}_{axis}"]) for axis in "xyz"])
        sine = np.sign(float(row["turn"]))
        cosine = 1.0 - abs(sine)
        pitch = np.array([[cosine, 0.0, sine], [0.0, 1.0, 0.0], [-sine, 0.0, cosine]])
        return _Segment(row["segment"], row["shape"], size, _FROM_PROGRAM_AXES @ pitch)

    @property
    def radius(self) -> float:
        return float(self.size[0]) / 2

    @property
    def cylinder_length(self) -> float:
        """Length of a capsule without its caps (m)."""
        return float(self.size[2] - self.size[0]) if self.shape == "capsule" else 0.0

    def body(self, density: Array) -> Body:
        """The body of the shape with a density (kg/m3)."""
        r, h = self.radius, self.cylinder_length
        if self.shape == "box":
            return box(self.name, density * float(np.prod(self.size)), self.size)
        if self.shape == "sphere":
            return sphere(self.name, density * (4 / 3 * pi * r**3), r)
        return capsule(self.name, density * (pi * r**2 * h + 4 / 3 * pi * r**3), r, h)

    def with_shapes(self, assembly: Assembly) -> Assembly:
        """Add the shape as a capsule, and the contacts of hands and feet."""
        half, radius = np.array([0.0, 0.0, self.cylinder_length / 2]), self.radius
        if self.shape == "box":
            radius = min(self.size) / 2
            half = np.eye(3)[np.argmax(self.size)] * (max(self.size) / 2 - radius)
        assembly = assembly.capsule(self.name, self.name, -half, half, radius)
        if self.name.endswith(("_heel", "_hand")):
            assembly = assembly.contact(f"{self.name}_contact", self.name, "sphere", radius=radius)
        if self.name.endswith("_toe"):
            along_z = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
            assembly = assembly.contact(
                f"{self.name}_contact",
                self.name,
                "capsule",
                radius=radius,
                size=(self.cylinder_length, 0.0, 0.0),
                rotation=along_z,
            )
        return assembly


def _outwards() -> Iterator[tuple[dict[str, str], str, str]]:
    """Rows of the joints from the pelvis outwards, each with parent and child segment."""
    remaining, reached = list(table_rows("hdm_joints")), {ROOT}
    while remaining:
        row = next(row for row in remaining if {row["first"], row["second"]} & reached)
        remaining.remove(row)
        parent = row["first"] if row["first"] in reached else row["second"]
        child = row["second"] if parent == row["first"] else row["first"]
        reached.add(child)
        yield row, parent, child


def _joint(row: dict[str, str], child: str) -> joints.JointType:
    """The joint with the angles of the programs.

    If the child is the first segment, the rotations are inverse and in the opposite order.
    """
    letters = row["axes"]
    count = len(letters)
    settings: dict[str, Any] = {
        "names": [f"{row['joint']}_{_NAMES[letter]}" for letter in letters],
        "lower": [radians(float(row[f"lower{k + 1}"])) for k in range(count)],
        "upper": [radians(float(row[f"upper{k + 1}"])) for k in range(count)],
    }
    if child == row["first"]:
        turns = [joints.turn(_FIRST_BY_SECOND[letter], k) for k, letter in enumerate(letters)]
        return joints.custom(*reversed(turns), **settings)
    axes = [_SECOND_BY_FIRST[letter] for letter in letters]
    if count == 1:
        return joints.revolute(axes[0], **settings)
    if count == 2:
        return joints.universal(*axes, **settings)
    return joints.custom(*(joints.turn(axis, k) for k, axis in enumerate(axes)), **settings)


def _anchor(row: dict[str, str], segment: str, sizes: str, size: np.ndarray) -> np.ndarray:
    """Position of a joint in one of its segments (m)."""
    number = 1 if segment == row["first"] else 2
    column = f"program{number}" if sizes == "program" else f"anchor{number}"
    return np.array([float(part) for part in row[column].split()]) * size / 2


def _standing_position(sizes: str, segments: dict[str, _Segment]) -> np.ndarray:
    """Position of the pelvis (m) with the head above the origin and the feet on the ground."""
    centers = {ROOT: np.zeros(3)}
    for row, parent, child in _outwards():
        here, there = (
            segments[name].rotation @ _anchor(row, name, sizes, segments[name].size)
            for name in (parent, child)
        )
        centers[child] = centers[parent] + here - there
    soles = [centers[f"{side}_{part}"][2] - segments[f"{side}_{part}"].radius
             for side in ("right", "left") for part in ("heel", "toe")]  # fmt: skip
    return np.array([-centers["head"][0], -centers["head"][1], -min(soles)])


def _markers(markers: str) -> Iterator[tuple[str, str, list[float]]]:
    """Name, segment and position (m) of each marker of a set."""
    if markers == "cmu":
        for row in table_rows("hdm_markers_cmu"):
            yield row["marker"], row["segment"], [float(row[axis]) for axis in "xyz"]
    elif markers != "none":
        for row in table_rows("hdm_markers_phasespace"):
            position = [float(row[f"{markers}_{axis}"]) for axis in "xyz"]
            if row[f"{markers}_segment"]:
                located = max(map(abs, position)) < MAX_MARKER_DISTANCE_M
                yield row["led"], row[f"{markers}_segment"], position if located else [0.0] * 3
