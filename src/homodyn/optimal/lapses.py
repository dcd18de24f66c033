"""Conditions between the nodes: what is missed on the way there.

A transcription obeys conditions at finitely many instants. Here they are looked at along intervals
that were run again by forward dynamics (`between`), with the forces that the contacts have there.
Each condition tells its slack: by how much it may be missed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import casadi as ca
import numpy as np

from homodyn.model import Model
from homodyn.optimal.between import Again
from homodyn.optimal.conditions import Condition, Place
from homodyn.optimal.demands import Demands
from homodyn.optimal.instant import Instant

PLACES: tuple[Place, ...] = get_args(Place)


@dataclass(frozen=True)
class Lapse:
    """The worst miss of one row of a condition in a phase."""

    phase: str
    what: str
    """Condition, and contact or coordinate."""
    time: float
    """s, from the start of the movement."""
    amount: float
    """In the unit of the condition."""
    share: float
    """Of its slack; more than one is too much."""

    def __str__(self) -> str:
        return (
            f"phase {self.phase!r}, {self.time:.3f} s, between nodes: {self.what} is off by "
            f"{self.amount:.3g}"
        )


def lapses(
    model: Model, ran: Sequence[Again], parameters: Mapping[str, float]
) -> tuple[Lapse, ...]:
    """What is missed between the nodes, the worst first; conditions without slack are left out."""
    found = [
        lapse
        for again in ran
        for place in PLACES
        for lapse in _of_phase(model, again, place, parameters)
    ]
    return tuple(sorted(found, key=lambda lapse: -lapse.share))


def _of_phase(
    model: Model, again: Again, place: Place, parameters: Mapping[str, float]
) -> list[Lapse]:
    chosen = [c for c in again.phase.conditions if c.when == place and c.slack is not None]
    where = _where(again, place)
    if not chosen or not where.any():
        return []
    values, asked = _values(model, again, chosen, where, parameters)
    low, high = (np.array(side) for side in asked.bounds)
    off = np.maximum(low - values, values - high)
    worst = off.argmax(axis=0)
    amounts, times = off[worst, np.arange(len(worst))], again.time[where][worst]
    slack = np.repeat([_slack(c, model) for c in chosen], asked.counts)
    # Written so that a number that is none is a lapse.
    return [
        Lapse(again.phase.name, name, float(time), float(amount), float(amount / room))
        for name, time, amount, room in zip(asked.names, times, amounts, slack, strict=True)
        if not amount <= 0
    ]


def _where(again: Again, place: Place) -> np.ndarray:
    """(instants, intervals): whether a condition of that place is asked for there."""
    passed = again.part
    if place == "path":
        return np.ones_like(passed, dtype=bool)
    if place == "inside":
        return (passed > 0.0) & (passed < 1.0)
    only = np.zeros_like(passed, dtype=bool)
    # At the end it is the node that counts, and not where the last interval arrives.
    only[(0, 0) if place == "start" else (-1, -1)] = True
    return only


def _slack(condition: Condition, model: Model) -> float:
    given = condition.slack
    return float(given(model) if callable(given) else given or 0.0)


def _values(
    model: Model,
    again: Again,
    chosen: Sequence[Condition],
    where: np.ndarray,
    parameters: Mapping[str, float],
) -> tuple[np.ndarray, Demands]:
    """(instants, rows) of conditions, and what they are called."""
    quantities = [x[where] for x in (again.q, again.v, again.a, again.tau, again.force)]
    symbols = [ca.SX.sym("x", x.shape[1]) for x in quantities]
    q, v, a, tau, force = symbols
    elapsed = ca.SX.sym("elapsed")
    lasting = float(again.time[-1, -1] - again.time[0, 0])
    known = {name: ca.SX(value) for name, value in parameters.items()}
    contacts = again.phase.contacts
    instant = Instant(model, q, v, a, tau, force, contacts, elapsed, ca.SX(lasting), known)
    asked = Demands()
    asked.obey(chosen, instant, f"phase {again.phase.name!r}")
    law = ca.Function("conditions", [*symbols, elapsed], [ca.densify(asked.values)])
    passed = (again.time - again.time[0, 0])[where]
    return np.array(law.map(len(passed))(*(x.T for x in quantities), passed[None, :])).T, asked
