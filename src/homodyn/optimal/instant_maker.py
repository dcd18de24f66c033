"""Instants of a phase out of the symbols of one interval, and the numbers that go with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from homodyn.model import Model
from homodyn.optimal.applied import SIZE, load_force
from homodyn.optimal.instant import Instant
from homodyn.optimal.phase import Phase
from homodyn.optimal.springs import Spring, spring_force
from homodyn.spatial import Array

Lift = tuple[ca.SX, ca.SX]
"""A symbol, and the expression that it stands for."""
Numbers = tuple[ca.SX, np.ndarray]
"""Symbols, and the numbers that they stand for: one row for each place."""


@dataclass(frozen=True, eq=False)
class InstantMaker:
    """Makes instants of a phase out of the symbols of one place."""

    model: Model
    phase: Phase
    actuated: np.ndarray
    duration: ca.SX
    passed: ca.SX
    """Part of the phase that has passed where the place begins."""
    part: ca.SX
    """Part of the phase that the place stands for."""
    parameters: Mapping[str, ca.SX]
    springs: tuple[Spring, ...] = ()
    resting: Sequence[int] = ()
    """Rows of the contacts that are told to stay where they are."""
    lifts: list[Lift] = field(default_factory=list)
    """States that are expressions, and the symbols that instants have in their place."""
    wrenches: dict[float, ca.SX] = field(default_factory=dict)
    """Those of all loads, by the parts of the place at which they were asked for."""

    def __call__(
        self, q: Array, v: Array, a: Array, tau: Array, force: Array, part: float
    ) -> Instant:
        """The instant at a part of the place."""
        q, v = self._symbol("q", q), self._symbol("v", v)
        elapsed = self.duration * (self.passed + part * self.part)
        drive = self.torques(tau)
        return Instant(
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
            self.besides(q, v, part),
        )

    @property
    def step(self) -> ca.SX:
        """How long the place lasts (s)."""
        return self.duration * self.part

    def numbers(self, passed: np.ndarray, part: np.ndarray) -> list[Numbers]:
        """Symbols that stand for numbers, which no derivative and no compiled code depends on.

        They come with one row for each place, which begins where ``passed`` of the phase is over
        and stands for ``part`` of it. Loads are told at the instants that were made before.
        """
        low, high = self.phase.duration_bounds
        known = [(self.passed, passed[:, None]), (self.part, part[:, None])]
        if low == high:
            known.append((self.duration, np.full((len(passed), 1), low)))
        return [*known, *self.loads_at(passed, part)]

    def loads_at(self, passed: np.ndarray, part: np.ndarray) -> list[Numbers]:
        """The wrenches of loads at places that begin there and stand for such parts."""
        loads = self.phase.loads
        return [
            (symbols, np.hstack([load.sampled(passed + within * part) for load in loads]))
            for within, symbols in self.wrenches.items()
        ]

    def _symbol(self, name: str, value: Array) -> Array:
        if value.is_valid_input():
            return value
        symbol = ca.SX.sym(name, value.shape[0])
        self.lifts.append((symbol, value))
        return symbol

    def besides(self, q: Array, v: Array, part: float) -> Array:
        """What springs and known loads do at a part of the place."""
        sprung = spring_force(self.springs, self.model, q, v, self.parameters)
        loads = self.phase.loads
        if not loads:
            return sprung
        if part not in self.wrenches:
            self.wrenches[part] = ca.SX.sym("wrenches", SIZE * len(loads))
        return sprung + load_force(loads, self.model, q, self.wrenches[part])

    def torques(self, tau: Array) -> Array:
        """Torques of the motors as entries of v."""
        full = ca.SX.zeros(self.model.nv)
        full[self.actuated.tolist()] = tau
        return full
