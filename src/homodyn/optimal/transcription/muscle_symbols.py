"""Variables of muscles beside those of the skeleton: where they are, and how they are combined.

Activations and tendon forces are variables wherever velocities are, excitations and rates of
tendon forces wherever torques are. A transcription therefore need not list them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import casadi as ca
import numpy as np

from homodyn.optimal.statement.muscle_drive import (
    ACTIVATION,
    EXCITATION,
    MUSCLE_CONTROLS,
    MUSCLE_STATES,
    TENDON_FORCE,
    TENDON_FORCE_RATE,
)
from homodyn.optimal.statement.muscle_point import MusclePoint, MuscleVariables
from homodyn.spatial import Array

INTERIOR_SUFFIX = " inside"
"""Suffix of the names of states that are variables between nodes, too."""

FOLLOWERS = {
    "v": MUSCLE_STATES,
    f"v{INTERIOR_SUFFIX}": tuple(f"{name}{INTERIOR_SUFFIX}" for name in MUSCLE_STATES),
    "tau": MUSCLE_CONTROLS,
}
"""Variables of muscles by the variable of the skeleton that they accompany."""


def order_with_muscles(
    order: Iterable[tuple[str, np.ndarray]],
) -> list[tuple[str, np.ndarray]]:
    """The order of the decision variables with those of muscles.

    Args:
        order: Quantities and fractions of a phase, as of `Transcription.variable_order`.

    Returns:
        The same with the variables of muscles after those that they accompany.
    """
    full = []
    for quantity, at in order:
        full.append((quantity, at))
        full += [(name, at) for name in FOLLOWERS.get(quantity, ())]
    return full


def window_with_muscles(
    window: Mapping[str, Sequence[int]], known: Iterable[str]
) -> dict[str, Sequence[int]]:
    """A window with the entries of muscles.

    Args:
        window: Entries by quantity, as of `Transcription.window`.
        known: Quantities that the phase has.

    Returns:
        The same with the quantities of muscles that the phase has.
    """
    known = set(known)
    full: dict[str, Sequence[int]] = {}
    for quantity, entries in window.items():
        full[quantity] = entries
        full |= {name: entries for name in FOLLOWERS.get(quantity, ()) if name in known}
    return full


def muscle_variables(
    symbols: Mapping[str, Sequence[ca.SX]],
    states: Sequence[float],
    controls: Sequence[float],
    suffix: str = "",
) -> MuscleVariables | None:
    """Weighted sums of the symbols of muscles in a window.

    Args:
        symbols: Symbols by quantity.
        states: Weights of the states, from the first on.
        controls: Weights of the controls, from the first on.
        suffix: Suffix of the names of the states.

    Returns:
        The variables; None without muscles.
    """
    if EXCITATION not in symbols:
        return None
    return MuscleVariables(
        _weighted_sum(symbols[f"{ACTIVATION}{suffix}"], states),
        _weighted_sum(symbols[f"{TENDON_FORCE}{suffix}"], states),
        _weighted_sum(symbols[EXCITATION], controls),
        _weighted_sum(symbols[TENDON_FORCE_RATE], controls),
    )


def muscle_rows(muscles: MusclePoint | None) -> list[tuple[str, ca.SX]]:
    """Residuals of the equilibrium of fibers and compliant tendons at a time point."""
    if muscles is None or not muscles.tendon_residual.shape[0]:
        return []
    return [("tendon equilibrium", muscles.tendon_residual)]


def state_rates(muscles: MusclePoint | None) -> list[tuple[str, Array]]:
    """States of muscles by name, with their rates (1/s) at a time point."""
    if muscles is None:
        return []
    rates = (
        (ACTIVATION, muscles.activation_rate),
        (TENDON_FORCE, muscles.variables.tendon_force_rate),
    )
    return [(name, rate) for name, rate in rates if rate.shape[0]]


def _weighted_sum(parts: Sequence[ca.SX], weights: Sequence[float]) -> ca.SX:
    """A weighted sum; a single part with the weight one is returned unchanged."""
    used = [(w, parts[k]) for k, w in enumerate(weights) if w]
    if len(used) == 1 and used[0][0] == 1:
        return used[0][1]
    return sum((w * part for w, part in used), ca.SX.zeros(parts[0].shape[0]))
