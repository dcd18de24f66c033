"""Torques and ground forces from a recorded step, by the motion nearest to it that can be.

Felis 2015, section 5.3: recorded coordinates are tracked by a movement that obeys the laws of
motion and of contact, so no force is left over at the root and no foot pulls on the ground.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from homodyn.capture import (
    Trial,
    filter_motion,
    inverse_dynamics,
    inverse_kinematics,
)
from homodyn.dynamics import position
from homodyn.errors import CaptureError, HomodynError
from homodyn.gait.contact_schedule import SIDES, Footing
from homodyn.gait.reconstruction.problem import reconstruction_problem
from homodyn.model import Model
from homodyn.model.configuration import difference, rates
from homodyn.motion import (
    Loads,
    Motion,
)
from homodyn.optimal.solution import PhaseSolution, Solution

FRAMES = 101
"""Of the reconstructed movement between its nodes."""
LOADED = 1.0
"""N: upward force from which on a foot has a centre of pressure."""


@dataclass(frozen=True)
class ForceError:
    """How far ground forces are from measured ones, over the step."""

    side: str
    """``"Right"``, ``"Left"`` or ``"both"`` together."""
    rms: np.ndarray
    """(3,), N: forwards, to the left, upwards."""
    single: float
    """N: rms of the upward force where one foot stands."""
    double: float
    """N: the same where both do; NaN where they never do."""


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """A step as it can have been, beside the one that was recorded."""

    solution: Solution
    motion: Motion
    footings: tuple[Footing, ...]
    measured: Loads | None = None
    """What plates told, whether or not it was tracked."""
    tracked: bool = False
    """Whether measured forces were a term of the objective."""

    @property
    def time(self) -> np.ndarray:
        """(instants,), s on the clock of the recording: those of torques and forces."""
        return self.footings[0].begin + self.solution.joined("tau")[0]

    @property
    def tau(self) -> np.ndarray:
        """(instants, nv), N m or N; zero at the root."""
        return self.solution.joined("tau")[1]

    @property
    def weight(self) -> float:
        """Of the person (N)."""
        model = self.motion.model
        return float(model.mass * np.linalg.norm(np.asarray(model.gravity, dtype=float)))

    @property
    def per_kg(self) -> np.ndarray:
        """``tau`` over the mass of the person, N m/kg."""
        return self.tau / self.motion.model.mass

    def ground_force(self, side: str) -> np.ndarray:
        """(instants, 3), N: the force of the ground on the foot ``"Right"`` or ``"Left"``."""
        parts = []
        for phase, footing in zip(self.solution.phases, self.footings, strict=True):
            rows = footing.contacts.rows
            along = np.array([row.slide for row in rows]).reshape(-1, 3)
            mine = np.array([float(row.frame.endswith(side)) for row in rows])
            parts.append((phase.force * mine) @ along)
        return np.concatenate(parts)

    def pressure(self, side: str) -> np.ndarray:
        """(instants, 3), m: centre of pressure of a foot; NaN where it is not loaded."""
        parts = []
        for phase, footing in zip(self.solution.phases, self.footings, strict=True):
            q = _middles(phase)
            total, weighted = np.zeros(len(q)), np.zeros((len(q), 3))
            for k, row in enumerate(footing.contacts.rows):
                if row.frame.endswith(side) and row.slide == (0.0, 0.0, 1.0):
                    place = np.asarray(position(self.motion.model, q, row.frame))
                    total += phase.force[:, k]
                    weighted += phase.force[:, k, None] * place * (1.0, 1.0, 0.0)
            loaded = total > LOADED
            share = np.where(loaded, total, 1.0)[:, None]
            parts.append(np.where(loaded[:, None], weighted / share, np.nan))
        return np.concatenate(parts)

    @cached_property
    def deviation(self) -> np.ndarray:
        """(nodes, nv), rad or m: reconstructed less recorded coordinates at the nodes."""
        time, q = self.solution.joined("q")
        wanted = CubicSpline(self.motion.time, self.motion.q)(self.footings[0].begin + time)
        return np.asarray(difference(self.motion.model, wanted, q))

    @property
    def tracking_error(self) -> dict[str, float]:
        """By coordinate, the root of the mean squared distance (rad, m) from the recording."""
        off = np.sqrt((self.deviation**2).mean(axis=0))
        names = self.motion.model.coordinate_names
        return {name: float(value) for name, value in zip(names, off, strict=True)}

    @cached_property
    def fitted(self) -> Motion:
        """The reconstructed movement at equally spaced instants."""
        model = self.motion.model
        begin, end = self.footings[0].begin, self.footings[-1].end
        time = np.linspace(begin, end, FRAMES)
        q = np.zeros((FRAMES, model.nq))
        v, a = np.zeros((FRAMES, model.nv)), np.zeros((FRAMES, model.nv))
        for phase in self.solution.phases:
            # Where velocities jump, the later phase has the last word at the instant itself.
            mine = time - begin >= phase.time[0] - 1e-12
            q[mine], v[mine], a[mine] = _between(model, phase, time[mine] - begin)
        return Motion(model, time, q, v, a, method="reconstructed by optimal control")

    def force_errors(self) -> list[ForceError]:
        """Ground forces against the measured ones; empty without any that hold over the step."""
        if self.measured is None:
            return []
        clock = self.measured.motion.time
        inside = (clock >= self.time[0]) & (clock <= self.time[-1])
        if not self.measured.covered[inside].all():
            return []
        both = np.array([len({n[-4:] for n in f.points}) > 1 for f in self.footings])
        double = np.repeat(both, [len(p.control_time) for p in self.solution.phases])
        known = {}
        for side in SIDES:
            feet = [f for f in self.measured.feet if f.side == side.lower() and not f.predicted]
            if feet:
                force = np.sum([f.force for f in feet], axis=0)
                known[side] = self.ground_force(side) - _sampled(clock, force, self.time)
        if len(known) == len(SIDES):
            known["both"] = known["Right"] + known["Left"]
        return [
            ForceError(
                side,
                np.sqrt((off**2).mean(axis=0)),
                _rms(off[~double, 2]),
                _rms(off[double, 2]),
            )
            for side, off in known.items()
        ]

    @property
    def sentence(self) -> str:
        """What came out."""
        name, worst = max(self.tracking_error.items(), key=lambda pair: pair[1])
        phases = ", ".join(footing.name for footing in self.footings)
        return f"{self.solution.sentence}; {phases}; tracked within {worst:.4f} rms ({name})"


def reconstruct(motion: Motion, measured: Loads | None = None, **settings: Any) -> Reconstruction:
    """Torques and ground forces of one recorded step, by the nearest motion that can be.

    ``motion`` has smooth speeds and accelerations (``hd.capture.filter_motion``). Ground forces and
    moments in ``measured`` are tracked with the weight ``force`` (squares of parts of the weight);
    with ``force=0`` they are only compared with what is predicted. ``phases`` (`Footing`) are found
    in the motion when left out: ``events`` are those of the trial, or found too; ``span`` (s) is
    one step unless told. ``step`` (s) is the length of intervals, or ``intervals`` their number for
    each phase.

    ``recipe="close"`` also tracks speeds and accelerations, which count as much as coordinates
    whose error takes ``lag`` (s) to build up; ``"thesis"`` has the weights, bounds and touchdowns
    of Felis (2015). ``effort`` weighs squared torques, in parts of typical ones. ``friction``
    bounds sliding forces. ``touchdown="impact"`` lets velocities jump where a foot comes down.
    """
    usual = ("iterations", "seconds", "between", "verbose", "tolerance")
    names = (*usual, "hessian", "method", "refinements")
    options = {key: settings.pop(key) for key in names if key in settings}
    transcription = settings.pop("transcription", "shooting")
    if transcription in ("forward", "thesis"):
        raise HomodynError(
            f"reconstruct(): {transcription!r} keeps no contact forces; take 'shooting' or "
            "'collocation', or solve reconstruction_problem() yourself"
        )
    problem, stands = reconstruction_problem(motion, measured=measured, **settings)
    tracked = measured is not None and settings.get("force", 1.0) > 0
    return Reconstruction(
        problem.solve(transcription, **options), motion, stands, measured, tracked
    )


def reconstruct_trial(
    model: Model, trial: Trial, *, cutoff: float = 6.0, **settings: Any
) -> Reconstruction:
    """The whole way in one call: markers, coordinates, plates, and a step that can have been.

    ``cutoff`` (Hz) is that of the low-pass on coordinates and plates.
    """
    motion = filter_motion(inverse_kinematics(model, trial), cutoff=cutoff)
    measured = (
        inverse_dynamics(motion, trial.plates, cutoff=None, force_cutoff=cutoff)
        if trial.plates
        else None
    )
    settings.setdefault("events", tuple(trial.events) or None)
    return reconstruct(motion, measured, **settings)


def _middles(phase: PhaseSolution) -> np.ndarray:
    """Coordinates at the instants of the controls."""
    return np.column_stack([np.interp(phase.control_time, phase.time, c) for c in phase.q.T])


def _between(
    model: Model, phase: PhaseSolution, time: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """State between the nodes of a phase: cubics through positions and speeds."""
    slopes = np.asarray(rates(model, phase.q, phase.v)) if model.nq == model.nv else None
    if slopes is None:
        raise CaptureError(f"{model.name!r} has quaternions, between which no cubic is drawn")
    q = CubicHermiteSpline(phase.time, phase.q, slopes)(time)
    v = np.column_stack([np.interp(time, phase.time, column) for column in phase.v.T])
    a = np.column_stack([np.interp(time, phase.control_time, column) for column in phase.a.T])
    return q, v, a


def _sampled(known: np.ndarray, values: np.ndarray, time: np.ndarray) -> np.ndarray:
    return np.column_stack([np.interp(time, known, column) for column in values.T])


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt((values**2).mean())) if values.size else float("nan")
