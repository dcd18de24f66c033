"""Whether activations and excitations are numbers from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.errors import ModelError
from homodyn.model.model_parts import ModelParts
from homodyn.spatial import ArrayInput

LEVEL_TOLERANCE = 1e-6
"""Levels this far outside of 0 to 1 are rounding of optimizers and integrators."""


def check_levels(
    values: ArrayInput, names: Sequence[str], what: str, tolerance: float = 0.0
) -> None:
    """Refuse activations or excitations outside of 0 to 1 and those that are not numbers.

    Args:
        values: (..., muscles). Arrays with another last extent are not checked.
        names: Names of the muscles.
        what: ``"activation"`` or ``"excitation"``.
        tolerance: Accepted deviation from 0 to 1.

    Raises:
        ModelError: A level is out of range; the message names muscle and frame.
    """
    levels = np.asarray(values, dtype=float)
    if levels.ndim == 0 or levels.shape[-1] != len(names) or not levels.size:
        return
    if levels.min() >= -tolerance and levels.max() <= 1 + tolerance:
        return
    rows = levels.reshape(-1, len(names))
    frame, k = np.argwhere(~((rows >= -tolerance) & (rows <= 1 + tolerance)))[0]
    where = f" in frame {frame}" if levels.ndim > 1 else ""
    raise ModelError(
        f"the {what} of muscle {names[k]!r}{where} is {rows[frame, k]:g}; numbers from 0 to 1 are "
        "accepted"
    )


def check_activations(model: ModelParts, values: ArrayInput) -> None:
    """Refuse activations of the muscles of a model as `check_levels` does.

    Args:
        model: The model.
        values: (..., muscles).

    Raises:
        ModelError: An activation is out of range.
    """
    names = [muscle.name for muscle in model.muscles]
    check_levels(values, names, "activation", LEVEL_TOLERANCE)


def check_excitations(model: ModelParts, values: ArrayInput) -> None:
    """Refuse excitations of the muscles of a model as `check_levels` does.

    Args:
        model: The model.
        values: (..., muscles).

    Raises:
        ModelError: An excitation is out of range.
    """
    names = [muscle.name for muscle in model.muscles]
    check_levels(values, names, "excitation", LEVEL_TOLERANCE)
