"""The smooth muscle model of De Groote et al. (2016), with the constants of OpenSim.

De Groote F., Kinney A. L., Rao A. V., Fregly B. J., "Evaluation of direct collocation optimal
control problem formulations for solving the muscle redundancy problem", Annals of Biomedical
Engineering 44, 2016.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.model.muscles import Muscle
from homodyn.muscle.geometry.selects import is_constant
from homodyn.muscle.models.activation import TANH_STEEPNESS, activation_rate
from homodyn.muscle.models.muscle_model import FiberState, HillModel
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
TENDON_STRAIN = 0.049
ACTIVATION_TIME_S = 0.015
DEACTIVATION_TIME_S = 0.06
"""Defaults of files that state none."""
DAMPED_STEPS = 8
"""Steps after which the speed of damped fibers is exact to rounding; see the tests."""
TENDON_SCALE, TENDON_SHIFT, TENDON_OFFSET = 0.200, 1.0, 0.200
"""Constants of the exponential of the tendon."""


class DeGrooteFregly2016(HillModel):
    """The model of De Groote et al. (2016).

    Settings of the muscle, as in ``.osim`` files: ``active_force_width_scale``,
    ``passive_fiber_strain_at_one_norm_force``, ``fiber_damping``, ``ignore_passive_fiber_force``,
    ``tendon_strain_at_one_norm_force``, ``activation_time_constant``,
    ``deactivation_time_constant`` and ``activation_dynamics_smoothing``.
    """

    pushes = True

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

    def force_velocity(self, muscle: Muscle, norm_speed: Array, activation: Array = 1.0) -> Array:
        """Factor of the active force."""
        factor, slope, shift, offset = FORCE_VELOCITY
        x = slope * norm_speed + shift
        return factor * ca.log(x + ca.sqrt(x * x + 1)) + offset

    def damping(self, muscle: Muscle) -> Array:
        """Damping of the fibers."""
        return muscle.settings.get("fiber_damping", FIBER_DAMPING)

    def inverse_force_velocity(self, muscle: Muscle, factor: Array) -> Array:
        """Speed of the fibers at a factor of the active force.

        Args:
            muscle: Its parameters.
            factor: Factor of the active force.
        """
        scale, slope, shift, offset = FORCE_VELOCITY
        return (ca.sinh((factor - offset) / scale) - shift) / slope

    def fiber_speed(
        self, muscle: Muscle, activation: Array, norm_length: Array, norm_force: Array
    ) -> Array:
        """Speed of the fibers at a force; with damping, the root of an increasing function."""
        active = activation * self.active_force_length(muscle, norm_length)
        rest = norm_force - self.passive_force_length(muscle, norm_length)
        damping = self.damping(muscle)
        if is_constant(damping) and float(damping) == 0:
            return self.inverse_force_velocity(muscle, rest / active)
        # With t = asinh of the argument of the logarithm, a t + b sinh(t) = c. Both terms grow with
        # t, and the start is beyond the root, so that Newton's steps approach it from one side.
        scale, slope, shift, offset = FORCE_VELOCITY
        a, b = -active * scale, -damping / slope
        c = rest - active * offset + damping * shift / slope
        size = ca.fabs(c)
        t = ca.fmin(size / ca.fmax(a, 1e-12), ca.log(size / b + ca.sqrt((size / b) ** 2 + 1)))
        for _ in range(DAMPED_STEPS):
            t = t - (a * t + b * ca.sinh(t) - size) / (a + b * ca.cosh(t))
        return (-ca.sign(c) * ca.sinh(t) - shift) / slope

    def tendon_stiffness(self, muscle: Muscle) -> float:
        """Exponent of the tendon, such that its force is 1 at the strain of the file.

        Args:
            muscle: Its parameters.
        """
        strain = muscle.settings.get("tendon_strain_at_one_norm_force", TENDON_STRAIN)
        return float(np.log((1 + TENDON_OFFSET) / TENDON_SCALE) / (1 + strain - TENDON_SHIFT))

    def tendon_force_length(self, muscle: Muscle, norm_length: Array) -> Array:
        """An exponential; it pushes a little where the tendon is slack."""
        growth = ca.exp(self.tendon_stiffness(muscle) * (norm_length - TENDON_SHIFT))
        return TENDON_SCALE * growth - TENDON_OFFSET

    def tendon_length(self, muscle: Muscle, norm_force: Array) -> Array:
        """Length of the tendon at a force; the inverse of `tendon_force_length`.

        Args:
            muscle: Its parameters.
            norm_force: Force of the tendon.
        """
        growth = ca.log((norm_force + TENDON_OFFSET) / TENDON_SCALE)
        return growth / self.tendon_stiffness(muscle) + TENDON_SHIFT

    def activation_rate(self, muscle: Muscle, excitation: Array, activation: Array) -> Array:
        """Rate of change of activation, 1/s; see the function of this name."""
        settings = muscle.settings
        return activation_rate(
            excitation,
            activation,
            activation_time=settings.get("activation_time_constant", ACTIVATION_TIME_S),
            deactivation_time=settings.get("deactivation_time_constant", DEACTIVATION_TIME_S),
            steepness=settings.get("activation_dynamics_smoothing", TANH_STEEPNESS),
        )

    def implicit_residual(
        self,
        muscle: Muscle,
        state: tuple[Array, Array],
        norm_force_rate: Array,
        length: Array,
        speed: Array,
    ) -> Array:
        """Residual of the dynamics of the tendon force, without a division by activation.

        It is zero where the tendon pulls as its fibers do, and smooth everywhere, so that optimal
        control can have the rate of the tendon force as a control (De Groote et al. 2016).

        Args:
            muscle: Its parameters.
            state: Activation, and force of the tendon in maximal isometric forces.
            norm_force_rate: Rate of change of that force, 1/s.
            length: Length of the path, m.
            speed: Rate of change of the length, m/s.

        Returns:
            Force of the fibers along the tendon minus that of the tendon, in maximal isometric
            forces.
        """
        activation, norm_force = state
        slack = muscle.tendon_slack_length
        stiffness = self.tendon_stiffness(muscle) * (norm_force + TENDON_OFFSET)
        along = length - slack * self.tendon_length(muscle, norm_force)
        fiber = FiberState.of(muscle, along, speed - slack * norm_force_rate / stiffness)
        return self.fiber_force(muscle, activation, fiber).total * fiber.cosine - norm_force
