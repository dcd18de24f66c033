"""What a muscle-tendon model is, and the part that models with a rigid tendon share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import casadi as ca

from homodyn.model.muscles import Muscle
from homodyn.spatial import Array


class MuscleModel(ABC):
    """A muscle-tendon model without states besides activation; derive from it to add your own.

    Functions take numbers or symbols, so that forces are part of kernels.
    """

    @abstractmethod
    def tendon_force(self, muscle: Muscle, activation: Array, length: Array, speed: Array) -> Array:
        """Force with which the tendon pulls.

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
    """The fibers of a muscle with a rigid tendon."""

    norm_length: Array
    """In optimal fiber lengths."""
    norm_speed: Array
    """In largest contraction speeds; positive where fibers lengthen."""
    cosine: Array
    """Of the pennation angle."""

    @staticmethod
    def of(muscle: Muscle, length: Array, speed: Array) -> FiberState:
        """Fibers at the length and speed of a path; their width across the tendon is constant.

        Args:
            muscle: Its parameters.
            length: Length of the path, m.
            speed: Rate of change of the length, m/s.
        """
        optimal = muscle.optimal_fiber_length
        width = optimal * ca.sin(muscle.pennation_angle)
        along = length - muscle.tendon_slack_length
        fiber = ca.sqrt(along * along + width * width)
        cosine = along / fiber
        fastest = muscle.max_contraction_velocity * optimal
        return FiberState(fiber / optimal, speed * cosine / fastest, cosine)


class RigidTendon(MuscleModel):
    """A model whose tendon keeps its slack length; subclasses define the curves of the fibers."""

    @abstractmethod
    def active_force_length(self, muscle: Muscle, norm_length: Array) -> Array:
        """Active isometric force at full activation, in maximal isometric forces.

        Args:
            muscle: Its parameters.
            norm_length: Fiber length in optimal fiber lengths.
        """

    @abstractmethod
    def passive_force_length(self, muscle: Muscle, norm_length: Array) -> Array:
        """Passive force, in maximal isometric forces.

        Args:
            muscle: Its parameters.
            norm_length: Fiber length in optimal fiber lengths.
        """

    @abstractmethod
    def force_velocity(self, muscle: Muscle, norm_speed: Array) -> Array:
        """Factor of the active force; 1 at rest.

        Args:
            muscle: Its parameters.
            norm_speed: Fiber speed in largest contraction speeds.
        """

    @abstractmethod
    def damping(self, muscle: Muscle) -> Array:
        """Damping of the fibers, in maximal isometric forces per largest contraction speed.

        Args:
            muscle: Its parameters.
        """

    def tendon_force(self, muscle: Muscle, activation: Array, length: Array, speed: Array) -> Array:
        """Force with which the tendon pulls, N; see `MuscleModel.tendon_force`."""
        fiber = FiberState.of(muscle, length, speed)
        active = self.active_force_length(muscle, fiber.norm_length)
        total = (
            activation * active * self.force_velocity(muscle, fiber.norm_speed)
            + self.passive_force_length(muscle, fiber.norm_length)
            + self.damping(muscle) * fiber.norm_speed
        )
        return muscle.max_isometric_force * total * fiber.cosine
