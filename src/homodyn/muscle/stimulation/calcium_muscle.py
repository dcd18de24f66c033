"""The calcium muscle of HuMAnS: a contractile element with two states behind a spring.

HuMAnS (INRIA, User Documentation of 23 October 2006), sections 1.2.3 and 1.2.4. The contractile
element has the stiffness k_c and the force F_c; a linear spring k_s is in series, an exponential
spring in parallel. With the command u, the recruitment rate alpha, the strain eps of the muscle and
the strain eps_c of the contractile element::

    k_c' = -(|u| + |eps_c'|) k_c + alpha k_0(eps) u+
    F_c' = -(|u| + |eps_c'|) F_c + alpha F_0(eps) u+ + k_c L_c0 eps_c'
    F_c' = k_s (L_0 eps' - L_c0 eps_c')

where u+ is u where it is positive, else 0.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from homodyn.errors import ModelError
from homodyn.model.muscles import Muscle
from homodyn.muscle.geometry.selects import select
from homodyn.muscle.models.muscle_model import MuscleModel
from homodyn.spatial import Array

CALCIUM_KIND = "CalciumMuscle"
"""Kind of muscles with this law."""
LARGEST_STRAIN = 0.4
"""Beyond it fibers produce no force. The document prints a range of 1.6 to 2.4, which looks like
lengths of sarcomeres in micrometers and contradicts the strain of its formula."""
DEFAULT_SETTINGS = {
    "contractile_stiffness": 1e4,
    "series_stiffness": 1e4,
    "parallel_stiffness": 0.0,
    "parallel_exponent": 1.0,
}
"""Settings of muscles that state none: k_m, k_s, k_p (N/m) and k_ep."""


class Stimulus(NamedTuple):
    """What acts on a muscle."""

    level: Array
    """u, 1/s."""
    recruitment: Array
    """alpha, 0 to 1."""


class CalciumState(NamedTuple):
    """States of the contractile element."""

    stiffness: Array
    """k_c, N/m."""
    force: Array
    """F_c, N."""


class ContractileRates(NamedTuple):
    """Rates of the states, and of the strain of the contractile element."""

    stiffness: Array
    """N/(m s)."""
    force: Array
    """N/s."""
    strain: Array
    """1/s."""


class CalciumMuscle(MuscleModel):
    """The calcium muscle of HuMAnS.

    Of the parameters of a muscle, ``max_isometric_force`` is F_m, ``optimal_fiber_length`` is
    L_c0, and the rest length L_0 is the sum of ``optimal_fiber_length`` and
    ``tendon_slack_length``. Settings are those of `DEFAULT_SETTINGS`.
    """

    state_names = ("contractile stiffness", "contractile force")

    def rest_length(self, muscle: Muscle) -> Array:
        """L_0: length of the muscle without strain, m.

        Args:
            muscle: Its parameters.
        """
        return muscle.optimal_fiber_length + muscle.tendon_slack_length

    def strain(self, muscle: Muscle, length: Array) -> Array:
        """Strain of the muscle.

        Args:
            muscle: Its parameters.
            length: Length of the path, m.
        """
        return length / self.rest_length(muscle) - 1

    def length_factor(self, strain: Array) -> Array:
        """Parabola of the force-length relation, 1 at rest length.

        Args:
            strain: Of the muscle.
        """
        return ca.fmax(1 - (strain / LARGEST_STRAIN) ** 2, 0.0)

    def parallel_force(self, muscle: Muscle, strain: Array) -> Array:
        """Force of the parallel spring, N.

        Args:
            muscle: Its parameters.
            strain: Of the muscle.
        """
        stiffness, exponent = _setting(muscle, "parallel_stiffness"), self._exponent(muscle)
        return stiffness / exponent * (ca.exp(exponent * strain) - 1)

    def parallel_energy(self, muscle: Muscle, strain: Array) -> Array:
        """Energy that the parallel spring stores, J.

        Args:
            muscle: Its parameters.
            strain: Of the muscle.
        """
        stiffness, exponent = _setting(muscle, "parallel_stiffness"), self._exponent(muscle)
        area = (ca.exp(exponent * strain) - 1) / exponent - strain
        return stiffness / exponent * area * self.rest_length(muscle)

    def series_energy(self, muscle: Muscle, force: Array) -> Array:
        """Energy that the series spring stores, J.

        Args:
            muscle: Its parameters.
            force: F_c, N.
        """
        return 0.5 * force**2 / _setting(muscle, "series_stiffness")

    def total_force(self, muscle: Muscle, state: CalciumState, length: Array) -> Array:
        """Force of the muscle: contractile element and parallel spring, N.

        Args:
            muscle: Its parameters.
            state: k_c and F_c.
            length: Length of the path, m.
        """
        return state.force + self.parallel_force(muscle, self.strain(muscle, length))

    def uniqueness_margin(self, muscle: Muscle, state: CalciumState) -> Array:
        """k_s L_c0 + k_c L_c0 - F_c, N: the rates have one solution where it is positive.

        Args:
            muscle: Its parameters.
            state: k_c and F_c.
        """
        stiffness = _setting(muscle, "series_stiffness") + state.stiffness
        return stiffness * muscle.optimal_fiber_length - state.force

    def switching_function(
        self, muscle: Muscle, state: CalciumState, stimulus: Stimulus, length: Array, speed: Array
    ) -> Array:
        """k_s L_0 eps' + F_c |u| - alpha F_0 u+, N/s; its sign S is that of eps_c'.

        Args:
            muscle: Its parameters.
            state: k_c and F_c.
            stimulus: Command and recruitment.
            length: Length of the path, m.
            speed: Rate of change of the length, m/s.

        Returns:
            N/s.
        """
        drive = ca.fmax(stimulus.level, 0.0) * stimulus.recruitment
        isometric = muscle.max_isometric_force * self.length_factor(self.strain(muscle, length))
        return (
            _setting(muscle, "series_stiffness") * speed
            + state.force * ca.fabs(stimulus.level)
            - drive * isometric
        )

    def rates(
        self, muscle: Muscle, state: CalciumState, stimulus: Stimulus, length: Array, speed: Array
    ) -> ContractileRates:
        """Rates of the states; see the module.

        Both equations of F_c' meet in one point if `uniqueness_margin` is positive. There
        eps_c' is the switching function over ``k_s L_c0 + k_c L_c0 - S F_c``, in which S is the
        sign of the switching function.

        Args:
            muscle: Its parameters.
            state: k_c and F_c.
            stimulus: Command and recruitment.
            length: Length of the path, m.
            speed: Rate of change of the length, m/s.

        Returns:
            Rates; infinite where they have no unique solution.
        """
        series, rest = _setting(muscle, "series_stiffness"), muscle.optimal_fiber_length
        switch = self.switching_function(muscle, state, stimulus, length, speed)
        stretch = (series + state.stiffness) * rest
        divisor = stretch - select(switch >= 0, state.force, -state.force)
        unique = select(self.uniqueness_margin(muscle, state) > 0, divisor, 0.0 * divisor)
        strain_rate = switch / unique
        decay = ca.fabs(stimulus.level) + ca.fabs(strain_rate)
        drive = ca.fmax(stimulus.level, 0.0) * stimulus.recruitment
        stiffness = _setting(muscle, "contractile_stiffness")
        isometric = stiffness * self.length_factor(self.strain(muscle, length))
        return ContractileRates(
            -decay * state.stiffness + drive * isometric,
            series * (speed - rest * strain_rate),
            strain_rate,
        )

    def tendon_force(self, muscle: Muscle, activation: Array, length: Array, speed: Array) -> Array:
        """Force that a constant stimulation reaches at a constant length, N.

        Args:
            muscle: Its parameters.
            activation: Recruitment rate, 0 to 1.
            length: Length of the path, m.
            speed: Not used: the force at a speed depends on the states.
        """
        strain = self.strain(muscle, length)
        active = activation * muscle.max_isometric_force * self.length_factor(strain)
        return active + self.parallel_force(muscle, strain)

    def _exponent(self, muscle: Muscle) -> float:
        exponent = _setting(muscle, "parallel_exponent")
        if not exponent > 0:
            raise ModelError(
                f"muscle {muscle.name!r}: parallel_exponent must be positive, got {exponent:g}"
            )
        return exponent


def _setting(muscle: Muscle, name: str) -> float:
    return float(muscle.settings.get(name, DEFAULT_SETTINGS[name]))
