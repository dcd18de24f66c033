"""Paths of the centre of mass through given places at given instants, in balance throughout.

Least squared velocity and jerk with the places of the key frames imposed and balance asked there
(Qiu 2012, section 5.3). A place that is imposed makes the wrench linear in the control points, so
this is a convex quadratic program. Then every frame is looked at, and where balance fails worst an
instant is inserted; its place is free, so its wrench is told linearly about the last path, until
nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from scipy.optimize import linprog

from homodyn.balance.com_planning.bspline import ComSpline, basis_matrix
from homodyn.balance.com_planning.margin_objective import MarginObjective
from homodyn.balance.com_planning.plan_check import PlanCheck, check_plan
from homodyn.balance.com_planning.timing_problem import PlanWeights
from homodyn.balance.scene import ComPlanRequest, Scene
from homodyn.errors import ModelError, NoSolution

MAX_ROUNDS = 40
MARGIN_RESERVE = 1e-3
"""N or N m that is asked at key frames beyond what a plan must have."""


@dataclass(frozen=True, eq=False)
class KeyFrames:
    """Positions of the centre of mass at given instants, from start to end."""

    time: np.ndarray
    """(frames,), s, increasing from 0."""
    places: np.ndarray
    """(frames, 3), m."""
    control_points: int = 16
    """Minimum number of control points; more are used where the frames need them."""

    def __post_init__(self) -> None:
        time, places = np.asarray(self.time, dtype=float), np.asarray(self.places, dtype=float)
        if time.ndim != 1 or len(time) < 2 or not (np.diff(time) > 0).all() or time[0] != 0:
            raise ModelError(f"instants of key frames increase from 0 s on, got {time.tolist()}")
        if places.shape != (len(time), 3) or not np.isfinite(places).all():
            raise ModelError(f"{len(time)} key frames need as many places, got {places.shape}")
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "places", places)


@dataclass(frozen=True, eq=False)
class KeyFramePath:
    """A path through key frames."""

    spline: ComSpline
    durations: np.ndarray
    check: PlanCheck
    inserted: tuple[float, ...]
    rounds: int


def plan_through_keyframes(
    scene: Scene,
    plan: ComPlanRequest,
    frames: KeyFrames | None,
    sides: Sequence[np.ndarray],
    measure: MarginObjective,
    *,
    least: float = 0.0,
    weights: PlanWeights | None = None,
) -> KeyFramePath:
    """The smoothest path through key frames that keeps the margin ``least`` in every frame."""
    if not scene.timed:
        raise ModelError(
            f"scene {scene.name!r}: a plan through key frames needs the duration of every phase; "
            "give them, or plan it timing-free"
        )
    changes = np.r_[0.0, [phase.end - scene.phases[0].start for phase in scene.phases]]
    if frames is None:
        if scene.path is None:
            raise ModelError(f"scene {scene.name!r} has no path to take key frames from; give them")
        frames = KeyFrames(changes, scene.path.at(changes + scene.path.instants[0]))
    if abs(frames.time[-1] - changes[-1]) > 1e-6:
        raise ModelError(
            f"the key frames end at {frames.time[-1]:g} s and the phases at {changes[-1]:g} s"
        )
    weights = weights or PlanWeights()
    reserve = least + MARGIN_RESERVE
    at = [_phases_at(changes, t) for t in frames.time]
    for t, place, held in zip(frames.time, frames.places, at, strict=True):
        for k in held:
            _refuse_place(scene, sides[k], measure, place, reserve, f"{t:.3f}", k)
    instants = _knots(frames, plan.degree)
    problem = _Quadratic(scene, plan, frames, instants, weights)
    asked = [
        (t, place, held, True)
        for t, place, held in zip(frames.time, frames.places, at, strict=True)
    ]
    inserted: list[float] = []
    spline: ComSpline | None = None
    for done in range(1, MAX_ROUNDS + 1):
        rows, bounds = [], []
        for t, place, held, imposed in asked:
            for k in held:
                row, bound = _balance(
                    scene,
                    sides[k],
                    measure,
                    instants,
                    plan.degree,
                    t,
                    place if imposed else None,
                    spline,
                    reserve,
                )
                rows.append(row)
                bounds.append(bound)
        points = problem.solve(np.vstack(rows), np.concatenate(bounds))
        if points is None:
            last = f", after instants {_list_instants(inserted)} s were added" if inserted else ""
            where = _phases_at(changes, inserted[-1])[0] if inserted else 0
            raise NoSolution(
                f"scene {scene.name!r}: no path of degree {plan.degree} through the "
                f"{len(frames.time)} key frames keeps the margin {least:g} "
                f"{measure.margin.unit}{last}; phase {scene.steps[where].name!r} cannot be met. "
                "Move its key frames or give it more time"
            )
        old, spline = spline, ComSpline(plan.degree, instants, points)
        seen = check_plan(
            spline,
            changes,
            stances=scene.stances,
            sides=sides,
            measure=measure,
            plan=plan,
            mass=scene.mass,
            gravity=scene.gravity,
        )
        if seen.smallest >= least:
            return KeyFramePath(spline, np.diff(changes), seen, tuple(inserted), done)
        worst = float(seen.time[seen.worst])
        close = [t for t in inserted if abs(t - worst) < 1e-3]
        if not close:
            inserted.append(worst)
            asked.append((worst, np.zeros(3), _phases_at(changes, worst), False))
        elif old is not None and np.abs(points - old.points).max() < 1e-9:
            break
    raise NoSolution(
        f"scene {scene.name!r}: instants {_list_instants(inserted)} s were added and still "
        f"{seen.violation([s.name for s in scene.steps], measure.margin.unit)}"
    )


def _list_instants(instants: list[float]) -> str:
    return ", ".join(f"{t:.3f}" for t in instants)


def _phases_at(changes: np.ndarray, t: float) -> list[int]:
    """The phase at an instant, and both at a change."""
    return [k for k in range(len(changes) - 1) if changes[k] - 1e-9 <= t <= changes[k + 1] + 1e-9]


def _knots(frames: KeyFrames, degree: int) -> np.ndarray:
    """Instants of key frames, and middles of the longest spans until there are enough points."""
    instants = list(frames.time)
    # Places at all frames and rest at both ends leave as many again to smooth and balance with.
    wanted = max(frames.control_points, 2 * len(frames.time) + 2)
    while len(instants) - 1 + degree < wanted:
        k = int(np.diff(instants).argmax())
        instants.insert(k + 1, (instants[k] + instants[k + 1]) / 2)
    return np.array(instants)


def _balance(
    scene: Scene,
    sides: np.ndarray,
    measure: MarginObjective,
    instants: np.ndarray,
    degree: int,
    t: float,
    place: np.ndarray | None,
    spline: ComSpline | None,
    reserve: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows over control points (x, y, z one after another) and bounds: balance at an instant."""
    time = np.array([t])
    value, bend = (
        basis_matrix(instants, degree, time)[0],
        basis_matrix(instants, degree, time, 2)[0],
    )
    mass, gravity = scene.mass, scene.gravity
    if place is not None:
        com, force = place, np.zeros(3)
    else:
        assert spline is not None
        com, force = spline.at(t), mass * (spline.at(t, 2) - gravity)
    at = sides[:, 3:6] + np.cross(sides[:, :3], com)
    length = np.ones(len(sides))
    if not measure.fixed:
        turning, pushing = measure.shares
        square = turning * (sides[:, :3] ** 2).sum(axis=1) + pushing * (at**2).sum(axis=1)
        length = np.sqrt(np.maximum(square, 1e-24))
    rows = mass * at[:, :, None] * bend
    limit = sides[:, 6] + mass * at @ gravity
    if place is None:
        # p x f about the last path: p0 x f + (p - p0) x f0.
        turn = np.cross(force, sides[:, :3])
        rows = rows + turn[:, :, None] * value
        limit = limit + turn @ com
    return rows.reshape(len(sides), -1) / length[:, None], limit / length - reserve


def _refuse_place(
    scene: Scene,
    sides: np.ndarray,
    measure: MarginObjective,
    place: np.ndarray,
    reserve: float,
    when: str,
    phase: int,
) -> None:
    """Refuse a key frame at which no acceleration at all is in balance."""
    at = sides[:, 3:6] + np.cross(sides[:, :3], place)
    unit = np.ones(len(sides))
    if not measure.fixed:
        turning, pushing = measure.shares
        unit = np.sqrt(
            np.maximum(
                turning * (sides[:, :3] ** 2).sum(axis=1) + pushing * (at**2).sum(axis=1), 1e-24
            )
        )
    found = linprog(
        [0.0, 0.0, 0.0, -1.0],
        A_ub=np.c_[at, unit],
        b_ub=sides[:, 6],
        bounds=[(None, None)] * 3 + [(None, 1e6)],
        method="highs",
    )
    if found.status == 0 and found.x[3] < reserve:
        raise NoSolution(
            f"scene {scene.name!r}: at the key frame of {when} s, in phase "
            f"{scene.steps[phase].name!r}, no acceleration is in balance at {place} m: the margin "
            f"is {found.x[3]:.3g} {measure.margin.unit} at most"
        )


class _Quadratic:
    """Smoothness of a spline with the places of key frames imposed, to be solved with rows."""

    def __init__(
        self,
        scene: Scene,
        plan: ComPlanRequest,
        frames: KeyFrames,
        instants: np.ndarray,
        weights: PlanWeights,
    ) -> None:
        degree = plan.degree
        ends = instants[[0, -1]]
        value = basis_matrix(instants, degree, frames.time)
        still = np.array([plan.start_at_rest, plan.finish_at_rest], dtype=bool)
        rest = basis_matrix(instants, degree, ends, 1)[still]
        equations = np.vstack([value, rest])
        time = np.linspace(ends[0], ends[1], 50 * len(instants))
        step = time[1] - time[0]
        speed = basis_matrix(instants, degree, time, 1)
        jerk = basis_matrix(instants, degree, time, 3)
        cost = step * (weights.velocity * speed.T @ speed + weights.jerk * jerk.T @ jerk)
        self.count = value.shape[1]
        level = step * weights.height * speed.T @ speed
        self.cost = 2 * np.kron(np.eye(3), cost)
        self.cost[2 * self.count :, 2 * self.count :] += 2 * level
        self.cost += 1e-10 * np.eye(len(self.cost)) * np.abs(self.cost).max()
        self.equations = np.kron(np.eye(3), equations)
        target = np.vstack([frames.places, np.zeros((len(rest), 3))])
        self.target = target.T.ravel()

    def solve(self, rows: np.ndarray, bounds: np.ndarray) -> np.ndarray | None:
        """(control points, 3), m; None when nothing meets all."""
        # Rows in units of force would dwarf those of length.
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
        found = solver(h=h, a=a, g=np.zeros(len(self.cost)), lba=lower, uba=upper)
        if not solver.stats()["success"]:
            return None
        return np.array(found["x"]).ravel().reshape(3, -1).T
