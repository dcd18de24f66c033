"""Muscles as a function of state and excitation: torques, and rates of their states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.model import Model
from homodyn.optimal.statement.muscle_drive import ACTIVATION, TENDON_FORCE, MuscleDrive
from homodyn.optimal.statement.muscle_point import MusclePoint, MuscleVariables
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, kernel


@dataclass(frozen=True, eq=False)
class MuscleDynamics:
    """The muscles of a model, evaluated in batches.

    Attributes:
        model: The model.
        drive: How its muscles act.
    """

    model: Model
    drive: MuscleDrive

    @cached_property
    def kernel(self) -> Kernel:
        """Torque (N m, N), rates of activations and of tendon forces (1/s), activations, forces.

        A function of q, v, activations, tendon forces and excitations. Compliant tendons follow
        from the speed of their fibers, not from the rates that are decision variables.
        """
        model, drive = self.model, self.drive

        def evaluate(
            q: Array, v: Array, activation: Array, tendon: Array, excitation: Array
        ) -> Array:
            rest = ca.SX.zeros(tendon.shape[0])
            variables = MuscleVariables(activation, tendon, excitation, rest)
            at = MusclePoint(model, drive, q, v, variables)
            rates = at.activation_rate, at.explicit_tendon_rate
            outputs = at.torque, *rates, at.activation, at.forces
            return tuple(ca.densify(ca.SX(x)) for x in outputs)

        active, loose = self.sizes
        count = len(model.muscles)
        inputs = {"q": model.nq, "v": model.nv, ACTIVATION: active, TENDON_FORCE: loose}
        outputs = {"torque": model.nv, "activation_rate": active, "tendon_rate": loose}
        return kernel(
            evaluate,
            {**inputs, "excitation": count},
            outputs={**outputs, "activations": count, "forces": count},
            name=f"muscles of {model.name}",
        )

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of activations and of tendon forces that are states."""
        names = self.drive.variable_names
        return len(names(self.model, ACTIVATION)), len(names(self.model, TENDON_FORCE))

    def __call__(
        self,
        q: np.ndarray,
        v: np.ndarray,
        states: tuple[np.ndarray, np.ndarray],
        excitation: np.ndarray,
    ) -> MuscleRates:
        """Torques, rates and activations at states of the model.

        Args:
            q: (states, nq), rad or m.
            v: (states, nv), rad/s or m/s.
            states: Activations and tendon forces, one row per state of the model.
            excitation: (states, muscles), 0 to 1.
        """
        return MuscleRates(*self.kernel(q, v, *states, excitation))


@dataclass(frozen=True, eq=False)
class MuscleRates:
    """Torques and rates of all muscles."""

    torque: np.ndarray
    """(states, nv), N m or N."""
    activation_rate: np.ndarray
    """(states, activations that are states), 1/s."""
    tendon_rate: np.ndarray
    """(states, compliant tendons), 1/s."""
    activation: np.ndarray
    """(states, muscles), 0 to 1."""
    forces: np.ndarray
    """(states, muscles), N."""
