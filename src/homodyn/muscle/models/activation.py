"""Activation dynamics: how activation follows excitation."""

from __future__ import annotations

import casadi as ca

from homodyn.spatial import Array

TANH_STEEPNESS = 0.1
"""Steepness of the change between activation and deactivation."""


def activation_rate(
    excitation: Array,
    activation: Array,
    *,
    activation_time: float = 0.015,
    deactivation_time: float = 0.06,
) -> Array:
    """Rate of change of activation, smooth in both arguments.

    The model of De Groote et al. (2016): a first-order lag with the time constant
    ``activation_time * (0.5 + 1.5 a)`` towards more, and ``deactivation_time / (0.5 + 1.5 a)``
    towards less activation, blended by a hyperbolic tangent.

    Args:
        excitation: 0 to 1.
        activation: 0 to 1.
        activation_time: Time constant of activation, s.
        deactivation_time: Time constant of deactivation, s.

    Returns:
        1/s.
    """
    level = 0.5 + 1.5 * activation
    blend = 0.5 * ca.tanh(TANH_STEEPNESS * (excitation - activation))
    rate = (blend + 0.5) / (activation_time * level) + (0.5 - blend) * level / deactivation_time
    return rate * (excitation - activation)
