"""Indices, bounds, guesses and scales of the decision variables of a phase."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from homodyn.model import Model
from homodyn.motion.clinical import resolve_coordinate
from homodyn.optimal.statement.muscle_drive import (
    ACTIVATION,
    EXCITATION,
    MUSCLE_QUANTITIES,
    TENDON_FORCE,
    TENDON_FORCE_RATE,
    MuscleDrive,
)
from homodyn.optimal.statement.phase import (
    KINEMATICS,
    STATES,
    Phase,
    bound_arrays,
    entry_names,
    sample_guess,
)
from homodyn.optimal.transcription.muscle_symbols import INTERIOR_SUFFIX, order_with_muscles

TYPICAL_SIZES = {
    "q": 1.0,
    "v": 3.0,
    "a": 30.0,
    "tau": 30.0,
    ACTIVATION: 1.0,
    EXCITATION: 1.0,
    TENDON_FORCE: 1.0,
    TENDON_FORCE_RATE: 10.0,
}
"""Scales (rad, rad/s, rad/s2, N m, 1, 1/s) of decision variables, unless guesses are larger."""

MUSCLE_BOUNDS = {
    ACTIVATION: (0.01, 1.0),
    EXCITATION: (0.0, 1.0),
    TENDON_FORCE: (0.0, 5.0),
    TENDON_FORCE_RATE: (-np.inf, np.inf),
}
"""Bounds of the variables of muscles, unless the phase states others."""
MUSCLE_GUESS = {ACTIVATION: 0.1, EXCITATION: 0.1, TENDON_FORCE: 0.1, TENDON_FORCE_RATE: 0.0}
"""Guesses of them, unless the phase states others."""


@dataclass(eq=False)
class DecisionVariables:
    """The vector of decision variables under construction: bounds, guess, scale and names."""

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
        """Append entries; returns their indices."""
        first, count = len(self.names), len(names)
        if not count:
            # Many points of a phase have no contact forces or no compliant tendons.
            return np.zeros(0, dtype=int)
        clipped = np.minimum(np.maximum(guess, lower), upper)
        for column, values in zip(
            (self.lower, self.upper, self.guess, self.scale),
            (lower, upper, clipped, scale),
            strict=True,
        ):
            entries = np.array(values, dtype=float)
            column.append(entries if entries.shape == (count,) else np.full(count, entries))
        self.names += names
        return np.arange(first, len(self.names))


@dataclass(frozen=True, eq=False)
class PhaseLayout:
    """Indices of the decision variables of one phase.

    ``index[quantity]`` has one row for each of ``fractions[quantity]``, the fractions of the phase
    (0 to 1) at which the quantity is a variable.
    """

    phase: Phase
    index: dict[str, np.ndarray]
    fractions: dict[str, np.ndarray]
    duration: int
    """Index of the duration of the phase."""
    actuated: np.ndarray
    """Entries of v with a torque."""
    start_is_fixed: bool
    """Whether bounds fix the whole state at the start."""
    muscles: MuscleDrive | None = None
    """How muscles act; None: they do not."""


def actuated_entries(
    model: Model, names: tuple[str, ...] | None, muscles: MuscleDrive | None = None
) -> np.ndarray:
    """Entries of v with a torque: those named, or those that the model declares.

    Beside muscles only those named have one.
    """
    if names is None:
        return np.array([] if muscles is not None else model.actuated, dtype=int)
    own = [resolve_coordinate(model, name).coordinate for name in names]
    return np.array([model.coordinate_index(name) for name in own], dtype=int)


def lay_out_phase(
    variables: DecisionVariables,
    model: Model,
    phase: Phase,
    order: list[tuple[str, np.ndarray]],
    actuated: np.ndarray,
    muscles: MuscleDrive | None = None,
) -> PhaseLayout:
    """Add the variables of a phase in the given order of quantities and fractions of the phase."""
    if muscles is not None:
        order = order_with_muscles(order)
    all_fractions: dict[str, list[float]] = {}
    for quantity, fractions in order:
        all_fractions.setdefault(quantity, []).extend(fractions.tolist())
    plan = {
        key: quantity_layout(model, phase, key, np.array(at), actuated, muscles)
        for key, at in all_fractions.items()
    }
    index: dict[str, list[np.ndarray]] = {key: [] for key in all_fractions}
    for quantity, fractions in order:
        names, lower, upper, guess, scale = plan[quantity]
        for fraction in fractions:
            k = len(index[quantity])
            low, high = lower, upper
            if phase.prescribed and quantity.removesuffix(INTERIOR_SUFFIX) in KINEMATICS:
                low = high = guess[k]
            # Only states at the boundaries have bounds of their own.
            for at, own, label in ((0.0, phase.start, "start"), (1.0, phase.end, "end")):
                if fraction == at and quantity in STATES:
                    where = f"phase {phase.name!r}, {label}, {quantity}"
                    low, high = bound_arrays(own.get(quantity), names, low, high, where)
            label_name = quantity.removesuffix(INTERIOR_SUFFIX)
            labels = [f"phase {phase.name!r}, {fraction:.1%}, {label_name} of {n}" for n in names]
            index[quantity].append(variables.add(labels, low, high, guess[k], scale))
    shortest, longest = phase.duration_bounds
    duration = variables.add(
        [f"phase {phase.name!r}, duration"],
        np.array([shortest]),
        np.array([longest]),
        np.array([phase.duration_guess]),
        np.array([phase.duration_guess]),
    )
    first = [index["q"][0], index["v"][0]]
    lows, highs = np.concatenate(variables.lower), np.concatenate(variables.upper)
    start_is_fixed = all((lows[at] == highs[at]).all() for at in first)
    return PhaseLayout(
        phase,
        {
            key: np.array(rows, dtype=int).reshape(len(all_fractions[key]), -1)
            for key, rows in index.items()
        },
        {key: np.array(at) for key, at in all_fractions.items()},
        int(duration[0]),
        actuated,
        start_is_fixed,
        muscles,
    )


def quantity_layout(
    model: Model,
    phase: Phase,
    key: str,
    fractions: np.ndarray,
    actuated: np.ndarray,
    muscles: MuscleDrive | None = None,
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Names, bounds, guesses and scales of a quantity at fractions of a phase."""
    quantity = key.removesuffix(INTERIOR_SUFFIX)
    names = entry_names(model, phase.contacts, quantity, muscles)
    size = len(names)
    lower, upper, default = np.full(size, -np.inf), np.full(size, np.inf), np.zeros(size)
    if quantity == "q":
        default = model.neutral()
        for k, place in enumerate(model.position_index):
            if place is not None:
                lower[place], upper[place] = model.lower[k], model.upper[k]
    elif quantity == "v":
        lower, upper = -model.max_velocity, model.max_velocity.copy()
    elif quantity == "tau":
        lower, upper = -model.max_force, model.max_force.copy()
        # No limit is known: the torque is unbounded.
        lower[model.max_force <= 0], upper[model.max_force <= 0] = -np.inf, np.inf
    elif quantity in MUSCLE_QUANTITIES:
        lower[:], upper[:] = MUSCLE_BOUNDS[quantity]
        default[:] = MUSCLE_GUESS[quantity]
    where = f"phase {phase.name!r}, {quantity}"
    lower, upper = bound_arrays(phase.bounds.get(quantity), names, lower, upper, where)
    given = phase.prescribed if quantity in phase.prescribed else phase.guess
    guess = sample_guess(
        given.get(quantity),
        names,
        fractions,
        default,
        f"phase {phase.name!r}, guess of {quantity}",
    )
    weight = model.mass * max(1.0, float(np.linalg.norm(np.asarray(model.gravity, dtype=float))))
    scale = np.full(size, TYPICAL_SIZES.get(quantity, weight / 4))
    if quantity in ("v", "a", TENDON_FORCE_RATE):
        scale = np.maximum(scale, np.abs(guess).max(initial=0.0))
    if quantity == "tau":
        chosen = tuple(names[k] for k in actuated)
        return chosen, lower[actuated], upper[actuated], guess[:, actuated], scale[actuated]
    return names, lower, upper, guess, scale
