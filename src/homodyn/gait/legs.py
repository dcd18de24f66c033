"""The two legs of a model: hip, knee, ankle, heel, toe and the sole, whatever they are called.

Feet are found by their names and, where names say nothing, as the two lowest ends of the tree.
Joints of a leg are found by geometry: the hip is where the leg leaves the body that carries both,
the knee is the joint farthest from hip and ankle. Heel and toe are the ends of the sole, whose
points are contact shapes, else markers, else a line drawn from the ankle through the foot's mass.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import marker_positions
from homodyn.errors import CaptureError
from homodyn.model import ContactShape, Marker, Model
from homodyn.model.side import Side, side_of

_FOOT = re.compile(r"foot|feet|calcn|calcan|talus|heel|toe|sole", re.IGNORECASE)
_ANKLE = re.compile(r"ankle", re.IGNORECASE)
_HALLUX = re.compile(r"hallux|big.?toe", re.IGNORECASE)
_SOLE_END_TOLERANCE_M = 0.01
"""Points of a sole whose ends differ by less (m) end together."""


@dataclass(frozen=True, eq=False)
class SolePoint:
    """A place of the sole, fixed in a body; spheres and capsules reach ``radius`` (m) below it."""

    name: str
    body: str
    point: np.ndarray
    """(3,), m, in the axes of the body."""
    radius: float = 0.0


@dataclass(frozen=True, eq=False)
class Leg:
    """Where to look at one leg: bodies whose origins are its joints, and points of its foot."""

    side: Side
    pelvis: str
    """The body that carries both legs."""
    hip: str
    """The body that turns about the hip; likewise knee and ankle."""
    knee: str
    ankle: str
    foot: tuple[str, ...]
    """The bodies of the foot, toes included."""
    heel: SolePoint
    toe: SolePoint
    """The Hallux where the model names one, else the foremost of the sole."""
    sole: tuple[SolePoint, ...]
    source: str
    """What the sole was taken from: ``"contacts"``, ``"markers"`` or ``"foot mass"``."""


def find_legs(model: Model) -> tuple[Leg, Leg]:
    """The left and the right leg of a model."""
    stands = _NeutralPose(model)
    feet = _feet(stands)
    common = _common_ancestor(model, feet[Side.LEFT], feet[Side.RIGHT])
    lateral = stands.origin(feet[Side.LEFT]) - stands.origin(feet[Side.RIGHT])
    forward = np.cross([lateral[0], lateral[1], 0.0], [0.0, 0.0, 1.0])
    width = np.linalg.norm(forward)
    # Planar models have both legs in one plane; they face X as every model does.
    forward = forward / width if width > 1e-3 else np.array([1.0, 0.0, 0.0])
    left, right = (
        _leg(stands, side, feet[side], common, forward) for side in (Side.LEFT, Side.RIGHT)
    )
    return left, right


class _NeutralPose:
    """A model in its neutral pose, in our axes."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.index = {name: i for i, name in enumerate(model.body_names)}
        # One call for origins and axes of all bodies: each is seen by four markers.
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

    def place(self, body: str, point: np.ndarray) -> np.ndarray:
        return self.origin(body) + self.rotation(body) @ point

    def parent(self, body: str) -> str | None:
        above = self.model.parents[self.index[body]]
        return None if above < 0 else self.model.body_names[above]

    def below(self, body: str) -> tuple[str, ...]:
        """The body and all it carries."""
        inside = {body}
        for name in self.model.body_names:
            if self.parent(name) in inside:
                inside.add(name)
        return tuple(name for name in self.model.body_names if name in inside)


def _feet(stands: _NeutralPose) -> dict[Side, str]:
    names = stands.model.body_names
    for word in (_FOOT, _ANKLE):
        found: dict[Side, str] = {}
        for name in names:
            side = side_of(name)
            if side and word.search(name):
                found.setdefault(side, name)
        if len(found) == 2:
            return found
    carriers = {stands.parent(name) for name in names}
    ends = sorted((n for n in names if n not in carriers), key=lambda n: stands.origin(n)[2])[:2]
    if len(ends) == 2:
        if {side_of(end) for end in ends} == set(Side):
            return {side: end for end in ends if (side := side_of(end))}
        if abs(stands.origin(ends[0])[1] - stands.origin(ends[1])[1]) > _SOLE_END_TOLERANCE_M:
            right, left = sorted(ends, key=lambda n: stands.origin(n)[1])
            return {Side.LEFT: left, Side.RIGHT: right}
    raise CaptureError(
        f"model {stands.model.name!r} shows no left and right foot: its bodies are "
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


def _leg(stands: _NeutralPose, side: Side, foot: str, common: int, forward: np.ndarray) -> Leg:
    names = stands.model.body_names
    chain = [foot]
    while True:
        above = stands.model.parents[stands.index[chain[-1]]]
        if above == common:
            break
        chain.append(names[above])
    hip, ankle = chain[-1], chain[0]
    if len(chain) < 2:
        raise CaptureError(
            f"model {stands.model.name!r}: foot {foot!r} hangs on the trunk itself; "
            "a leg needs a thigh or a shank between them"
        )
    knee = max(
        chain,
        key=lambda body: min(
            np.linalg.norm(stands.origin(body) - stands.origin(hip)),
            np.linalg.norm(stands.origin(body) - stands.origin(ankle)),
        ),
    )
    bodies = stands.below(foot)
    sole, source = _sole(stands, ankle, bodies)
    along = [forward @ stands.place(p.body, p.point) for p in sole]
    named = [p for p in sole if _HALLUX.search(p.name)]
    return Leg(
        side=side,
        pelvis=names[common] if common >= 0 else hip,
        hip=hip,
        knee=knee,
        ankle=ankle,
        foot=bodies,
        heel=_end(stands, sole, along, min(along), "heel"),
        toe=named[0] if named else _end(stands, sole, along, max(along), "toe"),
        sole=sole,
        source=source,
    )


def _end(
    stands: _NeutralPose, sole: Sequence[SolePoint], along: Sequence[float], end: float, name: str
) -> SolePoint:
    """The middle of the points that lie at one end; a sphere counts with its lowest place."""
    last = [p for p, x in zip(sole, along, strict=True) if abs(x - end) < _SOLE_END_TOLERANCE_M]
    body = last[0].body
    down = stands.rotation(body).T @ np.array([0.0, 0.0, -1.0])
    same = [p.point + p.radius * down for p in last if p.body == body]
    return SolePoint(last[0].name if len(same) == 1 else name, body, np.mean(same, axis=0))


def _sole(
    stands: _NeutralPose, ankle: str, bodies: Sequence[str]
) -> tuple[tuple[SolePoint, ...], str]:
    model = stands.model
    shapes = [c for c in model.contacts if c.body in bodies]
    if shapes:
        return tuple(p for shape in shapes for p in _corners(shape)), "contacts"
    height = stands.origin(ankle)[2] + _SOLE_END_TOLERANCE_M
    markers = [SolePoint(m.name, m.body, m.position) for m in model.markers if m.body in bodies]
    low = tuple(m for m in markers if stands.place(m.body, m.point)[2] < height)
    if len(low) >= 2:
        return low, "markers"
    masses = [(model.body(b).mass, stands.place(b, model.body(b).com)) for b in bodies]
    total = sum(mass for mass, _ in masses)
    center = sum(mass * place for mass, place in masses) / total if total else None
    tip = np.zeros(3)
    if center is not None:
        tip = stands.rotation(ankle).T @ (2 * (center - stands.origin(ankle)))
    return (
        SolePoint("ankle", ankle, np.zeros(3)),
        SolePoint("foot tip", ankle, tip),
    ), "foot mass"


def _corners(shape: ContactShape) -> list[SolePoint]:
    """The places of a contact shape that may touch level ground first."""
    if shape.kind in ("point", "sphere"):
        offsets = [np.zeros(3)]
    elif shape.kind in ("line", "capsule"):
        offsets = [sign * shape.size[0] * np.eye(3)[0] for sign in (-1, 1)]
    else:
        signs = np.stack(np.meshgrid(*[[-1, 1]] * 3), axis=-1).reshape(-1, 3)
        offsets = list(signs * shape.size)
    radius = float(shape.radius) if shape.kind in ("sphere", "capsule") else 0.0
    return [
        SolePoint(shape.name, shape.body, shape.position + shape.rotation.T @ offset, radius)
        for offset in offsets
    ]
