"""The wrench that a motion requires from its supports, over time.

``f_p = m (a - g)`` and, about the origin, ``x x f_p`` for a point mass (Qiu eq. 4.3-4.5) or
``dL/dt - x x m g`` for a whole body (eq. 4.51). The two differ by the rate of the angular momentum
about the center of mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from homodyn.capture import inverse_dynamics
from homodyn.capture.kinetics.newton_euler import required_wrench
from homodyn.dynamics import center_of_mass_velocity
from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.foundation.text import count_of
from homodyn.foundation.time_series import Curve, TimeSeries
from homodyn.motion import (
    ForcePlate,
    Motion,
)


@record
class RequiredWrench(TimeSeries):
    """Force and moment that a motion requires from its supports, about the world origin."""

    time: np.ndarray
    """(instants,), s."""
    com: np.ndarray
    """(instants, 3), m."""
    velocity: np.ndarray
    """(instants, 3), m/s: of the center of mass."""
    force: np.ndarray
    """(instants, 3), N."""
    moment: np.ndarray
    """(instants, 3), N m."""
    mass: float
    """kg."""
    gravity: np.ndarray
    """(3,), m/s2."""
    kind: str = "whole body"
    """``"whole body"``, ``"point mass"`` or ``"plates"``: where the wrench comes from."""

    @property
    def point_mass(self) -> RequiredWrench:
        """The required wrench with all mass at the center of mass: no angular momentum about it."""
        return replace(self, moment=np.cross(self.com, self.force), kind="point mass")

    @property
    def angular_momentum_rate(self) -> np.ndarray:
        """(instants, 3), N m: rate of the angular momentum about the center of mass."""
        return self.moment - np.cross(self.com, self.force)

    def columns(self) -> dict[str, Curve]:
        """Center of mass, its velocity, force and moment.

        Returns:
            One curve per quantity, with three components each.
        """
        quantities = (
            ("center of mass", "m", self.com),
            ("velocity", "m/s", self.velocity),
            ("force", "N", self.force),
            ("moment", "N m", self.moment),
        )
        return {name: Curve(name, unit, self.time, values) for name, unit, values in quantities}

    def headline(self) -> str:
        """Kind, number of instants and mass."""
        instants = count_of(len(self.time), "instant")
        return f"RequiredWrench ({self.kind}): {instants}, {self.mass:g} kg"


def point_mass_wrench(
    time: np.ndarray,
    com: np.ndarray,
    acceleration: np.ndarray,
    *,
    mass: float,
    velocity: np.ndarray | None = None,
    gravity: np.ndarray | tuple[float, float, float] = (0.0, 0.0, -9.81),
) -> RequiredWrench:
    """Compute the wrench that the motion of a point mass requires.

    Args:
        time: Instants, (instants,), s.
        com: Position of the mass, (instants, 3), m.
        acceleration: Acceleration of the mass, (instants, 3), m/s2.
        mass: Mass, kg.
        velocity: Velocity of the mass, (instants, 3), m/s; None differentiates ``com`` numerically.
        gravity: Gravitational acceleration, (3,), m/s2.

    Returns:
        Force and moment about the world origin at each instant.

    Raises:
        ModelError: The mass is not positive.
    """
    if not mass > 0:
        raise ModelError(f"mass is above 0 kg, got {mass!r}")
    time, com = np.asarray(time, dtype=float), np.asarray(com, dtype=float)
    gravity = np.asarray(gravity, dtype=float)
    force = mass * (np.asarray(acceleration, dtype=float) - gravity)
    if velocity is None:
        velocity = np.gradient(com, time, axis=0) if len(time) > 1 else np.zeros_like(com)
    moment = np.cross(com, force)
    return RequiredWrench(
        time, com, np.asarray(velocity), force, moment, mass, gravity, "point mass"
    )


def whole_body_wrench(motion: Motion) -> RequiredWrench:
    """Compute the wrench that a motion requires, with the inertia of all bodies of its model.

    Args:
        motion: Motion with velocities and accelerations.

    Returns:
        Force and moment about the world origin in each frame.
    """
    force, moment, com = required_wrench(motion)
    model = motion.model
    velocity = np.asarray(center_of_mass_velocity(model, motion.q, motion.v))
    gravity = np.asarray(model.gravity, dtype=float)
    return RequiredWrench(
        motion.time, com, velocity, np.asarray(force), moment, float(model.mass), gravity
    )


def measured_wrench(motion: Motion, plates: Sequence[ForcePlate]) -> RequiredWrench:
    """Compute the ground reaction wrench from force plates, in place of the required wrench.

    If soles and friction are large enough, this wrench lies inside the wrench set of the stance.
    That validates stances independently of the masses of the model.

    Args:
        motion: Motion of the subject.
        plates: Force plates in Z-up axes, recorded with the motion.

    Returns:
        Measured force and moment about the world origin in each frame, with the center of mass of
        the motion.

    Raises:
        CaptureError: The motion contains NaN, or a plate does not overlap it in time.
    """
    feet = inverse_dynamics(motion, plates, cutoff=None).feet
    force, moment = np.zeros((len(motion.time), 3)), np.zeros((len(motion.time), 3))
    for foot in feet:
        force += foot.force
        moment += np.cross(np.nan_to_num(foot.point), foot.force) + foot.torque
    return replace(whole_body_wrench(motion), force=force, moment=moment, kind="plates")
