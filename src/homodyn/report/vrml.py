"""A motion as VRML97: bodies hang on each other as in the model, and interpolators move them.

Each body has a Transform inside that of its parent. What changes of its place or turn against the
parent is driven by a PositionInterpolator or an OrientationInterpolator (axis and angle), all by
one TimeSensor whose fraction is ``t / T``. Measured markers are balls beside the body.
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
from homodyn.report.replay import MAX_REPLAY_RATE_HZ, BodyCapsule, body_capsules
from homodyn.symbolic import kernel

MIN_CHANGE = 1e-9
"""Change (m, 1) below which a place or a turn against the parent stays as it is."""
MARKER_RADIUS_M = 0.012
"""Radius (m) of a marker."""
VRML_COLORS = {"left": "0.23 0.47 0.71", "right": "0.78 0.33 0.24", "middle": "0.55 0.58 0.64"}
UPRIGHT = "rotation 1 0 0 -1.5707963267948966"
"""VRML has Y up; what is inside has Z up."""


def vrml_text(motion: Motion) -> str:
    """The text of a .wrl file that plays a motion over and over."""
    frames = len(motion.time)
    if frames < 2:
        raise CaptureError("a motion of one frame has nothing to play; VRML needs two or more")
    every = max(int(np.ceil(motion.rate / MAX_REPLAY_RATE_HZ - 1e-6)), 1)
    chosen = np.arange(0, frames, every)
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
            f"# {_plain(motion.model.name)}: {len(chosen)} frames in {length:.6g} s, metres",
            'NavigationInfo { type [ "EXAMINE" "ANY" ] }',
            *_viewpoint(motion, chosen),
            f"DEF Clock TimeSensor {{ cycleInterval {length:.9g} loop TRUE }}",
            f"Transform {{ {UPRIGHT} children [",
            *scene,
            "] }",
            *writer.interpolators,
            *writer.routes,
            "",
        ]
    )


class _Writer:
    """Nodes of a scene, and the interpolators and routes that they need."""

    def __init__(self, model: Model, fractions: np.ndarray) -> None:
        self.model = model
        self.keys = " ".join(f"{x:.9g}" for x in fractions)
        self.interpolators: list[str] = []
        self.routes: list[str] = []
        self._names: set[str] = set()

    def bodies(self, q: np.ndarray) -> list[str]:
        """The tree of bodies, in our axes."""
        model = self.model
        turn = Rotation.from_matrix(world_axes(model)).as_rotvec()
        places, turns = _placements(model, q)
        shapes: dict[str, list[BodyCapsule]] = {name: [] for name in model.body_names}
        for stick in body_capsules(model):
            shapes[stick.body].append(stick)
        children: dict[str, list[str]] = {name: [] for name in (WORLD, *model.body_names)}
        for joint in model.joints:
            children[joint.parent].append(joint.child)

        def written(body: str, parent: str) -> list[str]:
            k = model.body_names.index(body)
            place, rotation = places[:, k], turns[:, k]
            if parent != WORLD:
                p = model.body_names.index(parent)
                place = np.einsum("tij,ti->tj", turns[:, p], place - places[:, p])
                rotation = np.swapaxes(turns[:, p], 1, 2) @ rotation
            name = self._name(body)
            moved = self._transform_fields(name, place, rotation)
            inside = [_capsule(stick) for stick in shapes[body]]
            for child in children[body]:
                inside += written(child, body)
            return [f"DEF {name} Transform {{ {moved} children [", *inside, "] }"]

        roots = [line for body in children[WORLD] for line in written(body, WORLD)]
        return [f"Transform {{ rotation {_axis_angle(turn)} children [", *roots, "] }"]

    def markers(self, names: Sequence[str], positions: np.ndarray) -> list[str]:
        """Balls at measured markers; while one is not seen it has no size."""
        lines = []
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
                "appearance Appearance { material Material { diffuseColor 0.85 0.15 0.15 } } "
                f"geometry Sphere {{ radius {MARKER_RADIUS_M} }} }} }}"
            )
        return lines

    def _transform_fields(self, name: str, place: np.ndarray, rotation: np.ndarray) -> str:
        """Fields of a Transform at the first frame; what changes gets an interpolator."""
        vectors = Rotation.from_matrix(rotation).as_rotvec()
        if np.ptp(place, axis=0).max() > MIN_CHANGE:
            self._drive(name, "translation", "Position", place)
        if np.abs(rotation - rotation[0]).max() > MIN_CHANGE:
            self._drive(name, "rotation", "Orientation", vectors)
        return f"translation {_row(place[0])} rotation {_axis_angle(vectors[0])}"

    def _drive(self, name: str, field: str, kind: str, rows: np.ndarray) -> None:
        told = [_axis_angle(row) if kind == "Orientation" else _row(row) for row in rows]
        self.interpolators.append(
            f"DEF {name}_{field} {kind}Interpolator {{ key [ {self.keys} ] "
            f"keyValue [ {', '.join(told)} ] }}"
        )
        self.routes += [
            f"ROUTE Clock.fraction_changed TO {name}_{field}.set_fraction",
            f"ROUTE {name}_{field}.value_changed TO {name}.set_{field}",
        ]

    def _name(self, word: str) -> str:
        """A name that VRML takes and that no other node has."""
        plain = re.sub(r"[^A-Za-z0-9_]", "_", word)
        plain = plain if re.match(r"[A-Za-z_]", plain) else f"_{plain}"
        name, number = plain, 2
        while name in self._names or name == "Clock":
            name, number = f"{plain}_{number}", number + 1
        self._names.add(name)
        return name


def _placements(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places (frames, bodies, 3), m, and rotation matrices (frames, bodies, 3, 3) of all bodies."""
    names = model.body_names

    def placed(positions: ca.SX) -> ca.SX:
        rows = []
        for name in names:
            rows.append(ca.SX(dynamics.position(model, positions, name)).T)
            rows.append(ca.SX(dynamics.orientation(model, positions, name)))
        return ca.vertcat(*rows)

    made = np.asarray(kernel(placed, q=model.nq)(q)).reshape(len(q), len(names), 4, 3)
    return made[:, :, 0], made[:, :, 1:]


def _capsule(stick: BodyCapsule) -> str:
    """A stick as a cylinder between two balls, in the axes of its body."""
    along = stick.end - stick.start
    length = float(np.linalg.norm(along))
    # A cylinder of VRML lies along y.
    turn = _shortest(np.array([0.0, 1.0, 0.0]), along / length) if length > 0 else np.zeros(3)
    color = VRML_COLORS[stick.side]
    look = f"appearance Appearance {{ material Material {{ diffuseColor {color} }} }}"
    radius = f"{stick.radius:.6g}"
    balls = " ".join(
        f"Transform {{ translation {_row(end)} children Shape {{ {look} "
        f"geometry Sphere {{ radius {radius} }} }} }}"
        for end in (stick.start, stick.end)
    )
    tube = (
        f"Transform {{ translation {_row((stick.start + stick.end) / 2)} "
        f"rotation {_axis_angle(turn)} children Shape {{ {look} geometry Cylinder {{ "
        f"radius {radius} height {length:.6g} top FALSE bottom FALSE }} }} }}"
    )
    return f"{balls} {tube}"


def _shortest(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The rotation vector that turns one unit vector into another."""
    axis = np.cross(one, other)
    size = float(np.linalg.norm(axis))
    if size < 1e-12:
        return np.zeros(3) if one @ other > 0 else np.array([np.pi, 0.0, 0.0])
    return axis / size * float(np.arctan2(size, one @ other))


def _viewpoint(motion: Motion, chosen: np.ndarray) -> list[str]:
    """A camera at the right of the middle of the motion, far enough to see all of it."""
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
