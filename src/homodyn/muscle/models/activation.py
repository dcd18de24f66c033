"""Activation dynamics: how activation follows excitation."""

from __future__ import annotations

import casadi as ca

from homodyn.muscle.geometry.selects import select
from homodyn.spatial import Array

TANH_STEEPNESS = 0.1
"""Steepness of the change between activation and deactivation."""


def activation_rate(
    excitation: Array,
    activation: Array,
    *,
    activation_time: float = 0.015,
    deactivation_time: float = 0.06,
    steepness: float = TANH_STEEPNESS,
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
        steepness: Factor of the argument of the hyperbolic tangent.

    Returns:
        1/s.
    """
    level = 0.5 + 1.5 * activation
    blend = 0.5 * ca.tanh(steepness * (excitation - activation))
    rate = (blend + 0.5) / (activation_time * level) + (0.5 - blend) * level / deactivation_time
    return rate * (excitation - activation)


def bounded_level(level: Array, minimum: float) -> Array:
    """A level within a minimum and 1; what is not a number stays so.

    Args:
        level: Activation or excitation.
        minimum: Lowest level.
    """
    # Not fmin and fmax, which would turn NaN into a bound.
    return select(level > 1.0, 1.0, select(level < minimum, minimum, level))


def bounded_activation_rate(
    excitation: Array,
    activation: Array,
    *,
    activation_time: float = 0.01,
    deactivation_time: float = 0.04,
    minimum: float = 0.01,
) -> Array:
    """Rate of change of activation with a lower bound (Thelen 2003, Millard et al. 2013).

    A first-order lag from activation to excitation, both limited to ``minimum`` to 1, with the time
    constant ``activation_time * (0.5 + 1.5 a)`` if the excitation is larger, else
    ``deactivation_time / (0.5 + 1.5 a)``.

    Args:
        excitation: Any number.
        activation: Any number.
        activation_time: Time constant of activation, s.
        deactivation_time: Time constant of deactivation, s.
        minimum: Lowest activation.

    Returns:
        1/s.
    """
    target, present = bounded_level(excitation, minimum), bounded_level(activation, minimum)
    level = 0.5 + 1.5 * present
    rate = select(target > present, 1 / (activation_time * level), level / deactivation_time)
    return rate * (target - present)
