"""Builds time points of a phase from symbols, together with the numbers that go with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import casadi as ca
import numpy as np

from homodyn.model import Model
from homodyn.optimal.statement.external_loads import WRENCH_SIZE, generalized_load_force
from homodyn.optimal.statement.muscle_drive import MuscleDrive
from homodyn.optimal.statement.muscle_point import MusclePoint, MuscleVariables
from homodyn.optimal.statement.phase import Phase
from homodyn.optimal.statement.springs import Spring, spring_force
from homodyn.optimal.statement.time_point import TimePoint
from homodyn.spatial import Array

Substitution = tuple[ca.SX, ca.SX]
"""A symbol, and the expression that replaces it."""
SymbolData = tuple[ca.SX, np.ndarray]
"""Symbols, and their values: one row per evaluation point."""


@dataclass(frozen=True, eq=False)
class TimePointBuilder:
    """Builds the time points of one evaluation point of a phase.

    Attributes:
        model: The model.
        phase: The phase.
        actuated: Entries of v with a torque.
        duration: Duration of the phase (s).
        begin: Fraction of the phase at which the evaluation point begins.
        width: Fraction of the phase that the evaluation point covers.
        parameters: Parameters of the problem by name.
        springs: Springs of the problem.
        independent_rows: Contact rows whose acceleration is an equation; the others depend on them.
        substitutions: States that are expressions, and the symbols used in their place.
        wrenches: Wrenches of all external loads, by the fraction at which they were evaluated.
        muscles: How muscles act.
    """

    model: Model
    phase: Phase
    actuated: np.ndarray
    duration: ca.SX
    begin: ca.SX
    width: ca.SX
    parameters: Mapping[str, ca.SX]
    springs: tuple[Spring, ...] = ()
    independent_rows: Sequence[int] = ()
    substitutions: list[Substitution] = field(default_factory=list)
    wrenches: dict[float, ca.SX] = field(default_factory=dict)
    muscles: MuscleDrive | None = None

    def __call__(
        self,
        q: Array,
        v: Array,
        a: Array,
        tau: Array,
        force: Array,
        part: float,
        muscles: MuscleVariables | None = None,
    ) -> TimePoint:
        """The time point at a fraction of the evaluation point.

        Args:
            q: (nq,), positions.
            v: (nv,), velocities.
            a: (nv,), accelerations.
            tau: One entry per actuated coordinate (N m, N).
            force: One entry per contact row (N, N m).
            part: Fraction of the evaluation point (0 to 1).
            muscles: Variables of the muscles.

        Returns:
            The time point.
        """
        q, v = self._symbol("q", q), self._symbol("v", v)
        if muscles is not None:
            activation = self._symbol("activation", muscles.activation)
            tendon_force = self._symbol("tendon_force", muscles.tendon_force)
            muscles = replace(muscles, activation=activation, tendon_force=tendon_force)
        elapsed = self.duration * (self.begin + part * self.width)
        drive = self.expand_torques(tau)
        return TimePoint(
            self.model,
            q,
            v,
            a,
            drive,
            force,
            self.phase.contacts,
            elapsed,
            self.duration,
            self.parameters,
            self.generalized_load(q, v, part),
            self.muscle_point(q, v, muscles),
        )

    def muscle_point(
        self, q: Array, v: Array, variables: MuscleVariables | None
    ) -> MusclePoint | None:
        """The muscles at a state; None where they do not act.

        Args:
            q: (nq,), positions.
            v: (nv,), velocities.
            variables: Variables of the muscles.
        """
        if self.muscles is None or variables is None:
            return None
        return MusclePoint(self.model, self.muscles, q, v, variables)

    @property
    def step(self) -> ca.SX:
        """Duration of the evaluation point (s)."""
        return self.duration * self.width

    def point_data(self, begin: np.ndarray, width: np.ndarray) -> list[SymbolData]:
        """Symbols for numbers, so that derivatives and compiled code are shared.

        Wrenches of loads are given at the fractions at which time points were built before.
        """
        low, high = self.phase.duration_bounds
        data = [(self.begin, begin[:, None]), (self.width, width[:, None])]
        if low == high:
            data.append((self.duration, np.full((len(begin), 1), low)))
        return [*data, *self.load_data(begin, width)]

    def load_data(self, begin: np.ndarray, width: np.ndarray) -> list[SymbolData]:
        """The wrenches of external loads at evaluation points with these begins and widths."""
        loads = self.phase.external_loads
        return [
            (symbols, np.hstack([load.sample(begin + part * width) for load in loads]))
            for part, symbols in self.wrenches.items()
        ]

    def _symbol(self, name: str, value: Array) -> Array:
        if value.is_valid_input():
            return value
        symbol = ca.SX.sym(name, value.shape[0])
        self.substitutions.append((symbol, value))
        return symbol

    def generalized_load(self, q: Array, v: Array, part: float) -> Array:
        """Generalized force (nv,) of springs and external loads at a fraction of the point."""
        springs = spring_force(self.springs, self.model, q, v, self.parameters)
        loads = self.phase.external_loads
        if not loads:
            return springs
        if part not in self.wrenches:
            self.wrenches[part] = ca.SX.sym("wrenches", WRENCH_SIZE * len(loads))
        return springs + generalized_load_force(loads, self.model, q, self.wrenches[part])

    def expand_torques(self, tau: Array) -> Array:
        """Torques of the actuated coordinates as a vector of size nv."""
        full = ca.SX.zeros(self.model.nv)
        full[self.actuated.tolist()] = tau
        return full
