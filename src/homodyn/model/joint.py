"""Joints: how a child body can move relative to its parent.

A joint is a sequence of axes: rotations about a fixed axis (turns), translations along one (slides)
and screws, each driven by a function of one coordinate. Transform, motion subspace and bias
acceleration follow from that sequence by one recursion, so no joint type has formulas of its own
except the two with quaternions, whose coordinates are not a vector space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from homodyn.foundation.record import record
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
"""Name of the fixed body that the tree is connected to."""

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


@record
class JointAxis(ModelRecord):
    """One axis of a joint: a rotation about it or a translation along it."""

    kind: str
    """``"turn"`` (rad) or ``"slide"`` (m)."""
    axis: Array
    """Unit vector, (3,)."""
    coordinate: int | None = 0
    """Index, in the joint, of the coordinate that drives the axis; None: a fixed displacement."""
    function: ScalarFunction = IDENTITY
    """Displacement (rad or m) as a function of the coordinate."""
    pitch: Array = 0.0
    """Translation along the axis per rotation of a turn, m/rad."""

    def __post_init__(self) -> None:
        coerce_fields(self, axis=VECTOR, pitch=SCALAR)

    @cached_property
    def is_coordinate(self) -> bool:
        """Whether the displacement is the coordinate itself."""
        function = self.function
        return (
            self.coordinate is not None
            and isinstance(function, Linear)
            and not is_symbolic(function.factor, function.offset)
            and (function.factor, function.offset) == (1.0, 0.0)
        )

    def screw(self) -> Array:
        """The motion vector of unit rate; the same in the frames before and after the motion."""
        axis = self.axis
        if self.kind == "turn":
            return stack(axis, self.pitch * axis)
        return stack(np.zeros(3), axis)

    def transform(self, amount: Array) -> Transform:
        """The transform of the displacement ``amount`` (rad or m)."""
        axis = self.axis
        if self.kind == "turn":
            pitch = self.pitch
            no_pitch = not is_symbolic(pitch) and pitch == 0
            return Transform(rotation(axis, amount), ORIGIN if no_pitch else pitch * amount * axis)
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


@record
class Coordinate(ModelRecord):
    """One degree of freedom: its range, passive elements and actuator limits."""

    name: str
    lower: Array = -np.inf
    """rad or m."""
    upper: Array = np.inf
    """rad or m."""
    default: Array = 0.0
    """Value in the neutral pose, rad or m."""
    max_velocity: Array = np.inf
    """rad/s or m/s."""
    max_force: Array = np.inf
    """Of the actuator, N m or N."""
    stiffness: Array = 0.0
    """Of a spring toward ``rest``, N m/rad or N/m."""
    rest: Array = 0.0
    """Rest position of the spring, rad or m."""
    damping: Array = 0.0
    """N m s/rad or N s/m."""
    friction: Array = 0.0
    """Coulomb friction, N m or N."""
    armature: Array = 0.0
    """Inertia of a geared rotor, kg m2 or kg."""
    locked: bool = False
    """Whether it is locked: fits and simulations keep it at its default value."""
    actuated: bool = True
    """Whether a motor or muscle can drive it."""

    def __post_init__(self) -> None:
        coerce_fields(self, **dict.fromkeys(COORDINATE_NUMBERS, SCALAR))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The coordinate that `to_dict` described, with infinite numbers written as strings."""
        infinite = {
            key: float(data[key]) for key in COORDINATE_NUMBERS if isinstance(data.get(key), str)
        }
        return super().from_dict({**data, **infinite})


@record
class Coupler(ModelRecord):
    """A coordinate that follows another: ``coordinate = function(of)``."""

    coordinate: str
    of: str
    function: ScalarFunction


@dataclass(frozen=True)
class JointState:
    """A joint at one state: transform, motion subspace, velocity and bias acceleration."""

    X: Transform
    S: Array
    v: Array
    c: Array


@record
class Joint(ModelRecord):
    """A connection from ``parent`` to ``child`` (body names; the root's parent is ``"world"``).

    ``placement`` is the joint frame in the parent body and ``child_placement`` the joint frame in
    the child body, which is the body frame itself by default.
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

        The axes are composed like a chain of massless bodies, for which
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
"""Spatial velocity or acceleration zero."""


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
    """Append one axis to a chain with transform (E, r), subspace S, velocity and bias.

    The axis is displaced by ``amount``, of which ``angle`` is a rotation. Its function has
    ``slope`` and ``curvature`` with respect to the coordinate of the unit ``row``, whose rate is
    ``speed``.
    """
    step = Transform(rotation(screw[:3], angle), screw[3:] * amount)
    X = step @ Transform(E, r)
    base, own = step.motion(velocity), screw * (slope * speed)
    S = step.motion(S)
    if S.shape[1]:
        S = S + stack_columns(*(screw * (slope * row[k]) for k in range(S.shape[1])))
    bias = step.motion(bias) + screw * (curvature * speed * speed)
    return X.E, X.r, S, base + own, bias + cross_motion(base, own)


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
    """A chain between the frames of a joint, expressed between its parent and its child."""
    inner = Transform(inner_E, inner_r)
    X = inner @ Transform(E, r) @ Transform(outer_E, outer_r)
    return X.E, X.r, inner.motion(S), inner.motion(velocity), inner.motion(bias)


def is_identity(transform: Transform) -> bool:
    """Whether a transform is exactly the identity."""
    return (
        isinstance(transform.E, np.ndarray)
        and isinstance(transform.r, np.ndarray)
        and bool(np.array_equal(transform.E, np.eye(3)) and not transform.r.any())
    )
