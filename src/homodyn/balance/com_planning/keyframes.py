"""Balanced paths of the center of mass through given positions at given instants.

The integrals of squared velocity and jerk are minimized with the positions of the key frames
imposed and balance required at them (Qiu 2012, section 5.3). An imposed position makes the wrench
linear in the control points, so this is a convex quadratic program. Then a dense grid is checked,
and an instant is inserted where the margin is smallest. Its position is free, so its wrench is
linearized about the last path, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from scipy.optimize import linprog

from homodyn.balance.com_planning.plan_check import PlanCheck, PlanConstraints, check_plan
from homodyn.balance.com_planning.plan_options import PlanWeights
from homodyn.errors import ModelError, NoSolution
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.motion import Scene
from homodyn.motion.bspline import ComSpline, basis_matrix
from homodyn.motion.scene import ComPlanRequest

MAX_ROUNDS = 40
MARGIN_RESERVE = 1e-3
"""N or N m required at key frames beyond the minimum margin of the plan."""
MIN_INSTANT_DISTANCE_S = 1e-3
"""Inserted instants closer than this are identical."""


@record
class KeyFrames(Record):
    """Positions of the center of mass at given instants, from start to end.

    Raises:
        ModelError: The instants do not increase from 0, or there is not one position per instant.
    """

    time: np.ndarray
    """(frames,), s, increasing from 0."""
    positions: np.ndarray
    """(frames, 3), m."""
    control_points: int = 16
    """Minimum number of control points; more are used where the frames need them."""

    def __post_init__(self) -> None:
        time, positions = np.array(self.time, dtype=float), np.array(self.positions, dtype=float)
        if time.ndim != 1 or len(time) < 2 or not (np.diff(time) > 0).all() or time[0] != 0:
            raise ModelError(f"instants of key frames increase from 0 s, got {time.tolist()}")
        if positions.shape != (len(time), 3) or not np.isfinite(positions).all():
            raise ModelError(
                f"{len(time)} key frames need {len(time)} finite positions, got {positions.shape}"
            )
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "positions", positions)

    def headline(self) -> str:
        """Number of frames and duration."""
        return f"KeyFrames: {count_of(len(self.time), 'frame')} in {self.time[-1]:g} s"


@dataclass(frozen=True, eq=False)
class KeyFramePath:
    """A path through key frames."""

    spline: ComSpline
    durations: np.ndarray
    """(phases,), s."""
    check: PlanCheck
    inserted: tuple[float, ...]
    """s: instants that were inserted."""
    rounds: int


@dataclass(frozen=True, eq=False)
class _BalancedInstant:
    """An instant at which balance is required, in one phase or in both phases of a change."""

    time: float
    phases: tuple[int, ...]
    place: np.ndarray | None = None
    """Imposed position (m); None where it is free."""


def plan_through_keyframes(
    scene: Scene,
    frames: KeyFrames | None,
    constraints: PlanConstraints,
    *,
    min_margin: float = 0.0,
    weights: PlanWeights | None = None,
) -> KeyFramePath:
    """The smoothest path through key frames with a margin of ``min_margin`` at every instant."""
    changes = _phase_changes(scene)
    frames = frames or _scene_keyframes(scene, changes)
    if abs(frames.time[-1] - changes[-1]) > 1e-6:
        raise ModelError(
            f"the key frames end at {frames.time[-1]:g} s and the phases at {changes[-1]:g} s"
        )
    names = [step.name for step in scene.steps]
    plan, unit = constraints.plan, constraints.objective.margin.unit
    reserve = min_margin + MARGIN_RESERVE
    required = [
        _BalancedInstant(t, _phases_at(changes, t), place)
        for t, place in zip(frames.time, frames.positions, strict=True)
    ]
    for instant in required:
        _refuse_unbalanced(scene, constraints, instant, reserve)
    instants = _knots(frames, plan.degree)
    program = _SmoothnessProgram(plan, frames, instants, weights or PlanWeights())
    inserted: list[float] = []
    spline: ComSpline | None = None
    for count in range(1, MAX_ROUNDS + 1):
        rows, bounds = _balance_rows(constraints, required, instants, spline, reserve)
        points = program.solve(rows, bounds)
        if points is None:
            added = f", after instants {_list_instants(inserted)} s were added" if inserted else ""
            where = _phases_at(changes, inserted[-1])[0] if inserted else 0
            raise NoSolution(
                f"scene {scene.name!r}: no path of degree {plan.degree} through the "
                f"{count_of(len(frames.time), 'key frame')} keeps the margin {min_margin:g} "
                f"{unit}{added}; phase {names[where]!r} cannot be satisfied. "
                "Move its key frames or give it more time"
            )
        previous, spline = spline, ComSpline(plan.degree, instants, points)
        check = check_plan(spline, changes, constraints)
        if check.smallest >= min_margin:
            return KeyFramePath(spline, np.diff(changes), check, tuple(inserted), count)
        worst = float(check.time[check.worst])
        if all(abs(t - worst) >= MIN_INSTANT_DISTANCE_S for t in inserted):
            inserted.append(worst)
            required.append(_BalancedInstant(worst, _phases_at(changes, worst)))
        elif previous is not None and np.abs(points - previous.points).max() < 1e-9:
            break
    raise NoSolution(
        f"scene {scene.name!r}: instants {_list_instants(inserted)} s were added and still "
        f"{check.violation(names, unit)}"
    )


def _phase_changes(scene: Scene) -> np.ndarray:
    """(phases + 1,), s: changes of support from the start of the first phase."""
    if not scene.timed:
        raise ModelError(
            f"scene {scene.name!r}: a plan through key frames needs the duration of every phase; "
            "give durations, or use the method 'timing-free'"
        )
    return np.asarray(scene.instants - scene.instants[0])


def _scene_keyframes(scene: Scene, changes: np.ndarray) -> KeyFrames:
    """Positions on the path of a scene at its changes of support."""
    if scene.path is None:
        raise ModelError(f"scene {scene.name!r} has no path for key frames; give keyframes")
    return KeyFrames(changes, scene.path.at(changes + scene.path.instants[0]))


def _list_instants(instants: Sequence[float]) -> str:
    return ", ".join(f"{t:.3f}" for t in instants)


def _phases_at(changes: np.ndarray, t: float) -> tuple[int, ...]:
    """Indices of the phases at an instant: two at a change of support."""
    return tuple(
        k for k in range(len(changes) - 1) if changes[k] - 1e-9 <= t <= changes[k + 1] + 1e-9
    )


def _knots(frames: KeyFrames, degree: int) -> np.ndarray:
    """Instants of key frames, and middles of the longest spans until there are enough points."""
    instants = list(frames.time)
    # Positions at all frames and rest at both ends, and as many again for smoothness and balance.
    control_points = max(frames.control_points, 2 * len(frames.time) + 2)
    while len(instants) - 1 + degree < control_points:
        k = int(np.diff(instants).argmax())
        instants.insert(k + 1, (instants[k] + instants[k + 1]) / 2)
    return np.array(instants)


def _balance_rows(
    constraints: PlanConstraints,
    required: Sequence[_BalancedInstant],
    instants: np.ndarray,
    spline: ComSpline | None,
    reserve: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows over control points (x, y, z one after another) and bounds: balance at instants."""
    parts = [
        _instant_rows(constraints, constraints.facets[k], instant, instants, spline, reserve)
        for instant in required
        for k in instant.phases
    ]
    return np.vstack([rows for rows, _ in parts]), np.concatenate([bounds for _, bounds in parts])


def _instant_rows(
    constraints: PlanConstraints,
    facets: np.ndarray,
    instant: _BalancedInstant,
    instants: np.ndarray,
    spline: ComSpline | None,
    reserve: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and bounds of balance at one instant in one phase."""
    degree, time = constraints.plan.degree, np.array([instant.time])
    position = basis_matrix(instants, degree, time)[0]
    second = basis_matrix(instants, degree, time, 2)[0]
    mass, gravity = constraints.mass, constraints.gravity
    if instant.place is not None:
        com, force = instant.place, np.zeros(3)
    else:
        assert spline is not None
        com, force = spline.at(instant.time), constraints.force(spline.at(instant.time, 2))
    moment = facets[:, :3]
    at_com = facets[:, 3:6] + np.cross(moment, com)
    length = constraints.objective.row_lengths(moment, at_com)
    rows = mass * at_com[:, :, None] * second
    limit = facets[:, 6] + mass * at_com @ gravity
    if instant.place is None:
        # p x f about the last path: p0 x f + (p - p0) x f0.
        lever = np.cross(force, moment)
        rows = rows + lever[:, :, None] * position
        limit = limit + lever @ com
    return rows.reshape(len(facets), -1) / length[:, None], limit / length - reserve


def _refuse_unbalanced(
    scene: Scene, constraints: PlanConstraints, instant: _BalancedInstant, reserve: float
) -> None:
    """Refuse a key frame that is out of balance for every acceleration."""
    place = np.asarray(instant.place)
    for k in instant.phases:
        facets = constraints.facets[k]
        at_com = facets[:, 3:6] + np.cross(facets[:, :3], place)
        solution = linprog(
            [0.0, 0.0, 0.0, -1.0],
            A_ub=np.c_[at_com, constraints.objective.row_lengths(facets[:, :3], at_com)],
            b_ub=facets[:, 6],
            bounds=[(None, None)] * 3 + [(None, 1e6)],
            method="highs",
        )
        if solution.status == 0 and solution.x[3] < reserve:
            raise NoSolution(
                f"scene {scene.name!r}: at the key frame of {instant.time:.3f} s, in phase "
                f"{scene.steps[k].name!r}, no acceleration is in balance at {place} m: the margin "
                f"is at most {solution.x[3]:.3g} {constraints.objective.margin.unit}"
            )


class _SmoothnessProgram:
    """Smoothness of a spline with the positions of key frames imposed, under balance rows."""

    def __init__(
        self, plan: ComPlanRequest, frames: KeyFrames, instants: np.ndarray, weights: PlanWeights
    ) -> None:
        degree = plan.degree
        ends = instants[[0, -1]]
        value = basis_matrix(instants, degree, frames.time)
        at_rest = np.array([plan.start_at_rest, plan.finish_at_rest], dtype=bool)
        rest = basis_matrix(instants, degree, ends, 1)[at_rest]
        equations = np.vstack([value, rest])
        time = np.linspace(ends[0], ends[1], 50 * len(instants))
        step = time[1] - time[0]
        velocity = basis_matrix(instants, degree, time, 1)
        jerk = basis_matrix(instants, degree, time, 3)
        cost = step * (weights.velocity * velocity.T @ velocity + weights.jerk * jerk.T @ jerk)
        self.count = value.shape[1]
        vertical = step * weights.height * velocity.T @ velocity
        self.cost = 2 * np.kron(np.eye(3), cost)
        self.cost[2 * self.count :, 2 * self.count :] += 2 * vertical
        self.cost += 1e-10 * np.eye(len(self.cost)) * np.abs(self.cost).max()
        self.equations = np.kron(np.eye(3), equations)
        target = np.vstack([frames.positions, np.zeros((len(rest), 3))])
        self.target = target.T.ravel()

    def solve(self, rows: np.ndarray, bounds: np.ndarray) -> np.ndarray | None:
        """(control points, 3), m; None if there is no solution."""
        # Rows in units of force are much larger than those of length.
        scale = np.abs(rows).max(axis=1)
        matrix = np.vstack([self.equations, rows / scale[:, None]])
        lower = np.r_[self.target, np.full(len(bounds), -np.inf)]
        upper = np.r_[self.target, bounds / scale]
        h, a = ca.DM(self.cost), ca.DM(matrix)
        solver = ca.conic(
            "frames",
            "highs",
            {"h": h.sparsity(), "a": a.sparsity()},
            {"error_on_fail": False, "highs": {"output_flag": False}},
        )
        solution = solver(h=h, a=a, g=np.zeros(len(self.cost)), lba=lower, uba=upper)
        if not solver.stats()["success"]:
            return None
        return np.array(solution["x"]).ravel().reshape(3, -1).T
