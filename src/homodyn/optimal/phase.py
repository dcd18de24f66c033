"""A stretch of movement during which the same contacts hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from homodyn.dynamics import Constraint, ConstraintSet, Stabilization, row_names
from homodyn.errors import HomodynError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.optimal.applied import Load
from homodyn.optimal.conditions import Condition
from homodyn.optimal.samples import series
from homodyn.optimal.terms import Term

QUANTITIES = ("q", "v", "a", "force", "tau")
Transition = Literal["continuous", "impact", "mirror"]

Bounds = Mapping[str, Any]
"""By quantity: a pair of arrays or numbers, or by entry name a number or pair of numbers."""
Guess = Mapping[str, Any]
"""By quantity: one row of numbers, samples spread evenly, a function of the part of the phase that
has passed (0 to 1), or numbers by entry name."""


@dataclass(frozen=True, eq=False)
class Phase:
    """Contacts, duration, terms and conditions of one stretch of a movement.

    ``duration`` (s) is a number, or a pair of bounds when it is free. Contacts hold their points at
    rest from the start: heights on the ground, and where they are anchored. ``then`` tells how the
    next phase begins: with the same state, with velocities after an ``"impact"`` that brings its
    contacts about, or with the ``"mirror"`` image of the state.
    """

    name: str
    duration: float | tuple[float, float]
    contacts: Constraint = field(default_factory=ConstraintSet)
    terms: Sequence[Term] = ()
    conditions: Sequence[Condition] = ()
    intervals: int = 20
    bounds: Bounds = field(default_factory=dict)
    start: Bounds = field(default_factory=dict)
    """Bounds of q and v at the first node."""
    end: Bounds = field(default_factory=dict)
    """Bounds of q and v at the last node."""
    guess: Guess = field(default_factory=dict)
    then: Transition = "continuous"
    inherits: bool = False
    """Whether contacts of the first phase are at rest by a link to the last, and not by rows."""
    stabilization: Stabilization = field(default_factory=lambda: Stabilization.oscillator(10.0))
    loads: Sequence[Load] = ()
    """Known wrenches that act besides torques and contacts, such as measured ground forces."""

    def __post_init__(self) -> None:
        low, high = self.duration_bounds
        if not (np.isfinite([low, high]).all() and 0 < low <= high):
            raise HomodynError(
                f"phase {self.name!r}: duration is a positive number of seconds or a pair of them "
                f"in order, got {self.duration!r}"
            )
        if self.intervals < 1:
            raise HomodynError(f"phase {self.name!r} needs at least one interval")
        if self.then not in ("continuous", "impact", "mirror"):
            raise HomodynError(
                f"phase {self.name!r}: then is {self.then!r}; it may be continuous, impact, mirror"
            )
        for given, allowed in (
            (self.bounds, QUANTITIES),
            (self.start, ("q", "v")),
            (self.end, ("q", "v")),
            (self.guess, (*QUANTITIES, "duration", "impulse")),
        ):
            for key in given:
                if key not in allowed:
                    raise HomodynError(
                        f"phase {self.name!r} has {unknown_name('quantity', key, allowed)}"
                    )

    @property
    def duration_bounds(self) -> tuple[float, float]:
        """Shortest and longest duration (s)."""
        if isinstance(self.duration, tuple):
            return float(self.duration[0]), float(self.duration[1])
        return float(self.duration), float(self.duration)

    @property
    def duration_guess(self) -> float:
        """Where the search for the duration begins (s)."""
        return float(self.guess.get("duration", np.mean(self.duration_bounds)))


def entry_names(model: Model, contacts: Constraint, quantity: str) -> tuple[str, ...]:
    """Names of the entries of a quantity."""
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
    """Usual bounds with those that are given in their place; refuses an empty range."""
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
            f"{where}: bounds of {names[k]!r} leave nothing between {low[k]:g} and {high[k]:g}"
        )
    return low, high


def sampled(
    given: Any, names: tuple[str, ...], fractions: np.ndarray, usual: np.ndarray, where: str
) -> np.ndarray:
    """A guess at some parts of a phase, (len(fractions), entries); refuses what is not finite."""
    if given is None:
        values = np.tile(usual, (len(fractions), 1))
    elif isinstance(given, Mapping):
        values = np.tile(usual, (len(fractions), 1))
        for name, value in given.items():
            if name not in names:
                raise HomodynError(f"{where} has {unknown_name('entry', name, names)}")
            column = series(np.atleast_1d(np.asarray(value, dtype=float))[:, None], fractions)
            values[:, names.index(name)] = column[:, 0]
    else:
        values = series(given, fractions)
        if values.shape != (len(fractions), len(names)):
            raise HomodynError(
                f"{where} has {len(names)} entries, got samples of shape {values.shape[1:]}"
            )
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        sample, entry = bad[0]
        raise HomodynError(
            f"{where} is {values[sample, entry]} for {names[entry]!r} at {fractions[sample]:.0%} "
            "of the phase; a guess is finite everywhere"
        )
    return values
