"""Joint types as data: axes and coordinates of a joint without name, parent and child."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypedDict

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.model.joint import (
    AXES,
    COORDINATE_FLAGS,
    COORDINATE_NUMBERS,
    Coordinate,
    Joint,
    JointAxis,
)
from homodyn.model.parameters import ModelRecord, placement, vector
from homodyn.spatial import Array, Transform

Numbers = Any
"""One number or expression for all coordinates, or a sequence with one per coordinate."""


class CoordinateSettings(TypedDict, total=False):
    """Keywords of all joint types: the fields of `Coordinate`, and names.

    Each is one value for all coordinates of the joint, or a sequence with one per coordinate.
    """

    names: str | Sequence[str]
    """Full names of the coordinates."""
    lower: Numbers
    upper: Numbers
    default: Numbers
    max_velocity: Numbers
    max_force: Numbers
    stiffness: Numbers
    rest: Numbers
    damping: Numbers
    friction: Numbers
    armature: Numbers
    locked: bool | Sequence[bool]
    actuated: bool | Sequence[bool]


Axis = Any
"""``"x"``, ``"-y"``, ... or three numbers that are not all zero."""


@record
class JointType(ModelRecord):
    """What a joint allows: its axes and its coordinates."""

    kind: str
    axes: tuple[JointAxis, ...]
    coordinates: tuple[Coordinate, ...]
    """Named by suffixes, such as ``"rx"``."""
    names: tuple[str, ...] = ()
    """Full names of the coordinates; empty: the name of the joint with the suffixes."""

    def joint(
        self,
        name: str,
        parent: str,
        child: str,
        *,
        at: Transform | Array = (0.0, 0.0, 0.0),
        child_at: Transform | Array = (0.0, 0.0, 0.0),
    ) -> Joint:
        """The joint of this type between two bodies.

        Args:
            name: Name of the joint.
            parent: Name of the parent body, or ``"world"``.
            child: Name of the child body.
            at: Joint frame in the parent: a `Transform` or a position (m).
            child_at: Joint frame in the child: a `Transform` or a position (m).

        Returns:
            The joint.
        """
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
    """An axis as a unit vector, (3,).

    Raises:
        ModelError: The axis is neither a letter with a sign nor a nonzero vector.
    """
    if isinstance(axis, str):
        if axis.lstrip("-") not in AXES or len(axis) > 2:
            raise ModelError(f"no axis {axis!r}; accepted: x, y, z, -x, -y, -z or three numbers")
        sign = -1.0 if axis.startswith("-") else 1.0
        return vector(sign * np.array(AXES[axis[-1]]), 3)
    try:
        direction = vector(axis, 3)
    except (TypeError, ValueError):
        raise ModelError(f"an axis is x, y, z, -x, -y, -z or three numbers, got {axis!r}") from None
    if isinstance(direction, ca.SX):
        return direction / ca.norm_2(direction)
    length = float(np.linalg.norm(direction))
    if not (np.isfinite(length) and length > 0):
        raise ModelError(f"an axis must not be zero, got {axis!r}")
    # An axis that is already a unit vector to rounding keeps its bits.
    return direction if abs(length - 1) < 4e-16 else vector(direction / length, 3)


def axis_suffixes(axes: Sequence[JointAxis]) -> tuple[str, ...]:
    """``rx``, ``tz``, ... for main axes, else ``turn`` and ``slide``; numbered if repeated."""
    suffixes: list[str] = []
    for axis in axes:
        suffix = axis.kind
        if isinstance(axis.axis, np.ndarray):
            for letter, main in AXES.items():
                if np.array_equal(np.abs(axis.axis), main):
                    suffix = ("r" if axis.kind == "turn" else "t") + letter
        count = sum(name.rstrip("0123456789") == suffix for name in suffixes)
        suffixes.append(f"{suffix}{count + 1}" if count else suffix)
    return tuple(suffixes)


def make_joint_type(
    kind: str,
    axes: tuple[JointAxis, ...],
    settings: CoordinateSettings,
    suffixes: tuple[str, ...] | None = None,
) -> JointType:
    """A joint type from its axes and the keywords of a call.

    Args:
        kind: Kind of the joint, for messages.
        axes: Its axes.
        settings: Numbers and names of its coordinates.
        suffixes: Suffixes of the coordinate names; those of the axes by default.

    Returns:
        The joint type.

    Raises:
        ModelError: A keyword is unknown, or has the wrong number of values.
    """
    suffixes = axis_suffixes(axes) if suffixes is None else suffixes
    numbers: dict[str, Any] = {**settings}
    names = numbers.pop("names", ())
    names = (names,) if isinstance(names, str) else tuple(names)
    if names and len(names) != len(suffixes):
        raise ModelError(f"a {kind} joint has {len(suffixes)} coordinates, got names {names}")
    unknown = [key for key in numbers if key not in (*COORDINATE_NUMBERS, *COORDINATE_FLAGS)]
    if unknown:
        accepted = ", ".join((*COORDINATE_NUMBERS, *COORDINATE_FLAGS, "names"))
        raise ModelError(f"a {kind} joint takes no {', '.join(unknown)}; accepted: {accepted}")
    coordinates = []
    for k, suffix in enumerate(suffixes):
        own = {key: _value_at(value, k, len(suffixes), key) for key, value in numbers.items()}
        coordinates.append(Coordinate(suffix, **own))
    return JointType(kind, tuple(axes), tuple(coordinates), names)


def _value_at(value: Any, k: int, count: int, key: str) -> Any:
    if isinstance(value, (ca.SX, bool)) or np.ndim(value) == 0:
        return value
    if len(value) != count:
        raise ModelError(f"{key}: one number or {count} are needed, got {len(value)}")
    return value[k]
