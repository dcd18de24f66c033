"""Coordinates of OpenSim files that Homodyn writes: those of the model, angles for quaternions."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from homodyn.model.functions import Linear
from homodyn.model.model_parts import ModelParts


def osim_coordinates(model: ModelParts, q: np.ndarray) -> np.ndarray:
    """Positions as the coordinates of the OpenSim file of a model, in the order of ``v``.

    The quaternion of a joint becomes body-fixed x, y, z angles, continuous from row to row.

    Args:
        model: The model.
        q: Positions, (rows, nq).

    Returns:
        (rows, nv), rad and m.
    """
    q = np.asarray(q, dtype=float)
    values = np.zeros((len(q), model.nv))
    for joint, place in zip(model.joints, model.joint_slots, strict=True):
        if not joint.quaternion:
            values[:, place.v] = q[:, place.q]
            continue
        slides = joint.nv - 3
        start = place.q.start + slides
        w, x, y, z = q[:, start : start + 4].T
        angles = Rotation.from_quat(np.column_stack([x, y, z, w])).as_euler("XYZ")
        values[:, place.v.start : place.v.start + slides] = q[:, place.q.start : start]
        values[:, place.v.start + slides : place.v.stop] = _continuous(angles)
    return values


def can_be_in_degrees(model: ModelParts) -> bool:
    """Whether OpenSim converts all angles of a model from degrees.

    It converts coordinates that are the angle of an axis. Where a coordinate only turns axes by
    other functions of it, OpenSim takes its values as they are, so a file must be in radians.

    Args:
        model: The model.
    """
    following = {coupler.coordinate for coupler in model.couplers}
    for joint in model.joints:
        for k, coordinate in enumerate(joint.coordinates):
            turns = [a for a in joint.axes if a.kind == "turn" and a.coordinate == k]
            same = [
                isinstance(a.function, Linear)
                and abs(a.function.factor) == 1
                and a.function.offset == 0
                for a in turns
            ]
            if turns and not any(same) and coordinate.name not in following:
                return False
    return True


def _continuous(angles: np.ndarray) -> np.ndarray:
    """Body-fixed angles (rows, 3) without jumps: of the equal triples the one nearest the last."""
    result = angles.copy()
    for k in range(1, len(result)):
        last, (x, y, z) = result[k - 1], angles[k]
        triples = np.array([[x, y, z], [x + np.pi, np.pi - y, z + np.pi]])
        triples += 2 * np.pi * np.round((last - triples) / (2 * np.pi))
        result[k] = triples[np.argmin(np.abs(triples - last).sum(axis=1))]
    return result
