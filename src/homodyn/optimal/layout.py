"""Where the unknowns of a phase stand in the long vector, and what they start from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from homodyn.model import Model
from homodyn.optimal.phase import Phase, bound_arrays, entry_names, sampled

SIZES = {"q": 1.0, "v": 3.0, "a": 30.0, "tau": 30.0}
"""Sizes (rad, rad/s, rad/s2, N m) in which unknowns are measured, unless guesses are larger."""

INSIDE = " inside"
"""Ends the names of states that are unknown between nodes, too."""


@dataclass(eq=False)
class Unknowns:
    """The long vector while it is laid out: bounds, guess, units and a name for each entry."""

    lower: list[np.ndarray] = field(default_factory=list)
    upper: list[np.ndarray] = field(default_factory=list)
    guess: list[np.ndarray] = field(default_factory=list)
    scale: list[np.ndarray] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def add(
        self,
        names: list[str],
        lower: np.ndarray,
        upper: np.ndarray,
        guess: np.ndarray,
        scale: np.ndarray,
    ) -> np.ndarray:
        """Append entries; returns their places."""
        first = len(self.names)
        inside = np.clip(guess, lower, upper)
        for column, values in zip(
            (self.lower, self.upper, self.guess, self.scale),
            (lower, upper, inside, scale),
            strict=True,
        ):
            column.append(np.broadcast_to(values, len(names)).astype(float))
        self.names += names
        return np.arange(first, len(self.names))


@dataclass(frozen=True, eq=False)
class PhaseLayout:
    """Places of the unknowns of one phase.

    ``index[quantity]`` has one row for each of ``fractions[quantity]``, the parts of the phase
    (0 to 1) at which the quantity is unknown.
    """

    phase: Phase
    index: dict[str, np.ndarray]
    fractions: dict[str, np.ndarray]
    duration: int
    """Place of the duration of the phase."""
    actuated: np.ndarray
    """Entries of v that torques drive."""
    settled: bool
    """Whether bounds fix the state at the start entirely."""


def actuated_entries(model: Model, names: tuple[str, ...] | None) -> np.ndarray:
    """Entries of v with a torque: those named, or all that the model declares actuated."""
    if names is not None:
        return np.array([model.coordinate_index(name) for name in names], dtype=int)
    return np.array(model.actuated, dtype=int)


def lay_out(
    unknowns: Unknowns,
    model: Model,
    phase: Phase,
    order: list[tuple[str, np.ndarray]],
    actuated: np.ndarray,
) -> PhaseLayout:
    """Add the unknowns of a phase, in the given order of quantities and parts of the phase."""
    wanted: dict[str, list[float]] = {}
    for quantity, fractions in order:
        wanted.setdefault(quantity, []).extend(fractions.tolist())
    plan = {key: planned(model, phase, key, np.array(at), actuated) for key, at in wanted.items()}
    index: dict[str, list[np.ndarray]] = {key: [] for key in wanted}
    for quantity, fractions in order:
        names, lower, upper, guess, scale = plan[quantity]
        for fraction in fractions:
            k = len(index[quantity])
            low, high = lower, upper
            # Only states at the boundaries have bounds of their own.
            for at, own, label in ((0.0, phase.start, "start"), (1.0, phase.end, "end")):
                if fraction == at and quantity in ("q", "v"):
                    where = f"phase {phase.name!r}, {label}, {quantity}"
                    low, high = bound_arrays(own.get(quantity), names, low, high, where)
            called = quantity.removesuffix(INSIDE)
            labels = [f"phase {phase.name!r}, {fraction:.1%}, {called} of {n}" for n in names]
            index[quantity].append(unknowns.add(labels, low, high, guess[k], scale))
    shortest, longest = phase.duration_bounds
    duration = unknowns.add(
        [f"phase {phase.name!r}, duration"],
        np.array([shortest]),
        np.array([longest]),
        np.array([phase.duration_guess]),
        np.array([phase.duration_guess]),
    )
    first = [index["q"][0], index["v"][0]]
    lows, highs = np.concatenate(unknowns.lower), np.concatenate(unknowns.upper)
    settled = all((lows[at] == highs[at]).all() for at in first)
    return PhaseLayout(
        phase,
        {
            key: np.array(places, dtype=int).reshape(len(wanted[key]), -1)
            for key, places in index.items()
        },
        {key: np.array(at) for key, at in wanted.items()},
        int(duration[0]),
        actuated,
        settled,
    )


def planned(
    model: Model, phase: Phase, key: str, fractions: np.ndarray, actuated: np.ndarray
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Names, bounds, guesses and units of a quantity, wherever in an interval it stands."""
    quantity = key.removesuffix(INSIDE)
    names = entry_names(model, phase.contacts, quantity)
    size = len(names)
    lower, upper, usual = np.full(size, -np.inf), np.full(size, np.inf), np.zeros(size)
    if quantity == "q":
        usual = model.neutral()
        for k, place in enumerate(model.position_index):
            if place is not None:
                lower[place], upper[place] = model.lower[k], model.upper[k]
    elif quantity == "v":
        lower, upper = -model.max_velocity, model.max_velocity.copy()
    elif quantity == "tau":
        lower, upper = -model.max_force, model.max_force.copy()
        # A motor whose strength nobody told is strong enough.
        lower[model.max_force <= 0], upper[model.max_force <= 0] = -np.inf, np.inf
    where = f"phase {phase.name!r}, {quantity}"
    lower, upper = bound_arrays(phase.bounds.get(quantity), names, lower, upper, where)
    guess = sampled(
        phase.guess.get(quantity),
        names,
        fractions,
        usual,
        f"phase {phase.name!r}, guess of {quantity}",
    )
    weight = model.mass * max(1.0, float(np.linalg.norm(np.asarray(model.gravity, dtype=float))))
    scale = np.full(size, SIZES.get(quantity, weight / 4))
    if quantity in ("v", "a"):
        scale = np.maximum(scale, np.abs(guess).max(initial=0.0))
    if quantity == "tau":
        chosen = tuple(names[k] for k in actuated)
        return chosen, lower[actuated], upper[actuated], guess[:, actuated], scale[actuated]
    return names, lower, upper, guess, scale
