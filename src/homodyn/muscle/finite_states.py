"""Whether positions and velocities are numbers."""

from __future__ import annotations

import numpy as np

from homodyn.errors import ModelError
from homodyn.model.model_parts import ModelParts
from homodyn.spatial import ArrayInput


def check_positions(model: ModelParts, values: ArrayInput) -> None:
    """Refuse positions that are not numbers: paths of muscles at them would not be numbers either.

    Args:
        model: The model.
        values: (..., nq). Arrays with another last extent are not checked.

    Raises:
        ModelError: A position is not finite; the message names its entry and the state.
    """
    _check(values, "q", _position_names(model))


def check_velocities(model: ModelParts, values: ArrayInput) -> None:
    """Refuse velocities that are not numbers, as `check_positions` does.

    Args:
        model: The model.
        values: (..., nv). Arrays with another last extent are not checked.

    Raises:
        ModelError: A velocity is not finite; the message names its coordinate and the state.
    """
    _check(values, "v", list(model.coordinate_names))


FINITE_STATE = {"q": check_positions, "v": check_velocities}
"""Checks of a function of positions and velocities."""


def _position_names(model: ModelParts) -> list[str]:
    """Names of the coordinates, or of the joints where a joint has more positions than these."""
    names = []
    coordinates = list(model.coordinate_names)
    for joint, slots in zip(model.joints, model.joint_slots, strict=True):
        own = coordinates[slots.v]
        count = slots.q.stop - slots.q.start
        names += own if count == len(own) else [f"joint {joint.name!r}"] * count
    return names


def _check(values: ArrayInput, symbol: str, names: list[str]) -> None:
    array = np.asarray(values, dtype=float)
    if not array.ndim or array.shape[-1] != len(names):
        return
    # One sum is quicker than a test of every number.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):
            return
    rows = array.reshape(-1, len(names))
    wrong = np.argwhere(~np.isfinite(rows))
    if not len(wrong):
        return
    state, k = wrong[0]
    index = np.unravel_index(state, array.shape[:-1])
    where = f" of state {', '.join(str(i) for i in index)}" if array.ndim > 1 else ""
    count = len(np.unique(wrong[:, 0]))
    more = f" ({count} of {len(rows)} states have such numbers)" if len(rows) > 1 else ""
    raise ModelError(
        f"{symbol}[{k}]{where} ({names[k]}) is {rows[state, k]:g}{more}; finite numbers are needed"
    )
