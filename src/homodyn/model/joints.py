"""Joint types: each function returns what a joint allows, without name, parent and child.

``revolute("y")`` is a `JointType`; an `Assembly` or a file reader makes it a `Joint` with a name, a
parent and a child. A single coordinate has the name of the joint, several are called
``<joint>_<suffix>``: ``tx ty tz`` for translations and ``rx ry rz`` for rotations about main axes.

Every function takes the numbers of its coordinates as keywords (``lower``, ``upper``,
``stiffness``, ``damping``, ... see `CoordinateSettings`).
"""

from __future__ import annotations

from typing import Unpack

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.model.functions import IDENTITY, ScalarFunction
from homodyn.model.joint import JointAxis
from homodyn.model.joint_type import (
    Axis,
    CoordinateSettings,
    JointType,
    axis_suffixes,
    make_joint_type,
    unit_axis,
)
from homodyn.spatial import Array

__all__ = [
    "CoordinateSettings",
    "JointType",
    "custom",
    "cylindrical",
    "euler",
    "euler_free",
    "fixed",
    "free",
    "helical",
    "planar",
    "prismatic",
    "revolute",
    "slide",
    "spherical",
    "translation",
    "turn",
    "universal",
]


def turn(
    axis: Axis,
    coordinate: int | None = 0,
    function: ScalarFunction = IDENTITY,
    *,
    pitch: Array = 0.0,
) -> JointAxis:
    """A rotation about an axis.

    Args:
        axis: ``"x"``, ``"-y"``, ... or three numbers.
        coordinate: Index of the coordinate that drives it; None: a fixed rotation.
        function: Angle (rad) as a function of the coordinate.
        pitch: Translation along the axis per angle, m/rad.

    Returns:
        The axis, for `custom`.
    """
    return JointAxis("turn", unit_axis(axis), coordinate, function, pitch)


def slide(axis: Axis, coordinate: int | None = 0, function: ScalarFunction = IDENTITY) -> JointAxis:
    """A translation along an axis.

    Args:
        axis: ``"x"``, ``"-y"``, ... or three numbers.
        coordinate: Index of the coordinate that drives it; None: a fixed translation.
        function: Translation (m) as a function of the coordinate.

    Returns:
        The axis, for `custom`.
    """
    return JointAxis("slide", unit_axis(axis), coordinate, function)


def fixed() -> JointType:
    """No relative motion.

    Returns:
        The joint type.
    """
    return JointType("fixed", (), ())


def revolute(axis: Axis, **settings: Unpack[CoordinateSettings]) -> JointType:
    """A hinge: one rotation (rad) about an axis.

    Args:
        axis: ``"x"``, ``"-y"``, ... or three numbers.
        settings: Numbers and names of the coordinate; see `CoordinateSettings`.

    Returns:
        The joint type.

    Raises:
        ModelError: The axis or a setting is invalid.
    """
    return make_joint_type("revolute", (turn(axis),), settings)


def prismatic(axis: Axis, **settings: Unpack[CoordinateSettings]) -> JointType:
    """A slider: one translation (m) along an axis.

    Args:
        axis: ``"x"``, ``"-y"``, ... or three numbers.
        settings: Numbers and names of the coordinate; see `CoordinateSettings`.

    Returns:
        The joint type.

    Raises:
        ModelError: The axis or a setting is invalid.
    """
    return make_joint_type("prismatic", (slide(axis),), settings)


def helical(axis: Axis, pitch: Array, **settings: Unpack[CoordinateSettings]) -> JointType:
    """A screw: one rotation (rad) about an axis, with a proportional translation along it.

    Args:
        axis: ``"x"``, ``"-y"``, ... or three numbers.
        pitch: Translation per angle, m/rad.
        settings: Numbers and names of the coordinate; see `CoordinateSettings`.

    Returns:
        The joint type.

    Raises:
        ModelError: The axis or a setting is invalid.
    """
    return make_joint_type("helical", (turn(axis, pitch=pitch),), settings)


def universal(first: Axis, second: Axis, **settings: Unpack[CoordinateSettings]) -> JointType:
    """A universal joint: a rotation about one axis, then about a second that moves with it.

    Args:
        first: ``"x"``, ``"-y"``, ... or three numbers.
        second: ``"x"``, ``"-y"``, ... or three numbers.
        settings: Numbers and names of the two coordinates (rad); see `CoordinateSettings`.

    Returns:
        The joint type.

    Raises:
        ModelError: The axis or a setting is invalid.
    """
    return make_joint_type("universal", (turn(first, 0), turn(second, 1)), settings)


def cylindrical(axis: Axis, **settings: Unpack[CoordinateSettings]) -> JointType:
    """A rotation about an axis (rad), then a translation along it (m).

    Args:
        axis: ``"x"``, ``"-y"``, ... or three numbers.
        settings: Numbers and names of the two coordinates; see `CoordinateSettings`.

    Returns:
        The joint type.

    Raises:
        ModelError: The axis or a setting is invalid.
    """
    return make_joint_type("cylindrical", (turn(axis, 0), slide(axis, 1)), settings)


def planar(normal: Axis, **settings: Unpack[CoordinateSettings]) -> JointType:
    """Motion in a plane: two translations (m) along axes of the parent, then a rotation (rad).

    For a main axis the translations are along the other two in alphabetical order (x and z for
    ``"y"``), for any other normal along two axes that form a right-handed frame with it.

    Args:
        normal: Normal of the plane: ``"x"``, ``"-y"``, ... or three numbers.
        settings: Numbers and names of the three coordinates; see `CoordinateSettings`.

    Returns:
        The joint type.

    Raises:
        ModelError: The normal is a parameter, or it or a setting is invalid.
    """
    axis = unit_axis(normal)
    if isinstance(axis, ca.SX):
        raise ModelError("the normal of a planar joint cannot be a parameter")
    main = np.flatnonzero(np.abs(axis) == 1.0)
    if main.size:
        first, second = (np.eye(3)[i] for i in range(3) if i != main[0])
    else:
        first = np.cross(np.eye(3)[np.argmin(np.abs(axis))], axis)
        first = first / np.linalg.norm(first)
        second = np.cross(axis, first)
    return make_joint_type("planar", (slide(first, 0), slide(second, 1), turn(axis, 2)), settings)


def translation(**settings: Unpack[CoordinateSettings]) -> JointType:
    """Three translations (m) along x, y and z of the parent (Felis eq. 3.32 to 3.35).

    Args:
        settings: Numbers and names of the three coordinates; see `CoordinateSettings`.

    Returns:
        The joint type.

    Raises:
        ModelError: A setting is invalid.
    """
    return make_joint_type("translation", tuple(slide(a, k) for k, a in enumerate("xyz")), settings)


def euler(order: str, **settings: Unpack[CoordinateSettings]) -> JointType:
    """Three rotations (rad) about body axes.

    Each axis moves with the rotations before it. Singular where the first and the third axis
    coincide.

    Args:
        order: Axes of the rotations, such as ``"xyz"`` or ``"zxz"``.
        settings: Numbers and names of the three coordinates; see `CoordinateSettings`.

    Returns:
        The joint type.

    Raises:
        ModelError: The order or a setting is invalid.
    """
    return make_joint_type("euler", _turns(order, 0), settings)


def euler_free(order: str = "zyx", **settings: Unpack[CoordinateSettings]) -> JointType:
    """Six degrees of freedom without a quaternion: translations x, y, z, then three rotations.

    Usual for the root of gait models: v and a are the time derivatives of q.

    Args:
        order: Axes of the rotations, such as ``"zyx"``.
        settings: Numbers and names of the six coordinates (m, rad); see `CoordinateSettings`.

    Returns:
        The joint type.

    Raises:
        ModelError: The order or a setting is invalid.
    """
    slides = tuple(slide(a, k) for k, a in enumerate("xyz"))
    return make_joint_type("euler_free", slides + _turns(order, 3), settings)


def spherical(**settings: Unpack[CoordinateSettings]) -> JointType:
    """A ball joint: q is a unit quaternion (w, x, y, z), v the angular velocity in child axes.

    Args:
        settings: Numbers and names of the three entries of v (rad/s); see `CoordinateSettings`.

    Returns:
        The joint type.

    Raises:
        ModelError: A setting is invalid.
    """
    return make_joint_type("spherical", (), settings, ("rx", "ry", "rz"))


def free(**settings: Unpack[CoordinateSettings]) -> JointType:
    """Six degrees of freedom with a quaternion.

    q is position and unit quaternion (w, x, y, z) in the parent, v the linear and then the angular
    velocity, both in child axes.

    Args:
        settings: Numbers and names of the six entries of v; see `CoordinateSettings`.

    Returns:
        The joint type.

    Raises:
        ModelError: A setting is invalid.
    """
    return make_joint_type("free", (), settings, ("tx", "ty", "tz", "rx", "ry", "rz"))


def custom(*axes: JointAxis, **settings: Unpack[CoordinateSettings]) -> JointType:
    """Any sequence of `turn` and `slide`, each driven by a function of one coordinate.

    Coordinates are numbered from 0 without gaps; several axes may share one.

    Args:
        axes: The axes, from the parent to the child.
        settings: Numbers and names of the coordinates; see `CoordinateSettings`.

    Returns:
        The joint type.

    Raises:
        ModelError: Coordinates have gaps, or a setting is invalid.
    """
    used = {axis.coordinate for axis in axes if axis.coordinate is not None}
    if used != set(range(len(used))):
        raise ModelError(f"coordinates of a custom joint are numbered from 0, got {sorted(used)}")
    firsts = [next(axis for axis in axes if axis.coordinate == k) for k in range(len(used))]
    return make_joint_type("custom", axes, settings, axis_suffixes(firsts))


def _turns(order: str, first: int) -> tuple[JointAxis, ...]:
    letters = str(order).lower()
    if len(letters) != 3 or set(letters) - set("xyz"):
        raise ModelError(f"an order is three letters of x, y, z, such as 'xyz'; got {order!r}")
    if letters[0] == letters[1] or letters[1] == letters[2]:
        raise ModelError(f"successive rotations must be about different axes, got {order!r}")
    return tuple(turn(letter, first + k) for k, letter in enumerate(letters))
