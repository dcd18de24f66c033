"""What a muscle-tendon model is: curves of fibers and tendon, and how they pull together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import casadi as ca

from homodyn.model.muscles import Muscle
from homodyn.muscle.geometry.selects import is_constant, select
from homodyn.spatial import Array


class MuscleModel(ABC):
    """A muscle-tendon model; derive from it to add your own.

    Functions take numbers or symbols, so that forces are part of kernels.
    """

    @abstractmethod
    def tendon_force(self, muscle: Muscle, activation: Array, length: Array, speed: Array) -> Array:
        """Force with which the tendon pulls if it keeps its slack length.

        Args:
            muscle: Its parameters.
            activation: 0 to 1.
            length: Length of the path, m.
            speed: Rate of change of the length, m/s.

        Returns:
            N.
        """


@dataclass(frozen=True)
class FiberState:
    """The fibers of a muscle: their length and speed, and their angle with the tendon."""

    norm_length: Array
    """In optimal fiber lengths."""
    norm_speed: Array
    """In largest contraction speeds; positive where fibers lengthen."""
    cosine: Array
    """Of the pennation angle."""

    @staticmethod
    def of(muscle: Muscle, along: Array, speed: Array, shortest: Array = 0.0) -> FiberState:
        """Fibers of a given length along the tendon; their width across it is constant.

        Args:
            muscle: Its parameters.
            along: Length of the fibers along the tendon, m.
            speed: Rate of change of ``along``, m/s.
            shortest: Lower bound of the length along the tendon, m; none if 0.
        """
        optimal = muscle.optimal_fiber_length
        width = optimal * ca.sin(muscle.pennation_angle)
        if not (is_constant(shortest) and float(shortest) == 0):
            along = ca.fmax(along, shortest)
        fiber = ca.sqrt(along * along + width * width)
        cosine = along / fiber
        fastest = muscle.max_contraction_velocity * optimal
        return FiberState(fiber / optimal, speed * cosine / fastest, cosine)


@dataclass(frozen=True)
class FiberForce:
    """Parts of the force of fibers along themselves, in maximal isometric forces."""

    active: Array
    passive: Array
    """Of the stretched fibers."""
    damping: Array

    @property
    def total(self) -> Array:
        """Their sum."""
        return self.active + self.passive + self.damping


class HillModel(MuscleModel):
    """Fibers with an active, a passive and a damping element, in series with a tendon.

    Subclasses define the curves. Forces are in maximal isometric forces, lengths of fibers in
    optimal fiber lengths, those of tendons in slack lengths, speeds of fibers in largest
    contraction speeds.
    """

    pushes = False
    """Whether the fibers of a rigid tendon may push, which keeps the force smooth."""

    @abstractmethod
    def active_force_length(self, muscle: Muscle, norm_length: Array) -> Array:
        """Active isometric force at full activation.

        Args:
            muscle: Its parameters.
            norm_length: Length of the fibers.
        """

    @abstractmethod
    def passive_force_length(self, muscle: Muscle, norm_length: Array) -> Array:
        """Force of the stretched fibers.

        Args:
            muscle: Its parameters.
            norm_length: Length of the fibers.
        """

    @abstractmethod
    def force_velocity(self, muscle: Muscle, norm_speed: Array, activation: Array = 1.0) -> Array:
        """Factor of the active force; 1 at rest.

        Args:
            muscle: Its parameters.
            norm_speed: Speed of the fibers.
            activation: 0 to 1; the factor depends on it in some models.
        """

    @abstractmethod
    def tendon_force_length(self, muscle: Muscle, norm_length: Array) -> Array:
        """Force of the tendon.

        Args:
            muscle: Its parameters.
            norm_length: Length of the tendon.
        """

    @abstractmethod
    def activation_rate(self, muscle: Muscle, excitation: Array, activation: Array) -> Array:
        """Rate of change of activation, 1/s.

        Args:
            muscle: Its parameters.
            excitation: 0 to 1.
            activation: 0 to 1.
        """

    @abstractmethod
    def fiber_speed(
        self, muscle: Muscle, activation: Array, norm_length: Array, norm_force: Array
    ) -> Array:
        """Speed of fibers at a force along themselves; the inverse of `fiber_force`.

        Args:
            muscle: Its parameters.
            activation: 0 to 1.
            norm_length: Length of the fibers.
            norm_force: Force.
        """

    def damping(self, muscle: Muscle) -> Array:
        """Damping of the fibers: force per speed.

        Args:
            muscle: Its parameters.
        """
        return 0.0

    def bounded_activation(self, muscle: Muscle, activation: Array) -> Array:
        """Activation within the limits of the model.

        Args:
            muscle: Its parameters.
            activation: Any number.
        """
        return activation

    def shortest_fiber_along(self, muscle: Muscle) -> Array:
        """Shortest length of the fibers along the tendon, m; 0 where there is no limit.

        Args:
            muscle: Its parameters.
        """
        return 0.0

    def fiber_force(self, muscle: Muscle, activation: Array, fiber: FiberState) -> FiberForce:
        """Force of fibers along themselves.

        Args:
            muscle: Its parameters.
            activation: 0 to 1.
            fiber: Length, speed and angle.
        """
        level = self.bounded_activation(muscle, activation)
        factor = self.force_velocity(muscle, fiber.norm_speed, level)
        return FiberForce(
            level * self.active_force_length(muscle, fiber.norm_length) * factor,
            self.passive_force_length(muscle, fiber.norm_length),
            self.damping(muscle) * fiber.norm_speed,
        )

    def contraction_residual(
        self,
        muscle: Muscle,
        state: tuple[Array, Array],
        fiber_speed: Array,
        length: Array,
    ) -> Array:
        """Residual of the dynamics of fibers with a compliant tendon, without a division.

        The implicit form: it is zero where the fibers along the tendon pull as the tendon does.
        `fiber_speed` is the explicit form, which divides by activation and force-length factor.

        Args:
            muscle: Its parameters.
            state: Activation, and length of the fibers, m.
            fiber_speed: Rate of change of the fiber length, m/s.
            length: Length of the path, m.

        Returns:
            Force of the fibers along the tendon minus that of the tendon, in maximal isometric
            forces.
        """
        activation, fiber_length = state
        optimal, slack = muscle.optimal_fiber_length, muscle.tendon_slack_length
        width = optimal * ca.sin(muscle.pennation_angle)
        along = ca.sqrt(fiber_length**2 - width**2)
        fastest = muscle.max_contraction_velocity * optimal
        fiber = FiberState(fiber_length / optimal, fiber_speed / fastest, along / fiber_length)
        pull = self.fiber_force(muscle, activation, fiber).total * fiber.cosine
        return pull - self.tendon_force_length(muscle, (length - along) / slack)

    def rigid_tendon_forces(
        self, muscle: Muscle, activation: Array, length: Array, speed: Array
    ) -> FiberForce:
        """Parts of the force along a tendon that keeps its slack length, N.

        Args:
            muscle: Its parameters.
            activation: 0 to 1.
            length: Length of the path, m.
            speed: Rate of change of the length, m/s.
        """
        shortest = self.shortest_fiber_along(muscle)
        along = length - muscle.tendon_slack_length
        fiber = FiberState.of(muscle, along, speed, shortest)
        forces = self.fiber_force(muscle, activation, fiber)
        scale = muscle.max_isometric_force * fiber.cosine
        if not (is_constant(shortest) and float(shortest) == 0):
            # Fibers at their shortest length leave the tendon slack.
            scale = select(along > shortest, scale, 0.0)
        return FiberForce(scale * forces.active, scale * forces.passive, scale * forces.damping)

    def tendon_force(self, muscle: Muscle, activation: Array, length: Array, speed: Array) -> Array:
        """Force with which the tendon pulls if it keeps its slack length, N."""
        force = self.rigid_tendon_forces(muscle, activation, length, speed).total
        return force if self.pushes else ca.fmax(force, 0.0)
