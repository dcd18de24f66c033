"""Limits that the models of Thelen and of Millard share: activation and length of fibers."""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.model.muscles import Muscle
from homodyn.muscle.geometry.selects import is_constant
from homodyn.muscle.models.activation import bounded_activation_rate, bounded_level
from homodyn.muscle.models.muscle_model import HillModel
from homodyn.spatial import Array

MINIMUM_ACTIVATION = 0.01
MAXIMUM_PENNATION_ANGLE_RAD = float(np.arccos(0.1))
"""Defaults of files that state none."""
SHORTEST_UNPENNATE_LENGTH = 0.01
"""Of fibers without pennation, in optimal fiber lengths."""


class BoundedFibers(HillModel):
    """Fibers with a lower bound of their activation and of their length.

    The length is bounded by the largest pennation angle, and by the active force-length curve in
    models where it ends. Settings of the muscle, as in ``.osim`` files: ``minimum_activation``,
    ``maximum_pennation_angle``, ``activation_time_constant`` and ``deactivation_time_constant``.
    """

    activation_time_s = 0.01
    deactivation_time_s = 0.04
    """Time constants of files that state none."""

    def shortest_norm_length(self, muscle: Muscle) -> float:
        """Length of the fibers below which the active force-length curve ends.

        Args:
            muscle: Its parameters.
        """
        return 0.0

    def minimum_activation(self, muscle: Muscle) -> float:
        """Lowest activation.

        Args:
            muscle: Its parameters.
        """
        return float(min(max(muscle.settings.get("minimum_activation", MINIMUM_ACTIVATION), 0), 1))

    def bounded_activation(self, muscle: Muscle, activation: Array) -> Array:
        """Activation between the lowest one and 1."""
        return bounded_level(activation, self.minimum_activation(muscle))

    def shortest_fiber_along(self, muscle: Muscle) -> Array:
        """Shortest length of the fibers along the tendon, m."""
        steepest = muscle.settings.get("maximum_pennation_angle", MAXIMUM_PENNATION_ANGLE_RAD)
        angle = muscle.pennation_angle
        if not (is_constant(steepest) and 0 < float(steepest) < np.pi / 2):
            raise ModelError(
                f"muscle {muscle.name!r}: its largest pennation angle must be between 0 and pi/2, "
                f"got {steepest}"
            )
        bound = self.shortest_norm_length(muscle)
        if not is_constant(angle):
            return self._shortest_of_angle(bound, angle, steepest) * muscle.optimal_fiber_length
        width = float(np.sin(float(angle)))
        if width == 0:
            return max(bound, SHORTEST_UNPENNATE_LENGTH) * muscle.optimal_fiber_length
        shortest = max(bound, width / np.sin(float(steepest)))
        return np.sqrt(shortest**2 - width**2) * muscle.optimal_fiber_length

    def _shortest_of_angle(self, bound: float, angle: Array, steepest: float) -> Array:
        """The same in optimal fiber lengths, with the angle as a symbol."""
        width = ca.sin(angle)
        shortest = ca.fmax(bound, width / np.sin(float(steepest)))
        pennate = ca.sqrt(shortest**2 - width**2)
        return ca.if_else(width == 0, max(bound, SHORTEST_UNPENNATE_LENGTH), pennate)

    def activation_rate(self, muscle: Muscle, excitation: Array, activation: Array) -> Array:
        """Rate of change of activation, 1/s; see `bounded_activation_rate`."""
        settings = muscle.settings
        return bounded_activation_rate(
            excitation,
            activation,
            activation_time=settings.get("activation_time_constant", self.activation_time_s),
            deactivation_time=settings.get("deactivation_time_constant", self.deactivation_time_s),
            minimum=self.minimum_activation(muscle),
        )
