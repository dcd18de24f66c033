"""Conversion between the coordinates of the models and those of HuMAnS.

HuMAnS lists joints first and the root last. Its y is up and its z to the right, so two coordinates
of the root have the opposite sign.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homodyn.catalog.bip import humans_order as bip_order
from homodyn.catalog.human36 import humans_order as human36_order
from homodyn.catalog.khr1 import humans_order as khr1_order
from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.spatial import Array

_ORDERS: dict[str, Callable[[], tuple[str, ...]]] = {
    "human36": human36_order,
    "khr1": khr1_order,
    "bip": bip_order,
}


def from_humans(model: Model, values: Array) -> Array:
    """Convert positions, velocities or torques from the order and axes of HuMAnS to the model's.

    Args:
        model: A `human36`, `khr1` or `bip`.
        values: Values in the order of HuMAnS (q1 first), shape (..., nv).

    Returns:
        The values in the order of the model's coordinates, shape (..., nv), in the same units.

    Raises:
        ModelError: The model is not one of HuMAnS.
    """
    index, sign = _places(model)
    values = np.asarray(values, dtype=float)
    result = np.empty(values.shape)
    result[..., index] = values * sign
    return result


def to_humans(model: Model, values: Array) -> Array:
    """Convert positions, velocities or torques from the model's order and axes to those of HuMAnS.

    Args:
        model: A `human36`, `khr1` or `bip`.
        values: Values in the order of the model's coordinates, shape (..., nv).

    Returns:
        The values in the order of HuMAnS (q1 first), shape (..., nv), in the same units.

    Raises:
        ModelError: The model is not one of HuMAnS.
    """
    index, sign = _places(model)
    return np.asarray(values, dtype=float)[..., index] * sign


def _places(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """For q1, q2, ... the index in the model and the sign."""
    if model.name not in _ORDERS:
        raise ModelError(f"HuMAnS has {unknown_name('body', model.name, _ORDERS)}")
    order = _ORDERS[model.name]()
    index = [model.coordinate_index(name.removeprefix("-")) for name in order]
    sign = [-1.0 if name.startswith("-") else 1.0 for name in order]
    return np.array(index), np.array(sign)
