"""A phase: a part of a movement with constant contacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

import numpy as np

from homodyn.dynamics import ConstraintSet
from homodyn.dynamics.constraints import Constraint, Stabilization, row_names
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of, unknown_name
from homodyn.model import Model
from homodyn.optimal.statement.external_loads import ExternalLoad
from homodyn.optimal.statement.muscle_drive import (
    MUSCLE_QUANTITIES,
    MUSCLE_STATES,
    MuscleDrive,
)
from homodyn.optimal.statement.objective_terms import ObjectiveTerm
from homodyn.optimal.statement.path_constraints import PathConstraint
from homodyn.optimal.statement.phase_series import PhaseSeries, evaluate_series

KINEMATICS = ("q", "v", "a")
QUANTITIES = (*KINEMATICS, "force", "tau", *MUSCLE_QUANTITIES)
STATES = ("q", "v", *MUSCLE_STATES)
TRANSITIONS = ("continuous", "impact", "mirror", "separate")
Transition = Literal["continuous", "impact", "mirror", "separate"]

Bounds = Mapping[str, Any]
"""By quantity: a pair of arrays or numbers, or by entry name a number or a pair of numbers."""
Guess = Mapping[str, Any]
"""By quantity: one row of numbers, evenly spaced samples, a function of the fraction of the phase
(0 to 1), or numbers by entry name."""


@record
class Phase(Record):
    """Contacts, duration, objective terms and constraints of one part of a movement.

    Contact points are at rest from the start: heights on the ground, other directions where they
    are anchored.

    Attributes:
        name: Name, unique within the problem.
        duration: s; a pair of bounds where it is free.
        contacts: Contacts that are active during the phase.
        terms: Terms of the objective.
        constraints: Path constraints, also those at the start and the end of the phase.
        intervals: Number of intervals of the mesh.
        bounds: By quantity (``"q"``, ``"v"``, ``"a"``, ``"force"``, ``"tau"``, and for muscles
            ``"activation"``, ``"excitation"``, ``"tendon_force"``, ``"tendon_force_rate"``), a pair
            of numbers or arrays, or numbers and pairs by name of the entry.
        start: Bounds of the states (q, v, and those of muscles) at the first node.
        end: Bounds of the states at the last node.
        guess: Initial guess by quantity (also ``"duration"`` and ``"impulse"``): one row, evenly
            spaced samples, a function of the fraction of the phase, or numbers by name.
        transition: How the next phase begins: ``"continuous"`` with the same state, ``"impact"``
            with the velocities after an impact with its contacts, ``"mirror"`` with the mirror
            image of the state, ``"separate"`` with any state: the next phase belongs to another
            movement, which shares only the parameters of the problem.
        periodic_start: Whether the contacts of the first phase are at rest at the start because of
            a periodicity constraint, so that no rows are needed for it.
        stabilization: Baumgarte stabilization of the contacts.
        external_loads: Known wrenches that act besides torques and contacts.
        compliant: Whether contacts may yield, like the sole of a shoe: they carry forces, but their
            points are neither placed nor held at rest. Terms of the objective keep them in place.
        impulse_constraints: Constraints of the impact with which the phase begins: the forces of
            their time point are the impulses (N s), so that `unilateral` and `friction_cone` apply.
        prescribed: A given movement: ``"q"``, ``"v"`` and ``"a"`` over the phase. Only forces,
            torques and muscles are then solved for.
    """

    name: str
    duration: float | tuple[float, float]
    contacts: Constraint = field(default_factory=ConstraintSet)
    terms: Sequence[ObjectiveTerm] = ()
    constraints: Sequence[PathConstraint] = ()
    intervals: int = 20
    bounds: Bounds = field(default_factory=dict)
    start: Bounds = field(default_factory=dict)
    end: Bounds = field(default_factory=dict)
    guess: Guess = field(default_factory=dict)
    transition: Transition = "continuous"
    periodic_start: bool = False
    stabilization: Stabilization = field(default_factory=lambda: Stabilization.oscillator(10.0))
    external_loads: Sequence[ExternalLoad] = ()
    compliant: bool = False
    impulse_constraints: Sequence[PathConstraint] = ()
    prescribed: Mapping[str, PhaseSeries] = field(default_factory=dict)

    def __post_init__(self) -> None:
        low, high = self.duration_bounds
        if not (np.isfinite([low, high]).all() and 0 < low <= high):
            raise HomodynError(
                f"phase {self.name!r}: duration is a positive number of seconds or a pair of them "
                f"in order, got {self.duration!r}"
            )
        if self.intervals < 1:
            raise HomodynError(f"phase {self.name!r} needs at least one interval")
        if self.transition not in TRANSITIONS:
            raise HomodynError(
                f"phase {self.name!r}: {unknown_name('transition', self.transition, TRANSITIONS)}"
            )
        for term in self.terms:
            if not isinstance(term, ObjectiveTerm):
                raise HomodynError(
                    f"phase {self.name!r}: terms are objective terms, got {term!r}; make one of a "
                    "function with homodyn.optimal.ObjectiveTerm, or use torque(), tracking(), ..."
                )
        for given, allowed in (
            (self.bounds, QUANTITIES),
            (self.start, STATES),
            (self.end, STATES),
            (self.guess, (*QUANTITIES, "duration", "impulse")),
            (self.prescribed, KINEMATICS),
        ):
            for key in given:
                if key not in allowed:
                    raise HomodynError(
                        f"phase {self.name!r} has {unknown_name('quantity', key, allowed)}"
                    )
        if self.prescribed and (set(self.prescribed) != set(KINEMATICS) or low < high):
            raise HomodynError(
                f"phase {self.name!r}: a prescribed movement needs q, v and a, and a fixed duration"
            )

    def __repr__(self) -> str:
        return self.headline()

    def headline(self) -> str:
        """Name, duration and sizes."""
        low, high = self.duration_bounds
        span = f"{low:g} s" if low == high else f"{low:g} to {high:g} s"
        return (
            f"Phase({self.name!r}, {span}, {self.intervals} intervals, "
            f"{count_of(len(self.contacts.rows), 'contact row')}, "
            f"{count_of(len(self.terms), 'term')}, "
            f"{count_of(len(self.constraints), 'constraint')})"
        )

    @property
    def duration_bounds(self) -> tuple[float, float]:
        """Shortest and longest duration (s)."""
        if isinstance(self.duration, tuple):
            return float(self.duration[0]), float(self.duration[1])
        return float(self.duration), float(self.duration)

    @property
    def duration_guess(self) -> float:
        """Initial guess of the duration (s)."""
        return float(self.guess.get("duration", np.mean(self.duration_bounds)))


def entry_names(
    model: Model, contacts: Constraint, quantity: str, muscles: MuscleDrive | None = None
) -> tuple[str, ...]:
    """Names of the entries of a quantity."""
    if quantity in MUSCLE_QUANTITIES:
        return muscles.variable_names(model, quantity) if muscles is not None else ()
    if quantity == "force":
        return row_names(contacts)
    if quantity != "q" or model.nq == model.nv:
        return model.coordinate_names
    names = [""] * model.nq
    for name, place in zip(model.coordinate_names, model.position_index, strict=True):
        if place is not None:
            names[place] = name
    for joint, slots in zip(model.joints, model.joint_slots, strict=True):
        for k, place in enumerate(range(slots.q.start, slots.q.stop)):
            names[place] = names[place] or f"{joint.name}[{k}]"
    return tuple(names)


def bound_arrays(
    given: Any, names: tuple[str, ...], lower: np.ndarray, upper: np.ndarray, where: str
) -> tuple[np.ndarray, np.ndarray]:
    """Default bounds, overridden by those that are given; refuses an empty range."""
    low, high = lower.copy(), upper.copy()
    if isinstance(given, Mapping):
        for name, value in given.items():
            if name not in names:
                raise HomodynError(f"{where} has {unknown_name('entry', name, names)}")
            pair = value if isinstance(value, tuple) else (value, value)
            low[names.index(name)], high[names.index(name)] = pair
    elif isinstance(given, tuple):
        low[:], high[:] = given
    elif given is not None:
        low[:] = high[:] = given
    wrong = np.flatnonzero(~(low <= high))
    if len(wrong):
        k = int(wrong[0])
        raise HomodynError(
            f"{where}: the bounds of {names[k]!r} are the empty range from {low[k]:g} to "
            f"{high[k]:g}"
        )
    return low, high


def sample_guess(
    given: Any, names: tuple[str, ...], fractions: np.ndarray, default: np.ndarray, where: str
) -> np.ndarray:
    """A guess at fractions of a phase, (len(fractions), entries); refuses values not finite."""
    if given is None:
        values = np.tile(default, (len(fractions), 1))
    elif isinstance(given, Mapping):
        values = np.tile(default, (len(fractions), 1))
        for name, value in given.items():
            if name not in names:
                raise HomodynError(f"{where} has {unknown_name('entry', name, names)}")
            samples = np.atleast_1d(np.asarray(value, dtype=float))[:, None]
            values[:, names.index(name)] = evaluate_series(samples, fractions)[:, 0]
    else:
        values = evaluate_series(given, fractions)
        if values.shape != (len(fractions), len(names)):
            raise HomodynError(
                f"{where} has {count_of(len(names), 'entry', 'entries')}, got samples of shape "
                f"{values.shape[1:]}"
            )
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        sample, entry = bad[0]
        raise HomodynError(
            f"{where} is {values[sample, entry]} for {names[entry]!r} at {fractions[sample]:.0%} "
            "of the phase; a guess must be finite everywhere"
        )
    return values
