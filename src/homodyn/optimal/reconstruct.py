"""Torques and ground forces from a recorded step, by the motion nearest to it that can be.

Felis 2015, section 5.3: recorded coordinates are tracked by a movement that obeys the laws of
motion and of contact, so no force is left over at the root and no foot pulls on the ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from homodyn.capture import Event, Loads, Motion, Trial, fit, loads, smoothed
from homodyn.capture.kinetics.newton_euler import root_columns
from homodyn.dynamics import constraint_jacobian, inverse_dynamics
from homodyn.model import Model
from homodyn.optimal.conditions import friction_cone, unilateral
from homodyn.optimal.footfalls import LIFTED, SIDES, Footing, footings
from homodyn.optimal.phase import Phase, Transition
from homodyn.optimal.problem import Problem
from homodyn.optimal.solution import Solution
from homodyn.optimal.terms import Term, contact_force, torque, track, track_coordinates, track_force

SETTLING = 1e-6
"""Weight of squared contact forces in the first guess, where many would do."""


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """A step as it can have been, beside the one that was recorded."""

    solution: Solution
    motion: Motion
    footings: tuple[Footing, ...]

    @property
    def time(self) -> np.ndarray:
        """(instants,), s on the clock of the recording: those of torques and forces."""
        return self.footings[0].begin + self.solution.joined("tau")[0]

    @property
    def tau(self) -> np.ndarray:
        """(instants, nv), N m or N; zero at the root."""
        return self.solution.joined("tau")[1]

    def ground_force(self, side: str) -> np.ndarray:
        """(instants, 3), N: the force of the ground on the foot ``"Right"`` or ``"Left"``."""
        parts = []
        for phase, footing in zip(self.solution.phases, self.footings, strict=True):
            rows = footing.contacts.rows
            along = np.array([row.slide for row in rows]).reshape(-1, 3)
            mine = np.array([float(row.frame.endswith(side)) for row in rows])
            parts.append((phase.force * mine) @ along)
        return np.concatenate(parts)

    @property
    def tracking_error(self) -> dict[str, float]:
        """By coordinate, the root of the mean squared distance (rad, m) from the recording."""
        time, q = self.solution.joined("q")
        wanted = CubicSpline(self.motion.time, self.motion.q)(self.footings[0].begin + time)
        off = np.sqrt(((q - wanted) ** 2).mean(axis=0))
        index = zip(
            self.motion.model.coordinate_names, self.motion.model.position_index, strict=True
        )
        return {name: float(off[place]) for name, place in index if place is not None}

    @property
    def sentence(self) -> str:
        """What came out."""
        name, worst = max(self.tracking_error.items(), key=lambda pair: pair[1])
        phases = ", ".join(footing.name for footing in self.footings)
        return f"{self.solution.sentence}; {phases}; tracked within {worst:.4f} rms ({name})"


def reconstruction_problem(
    motion: Motion,
    *,
    measured: Loads | None = None,
    events: Sequence[Event] | None = None,
    span: tuple[float, float] | None = None,
    step: float = 0.02,
    effort: float = 1e-6,
    lag: float = 0.1,
    force: float = 1.0,
    friction: float | None = None,
    touchdown: Transition = "continuous",
    lifted: float = LIFTED,
) -> tuple[Problem, tuple[Footing, ...]]:
    """The problem behind `reconstruct`, to be looked at or changed."""
    model = motion.model
    stands = tuple(footings(motion, span=span, events=events, lifted=lifted))
    splines = {key: CubicSpline(motion.time, getattr(motion, key)) for key in ("q", "v", "a")}
    phases = []
    for k, footing in enumerate(stands):
        lasting = footing.end - footing.begin
        intervals = max(3, round(lasting / step))
        at = {key: _Stretch(curve, footing.begin, lasting) for key, curve in splines.items()}
        terms: list[Term] = [
            1.0 * track_coordinates(at["q"]),
            lag**2 * track("velocities", lambda i: i.v, at["v"]),
            lag**4 * track("accelerations", lambda i: i.a, at["a"]),
            effort * torque(_torque_scale(model)),
            1e-6 * contact_force(),
        ]
        if measured is not None and force > 0:
            terms += _force_terms(measured, footing, lasting, force)
        conditions = [unilateral(*footing.points)]
        if friction is not None:
            conditions.append(friction_cone(friction, *footing.points))
        after = stands[k + 1] if k + 1 < len(stands) else None
        touching = after is not None and not set(after.points) <= set(footing.points)
        phases.append(
            Phase(
                f"{k + 1} {footing.name}",
                lasting,
                footing.contacts,
                terms,
                conditions,
                intervals,
                bounds=_bounds(model, at["q"]),
                guess=_guess(model, footing, at, intervals),
                then=touchdown if touching else "continuous",
            )
        )
    return Problem(model, phases), stands


def reconstruct(motion: Motion, measured: Loads | None = None, **settings: Any) -> Reconstruction:
    """Torques and ground forces of one recorded step, by the nearest motion that can be.

    ``motion`` has smooth speeds and accelerations (``hd.capture.smoothed``). Ground forces in
    ``measured`` are tracked with the weight ``force`` (squares of parts of the weight); without
    them they are predicted. ``events`` are those of the trial, found in the motion when left out;
    ``span`` (s) is one step unless told. ``step`` (s) is the length of intervals. ``lag`` (s)
    tells how speeds and accelerations count beside coordinates: an error that it takes this long
    to build up counts alike in all three. ``effort`` weighs squared torques, in parts of the
    strength, against them; ``friction`` bounds sliding forces. ``touchdown="impact"`` lets
    velocities jump where a foot comes down.
    """
    options = {
        key: settings.pop(key)
        for key in ("iterations", "seconds", "between", "verbose")
        if key in settings
    }
    problem, stands = reconstruction_problem(motion, measured=measured, **settings)
    return Reconstruction(problem.solve(**options), motion, stands)


def reconstruct_trial(
    model: Model, trial: Trial, *, cutoff: float = 6.0, **settings: Any
) -> Reconstruction:
    """The whole way in one call: markers, coordinates, plates, and a step that can have been.

    ``cutoff`` (Hz) is that of the low-pass on coordinates and plates.
    """
    motion = smoothed(fit(model, trial), cutoff=cutoff)
    measured = (
        loads(motion, trial.plates, cutoff=None, force_cutoff=cutoff) if trial.plates else None
    )
    settings.setdefault("events", tuple(trial.events) or None)
    return reconstruct(motion, measured, **settings)


@dataclass(frozen=True, eq=False)
class _Stretch:
    """A curve over a stretch of time, as a function of the part of it that has passed."""

    curve: CubicSpline
    begin: float
    lasting: float

    def __call__(self, fractions: np.ndarray) -> np.ndarray:
        return self.curve(self.begin + self.lasting * fractions)


def _torque_scale(model: Model) -> np.ndarray:
    """One over squared strengths (1/(N m)2), so that all motors count alike."""
    strength = np.where(
        np.isfinite(model.max_force) & (model.max_force > 0), model.max_force, 100.0
    )
    return 1 / strength**2


def _bounds(model: Model, q: _Stretch) -> dict[str, Any]:
    """Limits of the model, widened where the recording passes them."""
    seen = q(np.linspace(0, 1, 50))
    limits = {}
    names = zip(model.coordinate_names, model.position_index, strict=True)
    for k, (name, place) in enumerate(names):
        if place is not None:
            low = min(float(model.lower[k]), float(seen[:, place].min()) - 0.05)
            high = max(float(model.upper[k]), float(seen[:, place].max()) + 0.05)
            limits[name] = (low, high)
    return {"q": limits, "tau": (-np.inf, np.inf)}


def _guess(
    model: Model, footing: Footing, at: dict[str, _Stretch], intervals: int
) -> dict[str, Any]:
    """The recording itself, with the least contact forces that hold its root."""
    middles = (np.arange(intervals) + 0.5) / intervals
    q, v, a = (at[key](middles) for key in ("q", "v", "a"))
    needed = np.asarray(inverse_dynamics(model, q, v, a))
    G = np.asarray(constraint_jacobian(model, q, footing.contacts))
    root = list(root_columns(model))
    forces = np.zeros((intervals, G.shape[1]))
    for k in range(intervals):
        A = G[k][:, root].T
        eye = SETTLING * np.eye(A.shape[1])
        forces[k] = np.linalg.solve(A.T @ A + eye, A.T @ needed[k, root])
    tau = needed - np.einsum("kij,ki->kj", G, forces)
    guess = {key: at[key] for key in ("q", "v", "a")}
    return guess | {"force": _Samples(middles, forces), "tau": _Samples(middles, tau)}


@dataclass(frozen=True, eq=False)
class _Samples:
    """Values between known ones, by parts of a phase."""

    known: np.ndarray
    values: np.ndarray

    def __call__(self, fractions: np.ndarray) -> np.ndarray:
        return np.column_stack([np.interp(fractions, self.known, c) for c in self.values.T])


def _force_terms(measured: Loads, footing: Footing, lasting: float, weight: float) -> list[Term]:
    """Stay near the measured forces of the feet that stand, in parts of the weight."""
    model = measured.motion.model
    heavy = model.mass * float(np.linalg.norm(np.asarray(model.gravity, dtype=float)))
    usable = measured.usable if len(measured.usable) else np.ones(len(measured.tau), dtype=bool)
    time = measured.motion.time
    inside = (time >= footing.begin) & (time <= footing.end)
    if not usable[inside].all():
        return []
    terms = []
    for foot in measured.feet:
        side = next((s for s in SIDES if foot.side == s.lower()), None)
        points = [name for name in footing.points if side and name.endswith(side)]
        if points and not foot.predicted:
            curve = _Stretch(CubicSpline(time, foot.force), footing.begin, lasting)
            terms.append(weight * track_force(curve, *points, scale=1 / heavy**2))
    return terms
