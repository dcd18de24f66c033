"""Sensors of robots: joint encoders, forces of supports, accelerometers with gyroscopes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from homodyn.dynamics import acceleration, angular_velocity, orientation
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.model import Model


@record
class JointEncoders(Record):
    """Sensors of all coordinates but those of the root.

    Raises:
        ModelError: A number is negative.
    """

    resolution: float = 0.0
    """rad, m: readings are multiples of it; 0: exact."""
    noise: float = 0.0
    """rad, m: standard deviation."""

    def __post_init__(self) -> None:
        if self.resolution < 0 or self.noise < 0:
            raise ModelError("encoders: resolution and noise are numbers from 0 up")

    def measure(self, model: Model, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Readings of a pose; NaN at the root, which encoders do not see.

        Args:
            model: The model.
            q: Positions, (nq,).
            rng: Source of the noise.

        Returns:
            (nq,).
        """
        reading = np.array(q, dtype=float)
        reading = reading + self.noise * rng.standard_normal(reading.shape)
        if self.resolution:
            reading = self.resolution * np.round(reading / self.resolution)
        reading[list(model.root.q)] = np.nan
        return reading


@record
class SupportForceSensors(Record):
    """Normal forces of supports, each summed over its contacts.

    Raises:
        ModelError: The noise is negative.
    """

    supports: Mapping[str, Sequence[str]]
    """Names of contacts by support."""
    normal: np.ndarray | Sequence[float] = (0.0, 0.0, 1.0)
    """(3,): direction of the force that is measured, world."""
    noise: float = 0.0
    """N: standard deviation."""

    def __post_init__(self) -> None:
        if self.noise < 0:
            raise ModelError("force sensors: noise is a number from 0 up")
        object.__setattr__(self, "supports", {k: tuple(v) for k, v in self.supports.items()})

    def measure(
        self, names: Sequence[str], forces: np.ndarray, rng: np.random.Generator
    ) -> dict[str, float]:
        """Readings.

        Args:
            names: Names of the contacts.
            forces: Force on the body at each contact, (contacts, 3), N, world.
            rng: Source of the noise.

        Returns:
            Force by support, N.
        """
        along = np.asarray(forces) @ np.asarray(self.normal, dtype=float)
        place = {name: k for k, name in enumerate(names)}
        return {
            support: float(sum(along[place[name]] for name in contacts))
            + self.noise * float(rng.standard_normal())
            for support, contacts in self.supports.items()
        }


@record
class InertialSensor(Record):
    """An accelerometer and a gyroscope in the axes of a frame.

    Raises:
        ModelError: A noise is negative.
    """

    frame: str
    """Body, frame or marker that carries it."""
    accelerometer_noise: float = 0.05
    """m/s2: standard deviation of a reading."""
    gyroscope_noise: float = 0.005
    """rad/s."""
    accelerometer_bias: np.ndarray | Sequence[float] = (0.0, 0.0, 0.0)
    """(3,), m/s2."""
    gyroscope_bias: np.ndarray | Sequence[float] = (0.0, 0.0, 0.0)
    """(3,), rad/s."""

    def __post_init__(self) -> None:
        if self.accelerometer_noise < 0 or self.gyroscope_noise < 0:
            raise ModelError(f"inertial sensor of {self.frame}: noises are numbers from 0 up")

    def measure(
        self,
        model: Model,
        q: np.ndarray,
        v: np.ndarray,
        a: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Specific force (acceleration less gravity) and angular velocity, in the sensor's axes.

        Args:
            model: The model.
            q: Positions, (nq,).
            v: Velocities, (nv,).
            a: Accelerations, (nv,).
            rng: Source of the noise.

        Returns:
            Two arrays (3,), m/s2 and rad/s.
        """
        turn = orientation(model, q, self.frame)
        apparent = acceleration(model, q, v, a, self.frame) - np.asarray(model.gravity, dtype=float)
        force = turn.T @ apparent + np.asarray(self.accelerometer_bias, dtype=float)
        rate = turn.T @ angular_velocity(model, q, v, self.frame)
        rate = rate + np.asarray(self.gyroscope_bias, dtype=float)
        return (
            force + self.accelerometer_noise * rng.standard_normal(3),
            rate + self.gyroscope_noise * rng.standard_normal(3),
        )
