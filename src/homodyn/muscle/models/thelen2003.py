"""The muscle model of Thelen (2003), with the extensions of OpenSim.

Thelen D. G., "Adjustment of muscle mechanics model parameters to simulate dynamic contractions in
older adults", Journal of Biomechanical Engineering 125, 2003.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.model.muscles import Muscle
from homodyn.muscle.geometry.selects import select
from homodyn.muscle.models.bounded_fibers import BoundedFibers
from homodyn.spatial import Array

DEFAULT_SETTINGS = {
    "FmaxTendonStrain": 0.04,
    "FmaxMuscleStrain": 0.6,
    "KshapeActive": 0.45,
    "KshapePassive": 5.0,
    "Af": 0.25,
    "Flen": 1.4,
    "fv_linear_extrap_threshold": 0.95,
}
TENDON_TOE_SHAPE = 3.0
TENDON_TOE_FORCE = 0.33
"""Force of the tendon at the end of its toe, in maximal isometric forces."""


class Thelen2003(BoundedFibers):
    """The model of Thelen (2003).

    Settings of the muscle, as in ``.osim`` files: ``FmaxTendonStrain``, ``FmaxMuscleStrain``,
    ``KshapeActive``, ``KshapePassive``, ``Af``, ``Flen``, ``fv_linear_extrap_threshold``, and those
    of `BoundedFibers`.
    """

    activation_time_s = 0.015
    deactivation_time_s = 0.05

    def active_force_length(self, muscle: Muscle, norm_length: Array) -> Array:
        """A Gaussian."""
        return ca.exp(-((norm_length - 1) ** 2) / _setting(muscle, "KshapeActive"))

    def passive_force_length(self, muscle: Muscle, norm_length: Array) -> Array:
        """An exponential above the optimal length."""
        shape, strain = _setting(muscle, "KshapePassive"), _setting(muscle, "FmaxMuscleStrain")
        stretch = ca.fmax(norm_length - 1, 0.0)
        return (ca.exp(shape * stretch / strain) - 1) / (np.exp(shape) - 1)

    def force_velocity(self, muscle: Muscle, norm_speed: Array, activation: Array = 1.0) -> Array:
        """Hyperbolas that depend on activation.

        Above the part ``fv_linear_extrap_threshold`` of the largest force, a straight line.
        """
        shape, largest = _setting(muscle, "Af"), _setting(muscle, "Flen")
        fastest = 0.25 + 0.75 * activation
        shrink = ca.fmin(ca.fmax(norm_speed, -fastest), 0.0)
        shortening = (fastest + shrink) / (fastest - shrink / shape)
        curve = (2 + 2 / shape) / (largest - 1)
        stretch = ca.fmax(norm_speed, 0.0)
        lengthening = (fastest + stretch * curve * largest) / (fastest + stretch * curve)
        end = _setting(muscle, "fv_linear_extrap_threshold") * largest
        span = curve * (largest - end)
        end_speed = fastest * (end - 1) / span
        end_slope = 1 / (fastest / span + curve * fastest * (end - 1) / span**2)
        above = end + end_slope * (norm_speed - end_speed)
        rising = select(norm_speed > end_speed, above, lengthening)
        return select(norm_speed < 0, shortening, rising)

    def fiber_speed(
        self, muscle: Muscle, activation: Array, norm_length: Array, norm_force: Array
    ) -> Array:
        """Speed of the fibers at a force; straight lines beyond both ends of the hyperbolas.

        Pushing fibers shorten faster than the largest speed.
        """
        shape, largest = _setting(muscle, "Af"), _setting(muscle, "Flen")
        level = self.bounded_activation(muscle, activation)
        fastest = 0.25 + 0.75 * level
        active = norm_force - self.passive_force_length(muscle, norm_length)
        factor = active / (level * self.active_force_length(muscle, norm_length))
        curve = (2 + 2 / shape) / (largest - 1)
        end = _setting(muscle, "fv_linear_extrap_threshold") * largest
        low, high = ca.fmin(ca.fmax(factor, 0.0), 1.0), ca.fmin(ca.fmax(factor, 1.0), end)
        shortening = (low - 1) / (1 + low / shape)
        lengthening = (high - 1) / (curve * (largest - high))
        below = ca.fmin(factor, 0.0) * (1 + 1 / shape)
        span = curve * (largest - end)
        above = ca.fmax(factor - end, 0.0) * (1 / span + curve * (end - 1) / span**2)
        return fastest * (shortening + lengthening + below + above)

    def tendon_force_length(self, muscle: Muscle, norm_length: Array) -> Array:
        """An exponential toe and a straight line."""
        strain = _setting(muscle, "FmaxTendonStrain")
        growth = np.exp(TENDON_TOE_SHAPE)
        toe = 0.99 * strain * growth / (1.66 * growth - 0.67)
        stiffness = 0.67 / (strain - toe)
        stretch = norm_length - 1
        curved = ca.fmin(ca.fmax(stretch, 0.0), toe)
        exponential = (
            TENDON_TOE_FORCE / (growth - 1) * (ca.exp(TENDON_TOE_SHAPE * curved / toe) - 1)
        )
        return exponential + stiffness * ca.fmax(stretch - toe, 0.0)


def _setting(muscle: Muscle, name: str) -> float:
    return float(muscle.settings.get(name, DEFAULT_SETTINGS[name]))
