"""Full revolutions of hinges without limits, which no marker shows."""

from __future__ import annotations

import numpy as np

from homodyn.model import Model

TURN_RAD = 2 * np.pi


def unlimited_hinges(model: Model, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Entries of v of the hinges whose pose repeats after a full revolution.

    Hinges that drive other coordinates, slide as they turn or turn by a function of their
    coordinate are not among them.

    Args:
        model: The model.
        lower: (nv,): lower limits that apply.
        upper: (nv,): upper limits that apply.

    Returns:
        The entries, in ascending order.
    """
    sources = {coupler.of for coupler in model.couplers}
    entries = []
    for joint in model.joints:
        for k, coordinate in enumerate(joint.coordinates):
            axes = [axis for axis in joint.axes if axis.coordinate == k]
            if joint.quaternion or coordinate.name not in model.coordinate_names:
                continue
            if len(axes) != 1 or not axes[0].is_coordinate or axes[0].kind != "turn":
                continue
            entry = model.coordinate_index(coordinate.name)
            unlimited = np.isinf(lower[entry]) and np.isinf(upper[entry])
            if axes[0].pitch == 0 and coordinate.name not in sources and unlimited:
                entries.append(entry)
    return np.array(sorted(entries), dtype=int)


def unwind_poses(model: Model, q: np.ndarray, hinges: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Poses with full revolutions removed from hinges, each by itself.

    Args:
        model: The model.
        q: (poses, nq).
        hinges: Entries of v of the hinges.
        near: (nq,): the pose from which a hinge is at most half a turn away.

    Returns:
        (poses, nq).
    """
    result = q.copy()
    index = _positions(model, hinges)
    result[:, index] -= TURN_RAD * np.round((result[:, index] - near[index]) / TURN_RAD)
    return result


def unwind_trajectory(
    model: Model, q: np.ndarray, hinges: np.ndarray, near: np.ndarray
) -> np.ndarray:
    """A trajectory without jumps of full revolutions, and as a whole near a pose.

    Args:
        model: The model.
        q: (frames, nq).
        hinges: Entries of v of the hinges.
        near: (nq,): the pose from which the median of a hinge is at most half a turn away.

    Returns:
        (frames, nq); the markers are where they were.
    """
    result = q.copy()
    for index in _positions(model, hinges):
        path = np.unwrap(result[:, index])
        turns = np.round((np.median(path) - near[index]) / TURN_RAD)
        result[:, index] = path - TURN_RAD * turns
    return result


def _positions(model: Model, hinges: np.ndarray) -> list[int]:
    """Entries of q of hinges."""
    found = (model.position_index[entry] for entry in hinges.tolist())
    return [index for index in found if index is not None]
