"""Muscles at one time point: lengths, forces, torques and rates of their states, as symbols."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from homodyn.model import Model
from homodyn.muscle.forces import is_rigid
from homodyn.muscle.metabolic_models import MetabolicModel
from homodyn.muscle.metabolic_power import fiber_work
from homodyn.muscle.models.degroote_fregly2016 import TENDON_OFFSET, DeGrooteFregly2016
from homodyn.muscle.models.muscle_model import FiberState
from homodyn.muscle.path_geometry import traced_geometry
from homodyn.optimal.statement.muscle_drive import ACTIVATION, MuscleDrive
from homodyn.spatial import Array

SMALLEST_TENDON_FORCE = -0.19
"""In maximal isometric forces; the curve of the tendon ends at -0.2."""
SMALLEST_SLOPE_S = 1e-9
NEWTON_STEPS = 4
"""Of the rate of a tendon force, from that of the optimal-control problem."""


@dataclass(frozen=True, eq=False)
class MuscleVariables:
    """Symbols or expressions of the variables of muscles; one entry per muscle that has it."""

    activation: Array
    tendon_force: Array
    """In maximal isometric forces."""
    excitation: Array
    tendon_force_rate: Array
    """1/s."""


@dataclass(frozen=True, eq=False)
class MusclePoint:
    """All muscles at a state of the model; entries are in the order of its muscles."""

    model: Model
    drive: MuscleDrive
    q: Array
    v: Array
    variables: MuscleVariables

    @cached_property
    def activation(self) -> Array:
        """(muscles,), 0 to 1: states, or excitations where there are no activation dynamics."""
        return self._levels(ACTIVATION, self.variables.activation, list(self._excitations))

    @cached_property
    def excitation(self) -> Array:
        """(muscles,), 0 to 1."""
        return self.variables.excitation

    @cached_property
    def lengths(self) -> Array:
        """(muscles,), m: lengths of the paths."""
        return self._geometry[0]

    @cached_property
    def moment_arms(self) -> Array:
        """(muscles, nv), m; sparse."""
        return self._geometry[1]

    @cached_property
    def speeds(self) -> Array:
        """(muscles,), m/s: rates of the lengths of the paths."""
        return -(self.moment_arms @ self.v)

    @cached_property
    def forces(self) -> Array:
        """(muscles,), N: forces of the tendons."""
        states = dict(zip(self._compliant, ca.vertsplit(self.variables.tendon_force), strict=True))
        found = []
        for k, muscle in enumerate(self.model.muscles):
            if k in states:
                found.append(muscle.max_isometric_force * states[k])
            else:
                at = self.activation[k], self.lengths[k], self.speeds[k]
                found.append(self._laws[k].tendon_force(muscle, *at))
        return ca.vertcat(*found)

    @cached_property
    def torque(self) -> Array:
        """(nv,), N m or N: generalized force of all muscles."""
        return ca.densify(self.moment_arms.T @ self.forces)

    @cached_property
    def fibers(self) -> tuple[FiberState, ...]:
        """Lengths, speeds and angles of the fibers, for energy rates and limits."""
        compliant = dict(zip(self._compliant, range(len(self._compliant)), strict=True))
        found = []
        for k, muscle in enumerate(self.model.muscles):
            along = self.lengths[k] - muscle.tendon_slack_length
            speed = self.speeds[k]
            if k in compliant:
                law = self._smooth_law(k)
                force = self.variables.tendon_force[compliant[k]]
                rate = self.variables.tendon_force_rate[compliant[k]]
                slack = muscle.tendon_slack_length
                along = self.lengths[k] - slack * law.tendon_length(muscle, force)
                stiffness = law.tendon_stiffness(muscle) * (force + TENDON_OFFSET)
                speed = speed - slack * rate / stiffness
            found.append(FiberState.of(muscle, along, speed))
        return tuple(found)

    def metabolic_rates(self, cost: MetabolicModel) -> Array:
        """Metabolic power of all muscles, (muscles,), W; without that of the body at rest.

        Args:
            cost: The model of metabolic power.
        """
        rows = zip(self.model.muscles, self._laws, self.fibers, strict=True)
        rates = [
            cost.rates(muscle, fiber_work(muscle, law, self.excitation[k], self.activation[k], at))
            for k, (muscle, law, at) in enumerate(rows)
        ]
        return ca.vertcat(*[rate.total for rate in rates])

    @cached_property
    def activation_rate(self) -> Array:
        """Rates of the activations that are states, 1/s."""
        names = self.drive.variable_names(self.model, ACTIVATION)
        rates = [
            self._laws[k].activation_rate(muscle, self.excitation[k], self.activation[k])
            for k, muscle in enumerate(self.model.muscles)
            if muscle.name in names
        ]
        return ca.vertcat(ca.SX(0, 1), *rates)

    @cached_property
    def tendon_residual(self) -> Array:
        """Forces of fibers along their compliant tendons minus those of the tendons.

        In maximal isometric forces, one entry per compliant tendon.
        """
        rows = []
        for place, k in enumerate(self._compliant):
            state = self.activation[k], self.variables.tendon_force[place]
            at = self.variables.tendon_force_rate[place], self.lengths[k], self.speeds[k]
            rows.append(self._smooth_law(k).implicit_residual(self.model.muscles[k], state, *at))
        return ca.vertcat(ca.SX(0, 1), *rows)

    def implicit_tendon_rate(self, step: Array) -> Array:
        """Rates of the forces of compliant tendons over a step, 1/s, of an implicit method.

        The rate holds in the middle of the step, so that steps may be longer than the time in which
        a passive fiber relaxes. Newton's method begins at the rates of the variables.

        Args:
            step: Length of the step, s.
        """
        rates = []
        for place, k in enumerate(self._compliant):
            rate = ca.SX.sym("rate")
            force = self.variables.tendon_force[place] + step / 2 * rate
            state = self.activation[k], ca.fmax(force, SMALLEST_TENDON_FORCE)
            at = rate, self.lengths[k], self.speeds[k]
            residual = self._smooth_law(k).implicit_residual(self.model.muscles[k], state, *at)
            slope = ca.fmin(ca.jacobian(residual, rate), -SMALLEST_SLOPE_S)
            found = self.variables.tendon_force_rate[place]
            for _ in range(NEWTON_STEPS):
                found = ca.substitute(rate - residual / slope, rate, found)
            rates.append(found)
        return ca.vertcat(ca.SX(0, 1), *rates)

    @cached_property
    def _laws(self) -> list:
        return self.drive.laws(self.model)

    def _smooth_law(self, k: int) -> DeGrooteFregly2016:
        law = self._laws[k]
        assert isinstance(law, DeGrooteFregly2016)
        return law

    @cached_property
    def _excitations(self) -> list[Array]:
        return ca.vertsplit(self.variables.excitation)

    @cached_property
    def _compliant(self) -> list[int]:
        muscles = enumerate(self.model.muscles)
        return [k for k, muscle in muscles if not is_rigid(muscle, self.drive.tendon)]

    def _levels(self, quantity: str, values: Array, others: list[Array]) -> Array:
        names = self.drive.variable_names(self.model, quantity)
        for name, value in zip(names, ca.vertsplit(values), strict=True):
            others[[one.name for one in self.model.muscles].index(name)] = value
        return ca.vertcat(*others)

    @cached_property
    def _geometry(self) -> tuple[Array, Array]:
        found = traced_geometry(self.model, self.q, self.drive.wrapping, self.drive.paths)
        arms = ca.SX(len(found.lengths), self.model.nv)
        for row, entries in enumerate(found.arms):
            for column, arm in entries.items():
                arms[row, column] = arm
        return ca.vertcat(*found.lengths), arms
