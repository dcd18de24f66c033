"""Columns of positions: names and units of the entries of q."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.model import Model

QUATERNION_SUFFIXES = ("qw", "qx", "qy", "qz")
"""Suffixes of the columns of a quaternion."""


@record(eq=True)
class PositionColumn(Record):
    """One entry of q."""

    name: str
    """The coordinate, or ``<joint>_qw`` to ``<joint>_qz`` for a quaternion."""
    q: int
    """Index in q."""
    v: int | None
    """Index of its rate in v; None for quaternions."""
    unit: str
    """``"rad"``, ``"m"``, or empty for quaternions."""


@lru_cache(maxsize=64)
def position_columns(model: Model) -> tuple[PositionColumn, ...]:
    """The entries of q in order, with names and units.

    Args:
        model: The model.

    Returns:
        ``model.nq`` columns.
    """
    following = {coupler.coordinate for coupler in model.couplers}
    angular = angular_coordinates(model)
    found: list[PositionColumn] = []
    for joint, place in zip(model.joints, model.joint_slots, strict=True):
        own = [c.name for c in joint.coordinates if c.name not in following]
        if joint.quaternion:
            slides = own[:-3]
            for k, name in enumerate(slides):
                found.append(PositionColumn(name, place.q.start + k, place.v.start + k, "m"))
            first = place.q.start + len(slides)
            for k, suffix in enumerate(QUATERNION_SUFFIXES):
                found.append(PositionColumn(f"{joint.name}_{suffix}", first + k, None, ""))
            continue
        for k, name in enumerate(own):
            entry = place.v.start + k
            unit = "rad" if angular[entry] else "m"
            found.append(PositionColumn(name, place.q.start + k, entry, unit))
    return tuple(found)


def angular_coordinates(model: Model) -> np.ndarray:
    """(nv,): True for coordinates that are angles (rad), False for lengths (m)."""
    found: list[bool] = []
    for joint, place in zip(model.joints, model.joint_slots, strict=True):
        if joint.quaternion:
            found += [False] * (place.v.stop - place.v.start - 3) + [True] * 3
            continue
        turned = {
            joint.coordinates[motion.coordinate].name
            for motion in joint.axes
            if motion.coordinate is not None and motion.kind == "turn"
        }
        own = [c.name for c in joint.coordinates if c.name in model.coordinate_names]
        found += [name in turned for name in own]
    return np.array(found, dtype=bool)
