"""Largest rates, accelerations or torques, given for all or by coordinate."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model


def bounds_by_coordinate(
    model: Model,
    given: float | Mapping[str, float] | np.ndarray | None,
    default: np.ndarray,
    what: str,
) -> np.ndarray:
    """One bound (nv,) per coordinate; infinite where nothing is stated.

    Args:
        model: The model.
        given: One number for the actuated coordinates, (nv,), values by coordinate with ``"*"`` for
            the other actuated ones, or None.
        default: (nv,), used for None.
        what: Limit and field, for the message.

    Returns:
        (nv,).

    Raises:
        ModelError: A bound is negative or no number, or a name is unknown.
    """
    bounds = np.full(model.nv, np.inf)
    actuated = list(model.actuated)
    if given is None:
        bounds = np.array(default, dtype=float)
    elif isinstance(given, Mapping):
        bounds[actuated] = given.get("*", np.inf)
        for name, value in given.items():
            if name == "*":
                continue
            if name not in model.coordinate_names:
                raise ModelError(
                    f"{what}: {unknown_name('coordinate', name, model.coordinate_names)}"
                )
            bounds[model.coordinate_index(name)] = value
    elif np.ndim(given) == 0:
        bounds[actuated] = given
    else:
        bounds = np.array(given, dtype=float)
        if bounds.shape != (model.nv,):
            raise ModelError(f"{what} is one number or {model.nv}, got shape {bounds.shape}")
    if not (bounds >= 0).all():
        raise ModelError(f"{what} is a number from 0 up, got {given!r}")
    return bounds
