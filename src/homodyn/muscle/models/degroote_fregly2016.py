"""The smooth muscle model of De Groote et al. (2016), with the constants of OpenSim.

De Groote F., Kinney A. L., Rao A. V., Fregly B. J., "Evaluation of direct collocation optimal
control problem formulations for solving the muscle redundancy problem", Annals of Biomedical
Engineering 44, 2016.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.model.muscles import Muscle
from homodyn.muscle.models.muscle_model import RigidTendon
from homodyn.spatial import Array

FORCE_LENGTH_BELLS = (
    (0.8150671134243542, 1.055033428970575, 0.162384573599574, 0.063303448465465),
    (0.433004984392647, 0.716775413397760, -0.029947116970696, 0.200356847296188),
    (0.1, 1.0, 0.5 * np.sqrt(0.5), 0.0),
)
"""Height, center, width and its growth with the fiber length of each bell."""
FORCE_VELOCITY = (-0.3211346127989808, -8.149, -0.374, 0.8825327733249912)
PASSIVE_SHAPE = 4.0
SHORTEST_NORM_LENGTH = 0.2
"""Fiber length at which the passive force is zero."""
PASSIVE_STRAIN = 0.6
FIBER_DAMPING = 0.0
"""Defaults of files that state none."""


class DeGrooteFregly2016(RigidTendon):
    """The model of De Groote et al. (2016) with a rigid tendon.

    Settings of the muscle, as in ``.osim`` files: ``active_force_width_scale``,
    ``passive_fiber_strain_at_one_norm_force``, ``fiber_damping`` and
    ``ignore_passive_fiber_force``.
    """

    def active_force_length(self, muscle: Muscle, norm_length: Array) -> Array:
        """Sum of three bells, in maximal isometric forces."""
        scale = muscle.settings.get("active_force_width_scale", 1.0)
        x = (norm_length - 1) / scale + 1
        total: Array = 0.0
        for height, center, width, growth in FORCE_LENGTH_BELLS:
            total = total + height * ca.exp(-0.5 * ((x - center) / (width + growth * x)) ** 2)
        return total

    def passive_force_length(self, muscle: Muscle, norm_length: Array) -> Array:
        """Exponential curve, in maximal isometric forces."""
        if muscle.settings.get("ignore_passive_fiber_force", False):
            return 0.0 * norm_length
        strain = muscle.settings.get("passive_fiber_strain_at_one_norm_force", PASSIVE_STRAIN)
        offset = np.exp(PASSIVE_SHAPE * (SHORTEST_NORM_LENGTH - 1) / strain)
        grown = ca.exp(PASSIVE_SHAPE * (norm_length - 1) / strain)
        return (grown - offset) / (np.exp(PASSIVE_SHAPE) - offset)

    def force_velocity(self, muscle: Muscle, norm_speed: Array) -> Array:
        """Factor of the active force."""
        factor, slope, shift, offset = FORCE_VELOCITY
        x = slope * norm_speed + shift
        return factor * ca.log(x + ca.sqrt(x * x + 1)) + offset

    def damping(self, muscle: Muscle) -> Array:
        """Damping of the fibers."""
        return muscle.settings.get("fiber_damping", FIBER_DAMPING)
