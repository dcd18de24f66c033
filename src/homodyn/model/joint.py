"""Joints: how a child body may move in its parent, told by its transform alone.

A joint is a sequence of elementary motions (a turn about a fixed axis, a slide along one, a screw),
each driven by a function of one coordinate. Transform, motion subspace and bias acceleration
follow from that sequence by one recursion, so no joint type has formulas of its own except the two
with quaternions, whose coordinates are not a vector space.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from homodyn.model.functions import IDENTITY, Linear, ScalarFunction
from homodyn.model.parameters import PLACEMENT, SCALAR, VECTOR, ModelRecord, coerce_fields
from homodyn.spatial import (
    EYE,
    ORIGIN,
    Array,
    Transform,
    cross_motion,
    is_symbolic,
    quaternion_rotation,
    reuse_graph,
    rotation,
    stack,
    stack_columns,
)

WORLD = "world"
"""Name of the body that does not move, to which the tree is joined."""

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
KINDS = (
    "fixed",
    "revolute",
    "prismatic",
    "helical",
    "universal",
    "cylindrical",
    "planar",
    "translation",
    "euler",
    "euler_free",
    "spherical",
    "free",
    "custom",
)
AXES = {"x": X, "y": Y, "z": Z}


@dataclass(frozen=True, eq=False)
class JointAxis(ModelRecord):
    """One elementary motion: a ``"turn"`` about ``axis`` (rad), or a ``"slide"`` along it (m).

    A turn with a ``pitch`` (m/rad) also advances along its axis. ``coordinate`` is the index,
    inside the joint, of the coordinate that ``function`` is applied to; None for a fixed
    displacement.
    """

    kind: str
    axis: Array
    coordinate: int | None = 0
    function: ScalarFunction = IDENTITY
    pitch: Array = 0.0

    def __post_init__(self) -> None:
        coerce_fields(self, axis=VECTOR, pitch=SCALAR)

    @cached_property
    def is_coordinate(self) -> bool:
        """Whether the amount is the coordinate itself."""
        function = self.function
        return (
            self.coordinate is not None
            and isinstance(function, Linear)
            and not is_symbolic(function.factor, function.offset)
            and (function.factor, function.offset) == (1.0, 0.0)
        )

    def screw(self) -> Array:
        """The motion vector of unit rate, in the frame before or after the motion alike."""
        axis = self.axis
        if self.kind == "turn":
            return stack(axis, self.pitch * axis)
        return stack(np.zeros(3), axis)

    def transform(self, amount: Array) -> Transform:
        """The transform of the motion by ``amount``."""
        axis = self.axis
        if self.kind == "turn":
            pitch = self.pitch
            straight = not is_symbolic(pitch) and pitch == 0
            return Transform(rotation(axis, amount), ORIGIN if straight else pitch * amount * axis)
        return Transform(EYE, amount * axis)


COORDINATE_NUMBERS = (
    "lower",
    "upper",
    "default",
    "max_velocity",
    "max_force",
    "stiffness",
    "rest",
    "damping",
    "friction",
    "armature",
)
COORDINATE_FLAGS = ("locked", "actuated")


@dataclass(frozen=True, eq=False)
class Coordinate(ModelRecord):
    """One degree of freedom: its name, range (rad or m) and what acts along it on its own.

    ``stiffness`` (N m/rad or N/m) pulls towards ``rest``, ``damping`` (N m s/rad or N s/m) against
    the rate, ``armature`` (kg m2 or kg) is the inertia of a geared rotor; ``max_velocity`` and
    ``max_force`` bound what an actuator may do; with ``actuated=False`` there is none. ``default``
    is the value of the neutral pose.
    """

    name: str
    lower: Array = -np.inf
    upper: Array = np.inf
    default: Array = 0.0
    max_velocity: Array = np.inf
    max_force: Array = np.inf
    stiffness: Array = 0.0
    rest: Array = 0.0
    damping: Array = 0.0
    friction: Array = 0.0
    armature: Array = 0.0
    locked: bool = False
    actuated: bool = True

    def __post_init__(self) -> None:
        coerce_fields(self, **dict.fromkeys(COORDINATE_NUMBERS, SCALAR))


@dataclass(frozen=True, eq=False)
class Coupler(ModelRecord):
    """A coordinate that follows another: ``coordinate = function(of)``."""

    coordinate: str
    of: str
    function: ScalarFunction


@dataclass(frozen=True)
class JointState:
    """What a joint contributes at one state: transform, subspace, velocity, bias acceleration."""

    X: Transform
    S: Array
    v: Array
    c: Array


@dataclass(frozen=True, eq=False)
class Joint(ModelRecord):
    """A connection from ``parent`` to ``child`` (body names; the root's parent is ``"world"``).

    ``placement`` puts the joint frame in the parent body, ``child_placement`` puts it in the child
    body; the child coincides with the joint frame after the motion when the latter is identity.
    """

    name: str
    parent: str
    child: str
    kind: str
    coordinates: tuple[Coordinate, ...] = ()
    axes: tuple[JointAxis, ...] = ()
    placement: Transform = field(default_factory=Transform.identity)
    child_placement: Transform = field(default_factory=Transform.identity)
    notes: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        coerce_fields(self, placement=PLACEMENT, child_placement=PLACEMENT)
        object.__setattr__(self, "coordinates", tuple(self.coordinates))
        object.__setattr__(self, "axes", tuple(self.axes))

    @property
    def quaternion(self) -> bool:
        """Whether four of the positions are a unit quaternion (w, x, y, z)."""
        return self.kind in ("spherical", "free")

    @property
    def nq(self) -> int:
        """Number of position entries."""
        return len(self.coordinates) + (1 if self.quaternion else 0)

    @property
    def nv(self) -> int:
        """Number of velocity entries: the degrees of freedom."""
        return len(self.coordinates)

    def transform(self, q: Array) -> Transform:
        """From the joint frame in the parent to the joint frame in the child."""
        if self.kind == "free":
            return Transform(quaternion_rotation(q[3:7]), q[0:3])
        if self.kind == "spherical":
            return Transform(quaternion_rotation(q), np.zeros(3))
        total = Transform.identity()
        for motion in self.axes:
            total = motion.transform(self._amount(motion, q)) @ total
        return total

    def state(self, q: Array, v: Array) -> JointState:
        """Transform, motion subspace S, velocity S v and bias (dS/dt) v, in the child's frame.

        The elementary motions are composed like a chain of bodies without mass, for which
        v_k = X_k v_(k-1) + s_k f'(q) qd and c_k = X_k c_(k-1) + s_k f''(q) qd^2 + v_k x s_k f' qd.
        """
        chain: list[Array]
        if self.quaternion:
            X = self.transform(q)
            S = np.eye(6)[:, [3, 4, 5, 0, 1, 2]] if self.kind == "free" else np.eye(6)[:, :3]
            chain = [X.E, X.r, S, S @ v, ZERO_MOTION]
        else:
            chain = [EYE, ORIGIN, np.zeros((6, self.nv)), ZERO_MOTION, ZERO_MOTION]
        for motion in self.axes:
            k, amount = motion.coordinate, self._amount(motion, q)
            if k is None and not is_symbolic(amount) and amount == 0:
                continue
            speed, slope, curvature = (0.0 if k is None else v[k]), 1.0, 0.0
            if k is not None and not motion.is_coordinate:
                slope, curvature = motion.function.slope(q[k]), motion.function.curvature(q[k])
            angle = amount if motion.kind == "turn" else 0.0
            row = np.arange(self.nv) == k
            step = (motion.screw(), row, angle, amount, speed, slope, curvature)
            chain = list(_compose_axis(*step, *chain))
        before, after = self.placement, self.child_placement.inverse()
        E, r, S, velocity, bias = _place_between_frames(
            before.E, before.r, after.E, after.r, *chain
        )
        return JointState(Transform(E, r), S, velocity, bias)

    @staticmethod
    def _amount(motion: JointAxis, q: Array) -> Array:
        if motion.coordinate is None:
            return motion.function.value(0.0)
        if motion.is_coordinate:
            return q[motion.coordinate]
        return motion.function.value(q[motion.coordinate])


ZERO_MOTION = np.zeros(6)
"""The motion of what does not move."""


@reuse_graph
def _compose_axis(
    screw: Array,
    row: Array,
    angle: Array,
    amount: Array,
    speed: Array,
    slope: Array,
    curvature: Array,
    E: Array,
    r: Array,
    S: Array,
    velocity: Array,
    bias: Array,
) -> tuple[Array, ...]:
    """A chain that was at (E, r), with subspace, velocity and bias, after one motion more.

    The motion has come to ``amount``, of which ``angle`` is a turn, by a function with ``slope``
    and ``curvature`` of the coordinate of the unit ``row``, which moves at ``speed``.
    """
    step = Transform(rotation(screw[:3], angle), screw[3:] * amount)
    X = step @ Transform(E, r)
    carried, own = step.motion(velocity), screw * (slope * speed)
    S = step.motion(S)
    if S.shape[1]:
        S = S + stack_columns(*(screw * (slope * row[k]) for k in range(S.shape[1])))
    bias = step.motion(bias) + screw * (curvature * speed * speed)
    return X.E, X.r, S, carried + own, bias + cross_motion(carried, own)


@reuse_graph
def _place_between_frames(
    outer_E: Array,
    outer_r: Array,
    inner_E: Array,
    inner_r: Array,
    E: Array,
    r: Array,
    S: Array,
    velocity: Array,
    bias: Array,
) -> tuple[Array, ...]:
    """A chain between the frames of a joint as one between its parent and its child."""
    inner = Transform(inner_E, inner_r)
    X = inner @ Transform(E, r) @ Transform(outer_E, outer_r)
    return X.E, X.r, inner.motion(S), inner.motion(velocity), inner.motion(bias)


def is_identity(transform: Transform) -> bool:
    """Whether a transform is, to the bit, the one that changes nothing."""
    return (
        isinstance(transform.E, np.ndarray)
        and isinstance(transform.r, np.ndarray)
        and bool(np.array_equal(transform.E, np.eye(3)) and not transform.r.any())
    )
