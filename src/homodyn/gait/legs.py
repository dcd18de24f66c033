"""The two legs of any model: hip, knee, ankle, heel, toe and sole.

Feet are identified by name and otherwise as the two lowest leaves of the tree. Joints of a leg are
identified by geometry: the hip connects the leg to the body that carries both legs, the knee is the
joint farthest from hip and ankle. Heel and toe are the ends of the sole, whose points are contact
shapes, otherwise markers, otherwise a line from the ankle through the center of mass of the foot.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import marker_positions
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.model import ContactShape, Marker, Model
from homodyn.model.side import Side, side_of
from homodyn.motion.foot_names import is_foot_name

_ANKLE = re.compile(r"ankle", re.IGNORECASE)
_HALLUX = re.compile(r"hallux|big.?toe", re.IGNORECASE)
_SOLE_END_TOLERANCE_M = 0.01
"""Points within this distance (m) of the end of a sole belong to that end."""


class LegsNotFound(CaptureError):
    """A model has no left and right leg that can be identified."""


@record
class SolePoint(Record):
    """A point of the sole, fixed in a body; spheres and capsules extend ``radius`` (m) below it."""

    name: str
    """Name of the contact or marker."""
    body: str
    """The body that it is fixed in."""
    point: np.ndarray
    """(3,), m, in the axes of the body."""
    radius: float = 0.0
    """m."""


@record
class Leg(Record):
    """One leg: the bodies whose origins are its joints, and the points of its foot."""

    side: Side
    """Left or right."""
    pelvis: str
    """The body that carries both legs."""
    hip: str
    """The body that rotates about the hip."""
    knee: str
    """The body that rotates about the knee."""
    ankle: str
    """The body that rotates about the ankle."""
    foot: tuple[str, ...]
    """The bodies of the foot, toes included."""
    heel: SolePoint
    """The rear end of the sole."""
    toe: SolePoint
    """The hallux where the model has one, otherwise the front end of the sole."""
    sole: tuple[SolePoint, ...]
    """All points of the sole."""
    source: str
    """Origin of the sole points: ``"contacts"``, ``"markers"`` or ``"foot mass"``."""


def find_legs(model: Model) -> tuple[Leg, Leg]:
    """Find the left and the right leg of a model.

    Args:
        model: Any model with two feet.

    Returns:
        The left leg and the right leg.

    Raises:
        LegsNotFound: No left and right foot can be identified.
    """
    pose = _NeutralPose(model)
    feet = _feet(pose)
    common = _common_ancestor(model, feet[Side.LEFT], feet[Side.RIGHT])
    lateral = pose.origin(feet[Side.LEFT]) - pose.origin(feet[Side.RIGHT])
    forward = np.cross([lateral[0], lateral[1], 0.0], [0.0, 0.0, 1.0])
    width = np.linalg.norm(forward)
    # Planar models have both legs in one plane; they face X like every model.
    forward = forward / width if width > 1e-3 else np.array([1.0, 0.0, 0.0])
    left, right = (
        _leg(pose, side, feet[side], common, forward) for side in (Side.LEFT, Side.RIGHT)
    )
    return left, right


class _NeutralPose:
    """A model in its neutral pose, world axes with Z up."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.index = {name: i for i, name in enumerate(model.body_names)}
        # One call for origins and axes of all bodies: four markers each.
        corners = np.vstack([np.zeros(3), np.eye(3)])
        markers = tuple(
            Marker(f"{body} corner {k}", body, corner)
            for body in model.body_names
            for k, corner in enumerate(corners)
        )
        seen = marker_positions(replace(model, markers=markers), model.neutral())
        seen = np.asarray(seen).reshape(-1, 4, 3) @ world_axes(model).T
        self.origins = seen[:, 0]
        self.rotations = np.swapaxes(seen[:, 1:] - seen[:, :1], 1, 2)

    def origin(self, body: str) -> np.ndarray:
        return self.origins[self.index[body]]

    def rotation(self, body: str) -> np.ndarray:
        return self.rotations[self.index[body]]

    def position(self, body: str, point: np.ndarray) -> np.ndarray:
        return self.origin(body) + self.rotation(body) @ point

    def parent(self, body: str) -> str | None:
        above = self.model.parents[self.index[body]]
        return None if above < 0 else self.model.body_names[above]

    def below(self, body: str) -> tuple[str, ...]:
        """The body and all its descendants."""
        inside = {body}
        for name in self.model.body_names:
            if self.parent(name) in inside:
                inside.add(name)
        return tuple(name for name in self.model.body_names if name in inside)


def _feet(pose: _NeutralPose) -> dict[Side, str]:
    names = pose.model.body_names
    for is_foot in (is_foot_name, _ANKLE.search):
        found: dict[Side, str] = {}
        for name in names:
            side = side_of(name)
            if side and is_foot(name):
                found.setdefault(side, name)
        if len(found) == 2:
            return found
    carriers = {pose.parent(name) for name in names}
    ends = sorted((n for n in names if n not in carriers), key=lambda n: pose.origin(n)[2])[:2]
    if len(ends) == 2:
        if {side_of(end) for end in ends} == set(Side):
            return {side: end for end in ends if (side := side_of(end))}
        if abs(pose.origin(ends[0])[1] - pose.origin(ends[1])[1]) > _SOLE_END_TOLERANCE_M:
            right, left = sorted(ends, key=lambda n: pose.origin(n)[1])
            return {Side.LEFT: left, Side.RIGHT: right}
    raise LegsNotFound(
        f"model {pose.model.name!r} has no recognizable left and right foot: its bodies are "
        f"{', '.join(names)}; name two of them foot, calcn or heel with left or right, _l or _r"
    )


def _common_ancestor(model: Model, left: str, right: str) -> int:
    def line(body: str) -> list[int]:
        chain, at = [], model.body_names.index(body)
        while at >= 0:
            chain.append(at)
            at = model.parents[at]
        return [*chain, -1]

    above = set(line(left))
    return next(body for body in line(right) if body in above)


def _leg(pose: _NeutralPose, side: Side, foot: str, common: int, forward: np.ndarray) -> Leg:
    names = pose.model.body_names
    chain = [foot]
    while True:
        above = pose.model.parents[pose.index[chain[-1]]]
        if above == common:
            break
        chain.append(names[above])
    hip, ankle = chain[-1], chain[0]
    if len(chain) < 2:
        raise LegsNotFound(
            f"model {pose.model.name!r}: foot {foot!r} is connected directly to the "
            "trunk; a leg needs a thigh or a shank between them"
        )
    knee = max(
        chain,
        key=lambda body: min(
            np.linalg.norm(pose.origin(body) - pose.origin(hip)),
            np.linalg.norm(pose.origin(body) - pose.origin(ankle)),
        ),
    )
    bodies = pose.below(foot)
    sole, source = _sole(pose, ankle, bodies)
    along = [forward @ pose.position(p.body, p.point) for p in sole]
    named = [p for p in sole if _HALLUX.search(p.name)]
    return Leg(
        side=side,
        pelvis=names[common] if common >= 0 else hip,
        hip=hip,
        knee=knee,
        ankle=ankle,
        foot=bodies,
        heel=_end(pose, sole, along, min(along), "heel"),
        toe=named[0] if named else _end(pose, sole, along, max(along), "toe"),
        sole=sole,
        source=source,
    )


def _end(
    pose: _NeutralPose, sole: Sequence[SolePoint], along: Sequence[float], end: float, name: str
) -> SolePoint:
    """The mean of the points at one end; a sphere counts with its lowest point."""
    last = [p for p, x in zip(sole, along, strict=True) if abs(x - end) < _SOLE_END_TOLERANCE_M]
    body = last[0].body
    down = pose.rotation(body).T @ np.array([0.0, 0.0, -1.0])
    same = [p.point + p.radius * down for p in last if p.body == body]
    return SolePoint(last[0].name if len(same) == 1 else name, body, np.mean(same, axis=0))


def _sole(
    pose: _NeutralPose, ankle: str, bodies: Sequence[str]
) -> tuple[tuple[SolePoint, ...], str]:
    model = pose.model
    shapes = [c for c in model.contacts if c.body in bodies]
    if shapes:
        return tuple(p for shape in shapes for p in _corners(shape)), "contacts"
    height = pose.origin(ankle)[2] + _SOLE_END_TOLERANCE_M
    markers = [SolePoint(m.name, m.body, m.position) for m in model.markers if m.body in bodies]
    low = tuple(m for m in markers if pose.position(m.body, m.point)[2] < height)
    if len(low) >= 2:
        return low, "markers"
    masses = [(model.body(b).mass, pose.position(b, model.body(b).com)) for b in bodies]
    total = sum(mass for mass, _ in masses)
    center = sum(mass * point for mass, point in masses) / total if total else None
    tip = np.zeros(3)
    if center is not None:
        tip = pose.rotation(ankle).T @ (2 * (center - pose.origin(ankle)))
    return (
        SolePoint("ankle", ankle, np.zeros(3)),
        SolePoint("foot tip", ankle, tip),
    ), "foot mass"


def _corners(shape: ContactShape) -> list[SolePoint]:
    """The points of a contact shape that may touch level ground first."""
    if shape.kind in ("point", "sphere"):
        offsets = [np.zeros(3)]
    elif shape.kind in ("line", "capsule"):
        offsets = [sign * shape.half_size[0] * np.eye(3)[0] for sign in (-1, 1)]
    else:
        signs = np.stack(np.meshgrid(*[[-1, 1]] * 3), axis=-1).reshape(-1, 3)
        offsets = list(signs * shape.half_size)
    radius = float(shape.radius) if shape.kind in ("sphere", "capsule") else 0.0
    return [
        SolePoint(shape.name, shape.body, shape.position + shape.rotation.T @ offset, radius)
        for offset in offsets
    ]
