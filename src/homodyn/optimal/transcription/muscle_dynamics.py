"""Muscles as a function of state and excitation: torques, and rates of their states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.model import Model
from homodyn.optimal.statement.muscle_drive import (
    ACTIVATION,
    EXCITATION,
    TENDON_FORCE,
    TENDON_FORCE_RATE,
    MuscleDrive,
)
from homodyn.optimal.statement.muscle_point import MusclePoint, MuscleVariables
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, kernel

MAX_CACHED_DYNAMICS = 16
"""Muscles whose kernels are kept for later solves."""


@dataclass(frozen=True, eq=False)
class MuscleDynamics:
    """The muscles of a model, evaluated in batches.

    Attributes:
        model: The model.
        drive: How its muscles act.
    """

    model: Model
    drive: MuscleDrive

    def torques(
        self,
        q: np.ndarray,
        v: np.ndarray,
        states: tuple[np.ndarray, np.ndarray],
        excitation: np.ndarray,
    ) -> MuscleTorques:
        """Torques, activations and forces at states of the model.

        Args:
            q: (states, nq), rad or m.
            v: (states, nv), rad/s or m/s.
            states: Activations and tendon forces, one row per state of the model.
            excitation: (states, muscles), 0 to 1.
        """
        return MuscleTorques(*self._torque_kernel(q, v, *states, excitation))

    def rates(
        self,
        q: np.ndarray,
        v: np.ndarray,
        states: tuple[np.ndarray, np.ndarray],
        controls: tuple[np.ndarray, np.ndarray],
        step: float,
    ) -> MuscleRates:
        """Torques, and rates of the states of muscles, over a step of integration.

        Args:
            q: (states, nq), rad or m.
            v: (states, nv), rad/s or m/s.
            states: Activations and tendon forces, one row per state of the model.
            controls: Excitations, and rates of the tendon forces (1/s) from which to begin.
            step: Length of the step, s.
        """
        return MuscleRates(*self._rate_kernel(q, v, *states, *controls, np.asarray(step)))

    @cached_property
    def _torque_kernel(self) -> Kernel:
        count = len(self.model.muscles)

        def evaluate(*columns: Array) -> tuple[Array, ...]:
            at = self._point(*columns, ca.SX.zeros(columns[3].shape[0]))
            return tuple(ca.densify(ca.SX(x)) for x in (at.torque, at.activation, at.forces))

        outputs = {"torque": self.model.nv, "activation": count, "forces": count}
        name = f"torques of muscles of {self.model.name}"
        return kernel(evaluate, self._inputs(), outputs=outputs, name=name)

    @cached_property
    def _rate_kernel(self) -> Kernel:
        active, loose = self.sizes

        def evaluate(*columns: Array) -> tuple[Array, ...]:
            at = self._point(*columns[:-1])
            rates = at.activation_rate, at.implicit_tendon_rate(columns[-1])
            return tuple(ca.densify(ca.SX(x)) for x in (at.torque, *rates))

        inputs = {**self._inputs(), TENDON_FORCE_RATE: loose, "step": ()}
        outputs = {"torque": self.model.nv, "activation_rate": active, "tendon_rate": loose}
        name = f"rates of muscles of {self.model.name}"
        return kernel(evaluate, inputs, outputs=outputs, name=name)

    def _point(self, q: Array, v: Array, *variables: Array) -> MusclePoint:
        activation, tendon, excitation, rate = variables
        own = MuscleVariables(activation, tendon, excitation, rate)
        return MusclePoint(self.model, self.drive, q, v, own)

    def _inputs(self) -> dict[str, int | tuple[int, ...]]:
        model = self.model
        active, loose = self.sizes
        sizes = model.nq, model.nv, active, loose, len(model.muscles)
        return dict(zip(("q", "v", ACTIVATION, TENDON_FORCE, EXCITATION), sizes, strict=True))

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of activations and of tendon forces that are states."""
        names = self.drive.variable_names
        return len(names(self.model, ACTIVATION)), len(names(self.model, TENDON_FORCE))


@dataclass(frozen=True, eq=False)
class MuscleTorques:
    """Torques, activations and forces of all muscles."""

    torque: np.ndarray
    """(states, nv), N m or N."""
    activation: np.ndarray
    """(states, muscles), 0 to 1."""
    forces: np.ndarray
    """(states, muscles), N."""


@dataclass(frozen=True, eq=False)
class MuscleRates:
    """Torques and rates of all muscles."""

    torque: np.ndarray
    """(states, nv), N m or N."""
    activation_rate: np.ndarray
    """(states, activations that are states), 1/s."""
    tendon_rate: np.ndarray
    """(states, compliant tendons), 1/s."""


_cached_dynamics: dict[tuple[str, int], MuscleDynamics] = {}


def muscle_dynamics(model: Model, drive: MuscleDrive) -> MuscleDynamics:
    """The muscles of a model; kernels are kept for later solves with the same drive.

    Args:
        model: The model.
        drive: How its muscles act.
    """
    # The entry holds the drive, so that its identity stays its own.
    found = _cached_dynamics.setdefault((model.digest, id(drive)), MuscleDynamics(model, drive))
    if len(_cached_dynamics) > MAX_CACHED_DYNAMICS:
        del _cached_dynamics[next(iter(_cached_dynamics))]
    return found
