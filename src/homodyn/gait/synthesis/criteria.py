"""How steps compare: every objective for every step, distances between them, forces, strides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.catalog import mirror_map
from homodyn.catalog.heiman_tables import typical_torques
from homodyn.dynamics import angular_velocity, momentum
from homodyn.gait.motion_similarity import Similarity
from homodyn.gait.synthesis.problem import (
    CRITERIA,
    FOOTINGS,
    OBJECTIVES,
    spring_set,
    synthesis_problem,
)
from homodyn.gait.synthesis.stored_steps import StoredStep
from homodyn.model import Model
from homodyn.motion import (
    Event,
    Motion,
)
from homodyn.optimal.between import law_of
from homodyn.optimal.inside import POINTS, inside

SAMPLES = 100
"""Instants at which two steps are compared."""
INSIDE = np.linspace(0.0, 1.0, 17)
"""Parts of each interval at which forces are looked at between the nodes."""


@dataclass(frozen=True, eq=False)
class Instants:
    """States of a step within its intervals, and the torques that act there."""

    phase: int
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    force: np.ndarray


def instants(step: StoredStep, parts: np.ndarray) -> list[Instants]:
    """States at the same parts of all intervals, and the controls there."""
    found = []
    for k, phase in enumerate(step.phases):
        count = len(phase.time) - 1
        interval = np.repeat(np.arange(count), len(parts))
        passed = (interval + np.tile(parts, count)) / count
        there = inside(phase, passed, interval)
        time = phase.time[0] + phase.duration * passed
        found.append(Instants(k, time, there.q, there.v, there.tau, there.force))
    return found


def criteria_of(model: Model, step: StoredStep) -> dict[str, float]:
    """All four criteria of a step, whatever it was best at (Felis 2015, eq. 5.23)."""
    typical = typical_torques()
    index = [model.coordinate_index(name) for name in typical]
    scale = np.array(list(typical.values()))
    total = dict.fromkeys(CRITERIA, 0.0)
    held = step.transcription == "shooting"
    points, shares = (np.array([0.5]), np.ones(1)) if held else (POINTS.points, POINTS.B)
    for at, phase in zip(instants(step, points), step.phases, strict=True):
        count = len(phase.time) - 1
        width = np.tile(shares, count) * phase.duration / count
        used = ((at.tau[:, index] / scale) ** 2).sum(axis=1)
        total["torque"] += float(width @ used) / (step.parameters["length"] * len(index))
        spin = np.asarray(momentum(model, at.q, at.v))[:, :3]
        total["angular-momentum"] += float(width @ (spin**2).sum(axis=1))
        head = np.asarray(angular_velocity(model, at.q, at.v, "Head"))
        total["head"] += float(width @ (head**2).sum(axis=1))
    total["time"] = step.duration
    return total


@dataclass(frozen=True, eq=False)
class CrossEvaluation:
    """Every step (rows) judged by every criterion (columns), as in table 6.6 of the thesis."""

    steps: tuple[str, ...]
    criteria: tuple[str, ...]
    values: np.ndarray

    @property
    def best(self) -> dict[str, str]:
        """By criterion, the step that is best at it."""
        rows = self.values.argmin(axis=0)
        return {name: self.steps[row] for name, row in zip(self.criteria, rows, strict=True)}

    @property
    def diagonal(self) -> bool:
        """Whether each step made for one criterion is the best at it."""
        pairs = ((c, f"{c} ") for c in self.criteria)
        made = {c: [s for s in self.steps if f"{s} ".startswith(start)] for c, start in pairs}
        return all(not own or self.best[c] in own for c, own in made.items())

    def __str__(self) -> str:
        wide = max(len(name) for name in self.steps)
        head = f"{'step':{wide}}  " + "  ".join(f"{c:>16}" for c in self.criteria)
        rows = [
            f"{name:{wide}}  " + "  ".join(f"{value:16.4g}" for value in row)
            for name, row in zip(self.steps, self.values, strict=True)
        ]
        return "\n".join([head, *rows])


def cross_evaluation(model: Model, steps: Sequence[StoredStep]) -> CrossEvaluation:
    """Judge all steps by all criteria."""
    rows = [list(criteria_of(model, step).values()) for step in steps]
    return CrossEvaluation(tuple(s.name for s in steps), CRITERIA, np.array(rows))


def similarity(one: StoredStep, two: StoredStep) -> Similarity:
    """Compare two steps at equal parts of their durations.

    The thesis prints a factor of one half and a grid that runs past the end; its own numbers have
    neither (table 6.5), and so have these.
    """
    parts = np.linspace(0.0, 1.0, SAMPLES)
    off = _at(one, parts * one.duration) - _at(two, parts * two.duration)
    return Similarity(float((off**2).mean()), (one.duration - two.duration) ** 2)


def _at(step: StoredStep, times: np.ndarray) -> np.ndarray:
    dense = instants(step, np.linspace(0.0, 1.0, 9))
    time, q = np.concatenate([d.time for d in dense]), np.concatenate([d.q for d in dense])
    time, first = np.unique(time, return_index=True)
    return np.column_stack([np.interp(times, time, column) for column in q[first].T])


def stride(model: Model, step: StoredStep, *, steps: int = 2, rate: float = 100.0) -> Motion:
    """The step and its mirror images one after the other, at equal distances of time."""
    lasting = step.duration
    image = mirror_map(model)
    count = max(int(steps * lasting * rate), 2)
    time = np.linspace(0.0, steps * lasting, count + 1)
    q = np.zeros((len(time), model.nq))
    forward = model.coordinate_index("Pelvis_TX")
    travelled = float(step.phases[-1].q[-1, forward] - step.phases[0].q[0, forward])
    for n in range(steps):
        own = (time >= n * lasting - 1e-9) & (time <= (n + 1) * lasting + 1e-9)
        part = _at(step, np.clip(time[own] - n * lasting, 0.0, lasting))
        if n % 2:
            part = np.array([np.asarray(image.position(row)).reshape(-1) for row in part])
        part[:, forward] += n * travelled
        q[own] = part
    v = np.asarray(np.gradient(q, time, axis=0))
    a = np.asarray(np.gradient(v, time, axis=0))
    return Motion(model, time, q, v, a, method=f"step {step.name!r} and its mirror image")


def stride_events(step: StoredStep, *, steps: int = 2) -> list[Event]:
    """Foot strikes and foot offs of the step and its mirror images."""
    strike, lasting = float(step.phases[2].time[0]), step.duration
    feet = ("Left", "Right")
    found = []
    for n in range(steps):
        lands, stands = feet[n % 2], feet[1 - n % 2]
        found.append(Event(n * lasting + strike, "Foot Strike", lands))
        found.append(Event((n + 1) * lasting, "Foot Off", stands))
    return found


def ground_forces(
    step: StoredStep, side: str, *, ends: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Times (s) and forces (N) of the ground on the foot ``"Right"`` or ``"Left"``.

    Where they are held, once in each interval; else at its points and, with ``ends``, at its begin
    and end, where they may jump.
    """
    held = step.transcription == "shooting"
    points = np.array([0.0, *POINTS.points, 1.0]) if ends else POINTS.points
    parts = np.array([0.5]) if held else points
    times, forces = [], []
    for at, footing in zip(instants(step, parts), FOOTINGS, strict=True):
        rows = footing.contacts.rows
        along = np.array([row.slide for row in rows]).reshape(-1, 3)
        mine = np.array([float(row.frame.endswith(side)) for row in rows])
        times.append(at.time)
        forces.append((at.force * mine) @ along)
    return np.concatenate(times), np.concatenate(forces)


def lowest_force(model: Model, step: StoredStep) -> dict[str, float]:
    """By contact, the least upward force (N) along the step, between the nodes too.

    Forces there come from forward dynamics under the torques and springs of the step.
    """
    springs = spring_set(model)[0] if "Hip_RY stiffness" in step.parameters else ()
    goal = step.objective or OBJECTIVES["mixed"]
    phases = synthesis_problem(model, objective=goal).phases
    least: dict[str, float] = {}
    for at, phase in zip(instants(step, INSIDE), phases, strict=True):
        law = law_of(model, phase, springs)
        numbers = np.array([[step.parameters[name] for name in law.parameters]])
        none = np.zeros((len(at.q), 0))
        forces = law.kernel(at.q, at.v, at.tau, numbers, none)[2]
        for k, row in enumerate(phase.contacts.rows):
            if row.slide == (0.0, 0.0, 1.0):
                low = float(forces[:, k].min())
                least[row.frame] = min(low, least.get(row.frame, np.inf))
    return least
