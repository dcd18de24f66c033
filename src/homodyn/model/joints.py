"""The joint zoo: each function says how a body may move, before it is known between which two.

``revolute("y")`` is a `JointType`; a builder or a loader turns it into a `Joint` by giving it a
name, a parent and a child. Coordinates are named like the joint when there is one, and
``<joint>_<suffix>`` otherwise: ``tx ty tz`` for slides and ``rx ry rz`` for turns about main axes.

Every function takes numbers for its coordinates as keywords (``lower``, ``upper``, ``stiffness``,
``damping``, ... see `Coordinate`), each one number for all or a sequence with one per coordinate,
and ``names`` for coordinate names to be used as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.model.functions import IDENTITY, ScalarFunction
from homodyn.model.joint import (
    AXES,
    COORDINATE_FLAGS,
    COORDINATE_NUMBERS,
    Coordinate,
    Joint,
    JointAxis,
)
from homodyn.model.parameters import placement, vector
from homodyn.spatial import Array, Transform

Axis = Any
"""``"x"``, ``"-y"``, ... or three numbers of any length but zero."""


@dataclass(frozen=True)
class JointType:
    """What a joint allows: its elementary motions and, with suffixes for names, coordinates."""

    kind: str
    axes: tuple[JointAxis, ...]
    coordinates: tuple[Coordinate, ...]
    names: tuple[str, ...] = ()

    def joint(
        self,
        name: str,
        parent: str,
        child: str,
        *,
        at: Transform | Array = (0.0, 0.0, 0.0),
        child_at: Transform | Array = (0.0, 0.0, 0.0),
    ) -> Joint:
        """The joint of this type between two bodies; ``at`` places it in the parent."""
        names = self.names
        if not names:
            suffixes = [coordinate.name for coordinate in self.coordinates]
            names = tuple(f"{name}_{suffix}" for suffix in suffixes) if suffixes[1:] else (name,)
        coordinates = tuple(
            replace(c, name=n) for c, n in zip(self.coordinates, names, strict=False)
        )
        return Joint(
            name,
            parent,
            child,
            self.kind,
            coordinates,
            self.axes,
            placement(at),
            placement(child_at),
        )


def unit_axis(axis: Axis) -> Array:
    """An axis as three numbers of length one."""
    if isinstance(axis, str):
        if axis.lstrip("-") not in AXES or len(axis) > 2:
            raise ModelError(f"no axis {axis!r}; accepted are x, y, z, -x, -y, -z or three numbers")
        sign = -1.0 if axis.startswith("-") else 1.0
        return vector(sign * np.array(AXES[axis[-1]]), 3)
    try:
        given = vector(axis, 3)
    except (TypeError, ValueError):
        raise ModelError(f"an axis is x, y, z, -x, -y, -z or three numbers, got {axis!r}") from None
    if isinstance(given, ca.SX):
        return given / ca.norm_2(given)
    length = float(np.linalg.norm(given))
    if not (np.isfinite(length) and length > 0):
        raise ModelError(f"an axis needs a direction, got {axis!r}")
    # An axis that is already a unit vector to rounding keeps its bits.
    return given if abs(length - 1) < 4e-16 else vector(given / length, 3)


def turn(
    axis: Axis,
    coordinate: int | None = 0,
    function: ScalarFunction = IDENTITY,
    *,
    pitch: Array = 0.0,
) -> JointAxis:
    """A turn about an axis by ``function`` of the coordinate (rad); ``pitch`` in m/rad."""
    return JointAxis("turn", unit_axis(axis), coordinate, function, pitch)


def slide(axis: Axis, coordinate: int | None = 0, function: ScalarFunction = IDENTITY) -> JointAxis:
    """A slide along an axis by ``function`` of the coordinate (m)."""
    return JointAxis("slide", unit_axis(axis), coordinate, function)


def fixed() -> JointType:
    """No motion at all."""
    return JointType("fixed", (), ())


def revolute(axis: Axis, **settings: Any) -> JointType:
    """A hinge: one turn (rad) about ``axis``."""
    return _joint_type("revolute", (turn(axis),), settings)


def prismatic(axis: Axis, **settings: Any) -> JointType:
    """A slider: one slide (m) along ``axis``."""
    return _joint_type("prismatic", (slide(axis),), settings)


def helical(axis: Axis, pitch: Array, **settings: Any) -> JointType:
    """A screw: one turn (rad) about ``axis`` that advances by ``pitch`` (m/rad)."""
    return _joint_type("helical", (turn(axis, pitch=pitch),), settings)


def universal(first: Axis, second: Axis, **settings: Any) -> JointType:
    """A cardan: a turn about ``first``, then about ``second``, which the first turn carries."""
    return _joint_type("universal", (turn(first, 0), turn(second, 1)), settings)


def cylindrical(axis: Axis, **settings: Any) -> JointType:
    """A turn about and a slide along one ``axis``, in that order of coordinates."""
    return _joint_type("cylindrical", (turn(axis, 0), slide(axis, 1)), settings)


def planar(normal: Axis, **settings: Any) -> JointType:
    """Motion in the plane across ``normal``: two slides along axes of the parent, then a turn.

    For a main axis the slides go along the two others in alphabetic order (x and z for ``"y"``);
    for any other normal along two axes that form a right-handed frame with it.
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
    return _joint_type("planar", (slide(first, 0), slide(second, 1), turn(axis, 2)), settings)


def translation(**settings: Any) -> JointType:
    """Three slides along x, y and z of the parent (Felis eq. 3.32 to 3.35)."""
    return _joint_type("translation", tuple(slide(a, k) for k, a in enumerate("xyz")), settings)


def euler(order: str, **settings: Any) -> JointType:
    """Three turns about body axes in ``order``, such as ``"xyz"`` or ``"zxz"``.

    The second turn is about an axis that the first carries, and so on. Singular where the first
    and the third axis meet.
    """
    return _joint_type("euler", _turns(order, 0), settings)


def euler_free(order: str = "zyx", **settings: Any) -> JointType:
    """Six freedoms without a quaternion: slides along x, y, z of the parent, then three turns.

    The base of planar and spatial gait models; here q, v and a are plain derivatives of each other.
    """
    slides = tuple(slide(a, k) for k, a in enumerate("xyz"))
    return _joint_type("euler_free", slides + _turns(order, 3), settings)


def spherical(**settings: Any) -> JointType:
    """A ball: q is a unit quaternion (w, x, y, z), v the angular velocity in the child's frame."""
    return _joint_type("spherical", (), settings, ("rx", "ry", "rz"))


def free(**settings: Any) -> JointType:
    """Six freedoms with a quaternion.

    q is position and unit quaternion (w, x, y, z) in the parent, v the linear and then the angular
    velocity, both in the child's frame.
    """
    return _joint_type("free", (), settings, ("tx", "ty", "tz", "rx", "ry", "rz"))


def custom(*motions: JointAxis, **settings: Any) -> JointType:
    """Any sequence of `turn` and `slide`, each driven by a function of one of the coordinates.

    Coordinates are counted from 0 without a gap; several motions may share one.
    """
    used = {motion.coordinate for motion in motions if motion.coordinate is not None}
    if used != set(range(len(used))):
        raise ModelError(f"a custom joint counts its coordinates from 0, got {sorted(used)}")
    firsts = [next(m for m in motions if m.coordinate == k) for k in range(len(used))]
    return _joint_type("custom", motions, settings, _suffixes(firsts))


def _turns(order: str, first: int) -> tuple[JointAxis, ...]:
    letters = str(order).lower()
    if len(letters) != 3 or set(letters) - set("xyz"):
        raise ModelError(f"an order of turns has three of x, y, z, such as 'xyz'; got {order!r}")
    if letters[0] == letters[1] or letters[1] == letters[2]:
        raise ModelError(f"turns in a row must be about different axes, got {order!r}")
    return tuple(turn(letter, first + k) for k, letter in enumerate(letters))


def _suffixes(axes: Sequence[JointAxis]) -> tuple[str, ...]:
    """``rx``, ``tz``, ... for main axes, else ``turn`` and ``slide``; numbered when repeated."""
    made: list[str] = []
    for motion in axes:
        suffix = motion.kind
        if isinstance(motion.axis, np.ndarray):
            for letter, main in AXES.items():
                if np.array_equal(np.abs(motion.axis), main):
                    suffix = ("r" if motion.kind == "turn" else "t") + letter
        count = sum(name.rstrip("0123456789") == suffix for name in made)
        made.append(f"{suffix}{count + 1}" if count else suffix)
    return tuple(made)


def _joint_type(
    kind: str,
    axes: tuple[JointAxis, ...],
    settings: dict[str, Any],
    suffixes: tuple[str, ...] | None = None,
) -> JointType:
    suffixes = _suffixes(axes) if suffixes is None else suffixes
    names = settings.pop("names", ())
    names = (names,) if isinstance(names, str) else tuple(names)
    if names and len(names) != len(suffixes):
        raise ModelError(f"a {kind} joint has {len(suffixes)} coordinates, got names {names}")
    unknown = [key for key in settings if key not in (*COORDINATE_NUMBERS, *COORDINATE_FLAGS)]
    if unknown:
        accepted = ", ".join((*COORDINATE_NUMBERS, *COORDINATE_FLAGS, "names"))
        raise ModelError(f"a {kind} joint takes no {', '.join(unknown)}; accepted are {accepted}")
    coordinates = []
    for k, suffix in enumerate(suffixes):
        own = {key: _one_of(value, k, len(suffixes), key) for key, value in settings.items()}
        coordinates.append(Coordinate(suffix, **own))
    return JointType(kind, tuple(axes), tuple(coordinates), names)


def _one_of(value: Any, k: int, count: int, key: str) -> Any:
    if isinstance(value, (ca.SX, bool)) or np.ndim(value) == 0:
        return value
    if len(value) != count:
        raise ModelError(f"{key}: give one number or {count}, got {len(value)}")
    return value[k]
