"""A motion as VRML97: nested transforms as in the model, moved by interpolators.

Each body has a Transform inside that of its parent. Changes of its position or orientation relative
to the parent are driven by a PositionInterpolator or an OrientationInterpolator (axis and angle),
all by one TimeSensor whose fraction is ``t / T``. Measured markers are spheres.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import casadi as ca
import numpy as np
from scipy.spatial.transform import Rotation

from homodyn import dynamics
from homodyn.capture.kinematics import world_axes
from homodyn.errors import CaptureError
from homodyn.model import WORLD, Model
from homodyn.motion import Motion
from homodyn.report.colors import SIDE_COLORS, rgb_from_hex
from homodyn.report.posed_geometry import marker_sides
from homodyn.report.replay import MAX_REPLAY_RATE_HZ, BodyCapsule, body_capsules
from homodyn.symbolic import kernel

MIN_CHANGE = 1e-9
"""Change (m, 1) below which a position or orientation relative to the parent is constant."""
MARKER_RADIUS_M = 0.012
"""Radius (m) of a marker."""
VRML_COLORS = {
    side: " ".join(f"{c / 255:.2f}" for c in rgb_from_hex(color))
    for side, color in SIDE_COLORS.items()
}
Z_UP_TO_Y_UP = "rotation 1 0 0 -1.5707963267948966"
"""VRML has Y up; the nodes inside have Z up."""


def vrml_text(motion: Motion) -> str:
    """The text of a .wrl file that plays a motion in a loop."""
    frames = len(motion.time)
    if frames < 2:
        raise CaptureError("a motion of one frame cannot be played; VRML needs two frames or more")
    stride = max(int(np.ceil(motion.rate / MAX_REPLAY_RATE_HZ - 1e-6)), 1)
    chosen = np.arange(0, frames, stride)
    time = motion.time[chosen]
    length = float(time[-1] - time[0])
    writer = _Writer(motion.model, (time - time[0]) / length)
    scene = writer.bodies(motion.q[chosen])
    measured = motion.measured[chosen] if motion.markers and motion.measured.size else None
    if measured is not None:
        scene += writer.markers(motion.markers, measured @ world_axes(motion.model).T)
    return "\n".join(
        [
            "#VRML V2.0 utf8",
            f"# {_plain(motion.model.name)}: {len(chosen)} frames in {length:.6g} s, meters",
            'NavigationInfo { type [ "EXAMINE" "ANY" ] }',
            *_viewpoint(motion, chosen),
            f"DEF Clock TimeSensor {{ cycleInterval {length:.9g} loop TRUE }}",
            f"Transform {{ {Z_UP_TO_Y_UP} children [",
            *scene,
            "] }",
            *writer.interpolators,
            *writer.routes,
            "",
        ]
    )


class _Writer:
    """Nodes of a scene with their interpolators and routes."""

    def __init__(self, model: Model, fractions: np.ndarray) -> None:
        self.model = model
        self.keys = " ".join(f"{x:.9g}" for x in fractions)
        self.interpolators: list[str] = []
        self.routes: list[str] = []
        self._names: set[str] = set()

    def bodies(self, q: np.ndarray) -> list[str]:
        """The tree of bodies, with Z up."""
        model = self.model
        turn = Rotation.from_matrix(world_axes(model)).as_rotvec()
        places, turns = _placements(model, q)
        shapes: dict[str, list[BodyCapsule]] = {name: [] for name in model.body_names}
        for capsule in body_capsules(model):
            shapes[capsule.body].append(capsule)
        children: dict[str, list[str]] = {name: [] for name in (WORLD, *model.body_names)}
        for joint in model.joints:
            children[joint.parent].append(joint.child)

        def write_body(body: str, parent: str) -> list[str]:
            k = model.body_names.index(body)
            place, rotation = places[:, k], turns[:, k]
            if parent != WORLD:
                p = model.body_names.index(parent)
                place = np.einsum("tij,ti->tj", turns[:, p], place - places[:, p])
                rotation = np.swapaxes(turns[:, p], 1, 2) @ rotation
            name = self._name(body)
            fields = self._transform_fields(name, place, rotation)
            nodes = [_capsule(capsule) for capsule in shapes[body]]
            for child in children[body]:
                nodes += write_body(child, body)
            return [f"DEF {name} Transform {{ {fields} children [", *nodes, "] }"]

        roots = [line for body in children[WORLD] for line in write_body(body, WORLD)]
        return [f"Transform {{ rotation {_axis_angle(turn)} children [", *roots, "] }"]

    def markers(self, names: Sequence[str], positions: np.ndarray) -> list[str]:
        """Spheres at measured markers; a missing marker has size zero."""
        lines = []
        sides = marker_sides(self.model, names)
        for k, marker in enumerate(names):
            path = positions[:, k]
            seen = np.isfinite(path).all(axis=1)
            if not seen.any():
                continue
            name = self._name(f"marker_{marker}")
            steps = np.arange(len(path))
            filled = np.column_stack(
                [np.interp(steps, steps[seen], path[seen, i]) for i in (0, 1, 2)]
            )
            self._drive(name, "translation", "Position", filled)
            if not seen.all():
                self._drive(name, "scale", "Position", np.repeat(seen[:, None], 3, axis=1) * 1.0)
            lines.append(
                f"DEF {name} Transform {{ translation {_row(filled[0])} children Shape {{ "
                "appearance Appearance { material Material { diffuseColor "
                f"{VRML_COLORS[sides[marker]]} }} }} "
                f"geometry Sphere {{ radius {MARKER_RADIUS_M} }} }} }}"
            )
        return lines

    def _transform_fields(self, name: str, place: np.ndarray, rotation: np.ndarray) -> str:
        """Fields of a Transform at the first frame; changing fields get an interpolator."""
        vectors = Rotation.from_matrix(rotation).as_rotvec()
        if np.ptp(place, axis=0).max() > MIN_CHANGE:
            self._drive(name, "translation", "Position", place)
        if np.abs(rotation - rotation[0]).max() > MIN_CHANGE:
            self._drive(name, "rotation", "Orientation", vectors)
        return f"translation {_row(place[0])} rotation {_axis_angle(vectors[0])}"

    def _drive(self, name: str, field: str, kind: str, rows: np.ndarray) -> None:
        values = [_axis_angle(row) if kind == "Orientation" else _row(row) for row in rows]
        self.interpolators.append(
            f"DEF {name}_{field} {kind}Interpolator {{ key [ {self.keys} ] "
            f"keyValue [ {', '.join(values)} ] }}"
        )
        self.routes += [
            f"ROUTE Clock.fraction_changed TO {name}_{field}.set_fraction",
            f"ROUTE {name}_{field}.value_changed TO {name}.set_{field}",
        ]

    def _name(self, text: str) -> str:
        """A unique name that VRML accepts."""
        plain = re.sub(r"[^A-Za-z0-9_]", "_", text)
        plain = plain if re.match(r"[A-Za-z_]", plain) else f"_{plain}"
        name, number = plain, 2
        while name in self._names or name == "Clock":
            name, number = f"{plain}_{number}", number + 1
        self._names.add(name)
        return name


def _placements(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions (frames, bodies, 3), m, and rotation matrices (frames, bodies, 3, 3)."""
    names = model.body_names

    def placed(positions: ca.SX) -> ca.SX:
        rows = []
        for name in names:
            rows.append(ca.SX(dynamics.position(model, positions, name)).T)
            rows.append(ca.SX(dynamics.orientation(model, positions, name)))
        return ca.vertcat(*rows)

    rows = np.asarray(kernel(placed, q=model.nq)(q)).reshape(len(q), len(names), 4, 3)
    return rows[:, :, 0], rows[:, :, 1:]


def _capsule(capsule: BodyCapsule) -> str:
    """A capsule as a cylinder between two spheres, in the axes of its body."""
    along = capsule.end - capsule.start
    length = float(np.linalg.norm(along))
    # The axis of a VRML cylinder is y.
    turn = _shortest(np.array([0.0, 1.0, 0.0]), along / length) if length > 0 else np.zeros(3)
    color = VRML_COLORS[capsule.side]
    look = f"appearance Appearance {{ material Material {{ diffuseColor {color} }} }}"
    radius = f"{capsule.radius:.6g}"
    balls = " ".join(
        f"Transform {{ translation {_row(end)} children Shape {{ {look} "
        f"geometry Sphere {{ radius {radius} }} }} }}"
        for end in (capsule.start, capsule.end)
    )
    tube = (
        f"Transform {{ translation {_row((capsule.start + capsule.end) / 2)} "
        f"rotation {_axis_angle(turn)} children Shape {{ {look} geometry Cylinder {{ "
        f"radius {radius} height {length:.6g} top FALSE bottom FALSE }} }} }}"
    )
    return f"{balls} {tube}"


def _shortest(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The rotation vector that rotates one unit vector into another."""
    axis = np.cross(one, other)
    size = float(np.linalg.norm(axis))
    if size < 1e-12:
        return np.zeros(3) if one @ other > 0 else np.array([np.pi, 0.0, 0.0])
    return axis / size * float(np.arctan2(size, one @ other))


def _viewpoint(motion: Motion, chosen: np.ndarray) -> list[str]:
    """A camera to the right of the middle of the motion, far enough away to show all of it."""
    turn = world_axes(motion.model)
    com = dynamics.center_of_mass(motion.model, motion.q[chosen]) @ turn.T
    middle = (com.min(axis=0) + com.max(axis=0)) / 2
    away = 3.5 + float(np.ptp(com[:, 0]))
    # In the axes of VRML: x forward, y up, z to the right.
    place = (middle[0], middle[2], -middle[1] + away)
    return [f'Viewpoint {{ description "side" position {_row(np.array(place))} }}']


def _axis_angle(vector: np.ndarray) -> str:
    angle = float(np.linalg.norm(vector))
    if angle < 1e-12:
        return "0 0 1 0"
    return f"{_row(vector / angle)} {angle:.9g}"


def _row(numbers: np.ndarray) -> str:
    return " ".join(f"{x:.9g}" for x in numbers)


def _plain(text: str) -> str:
    return " ".join(text.split())
