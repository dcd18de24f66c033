"""Where in the room the model is: a first pose, and one for every frame that follows from it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from homodyn.capture.filters.pose_derivatives import interpolate_poses, pose_differences
from homodyn.capture.kinematics.least_squares import (
    MAX_ITERATIONS,
    STEP_TOLERANCE,
    MarkerProblem,
    PoseEstimate,
    ProgressCallback,
    fit_in_batches,
    levenberg_marquardt,
)
from homodyn.capture.rigid_registration import register_points
from homodyn.dynamics import marker_positions
from homodyn.model import Model

POSTURE_COUNT = 8
"""Postures that the first frame is tried from, the neutral one among them."""
POSTURE_SPREAD = 0.5
"""How far (rad, m) those are from neutral at most."""
START_STEP_TOLERANCE = 1e-2
"""Step (rad, m) at which a good start is known from a worse one."""
NEIGHBOR_STEP_TOLERANCE = 1e-4
"""Step (rad, m) at which a frame is near enough to start its neighbours."""
MAX_RIGID_COST_M2 = 1e-5
"""Half the squared distance (m2) for each marker at which a rigid body counts as placed."""
STRIDE_FRAMES = 8
"""So many frames apart are those that are fitted first."""
WARM_START_DAMPING = 1e-6
"""First damping of frames whose pose is nearly known."""
MAX_FRAME_STEP = 0.35
"""From one frame to the next a coordinate that moves more than this (rad, m) is looked at again."""
MAX_STRIDE_STEP = 1.0
"""The same over a stride."""


def placement_entries(model: Model) -> list[np.ndarray]:
    """For each tree the entries of v that place it.

    They are those of its floating root, or of its joints down to the first marked body where the
    tree is fixed to the world.
    """
    floating = set(model.root.v)
    marked = {model.locate(marker.name)[0] for marker in model.markers}
    children: dict[int, list[int]] = {}
    for body, parent in enumerate(model.parents):
        children.setdefault(parent, []).append(body)
    trees = []
    for body in children[-1]:
        entries: list[int] = []
        chain = [body]
        while True:
            place = model.joint_slots[chain[-1]].v
            entries += range(place.start, place.stop)
            below = children.get(chain[-1], [])
            rest = model.joint_slots[below[0]].v if len(below) == 1 else slice(0, 0)
            if floating.issuperset(entries) and entries and rest.start not in floating:
                break
            if chain[-1] in marked or len(below) != 1:
                break
            chain.append(below[0])
        trees.append(np.array(entries, dtype=int))
    return trees


def tree_markers(model: Model) -> list[np.ndarray]:
    """For each tree which of the markers are on it."""
    roots = [body for body, parent in enumerate(model.parents) if parent < 0]
    top: list[int] = []
    for body, parent in enumerate(model.parents):
        top.append(body if parent < 0 else top[parent])
    of = [model.locate(marker.name)[0] for marker in model.markers]
    return [np.array([b >= 0 and top[b] == root for b in of], dtype=bool) for root in roots]


def initial_pose(problem: MarkerProblem, neutral: np.ndarray) -> PoseEstimate:
    """The best pose of one frame, sought from several places and postures.

    Each tree of the model is laid onto the markers as a rigid body, by those of its first marked
    body and by all of them; from there the whole model is fitted in several postures.
    """
    model = problem.model
    rng = np.random.default_rng(0)
    steps = rng.uniform(-POSTURE_SPREAD, POSTURE_SPREAD, (POSTURE_COUNT, model.nv))
    steps[0] = 0.0
    roots = placement_entries(model)
    steps[:, np.concatenate(roots)] = 0.0
    steps *= problem.free[0]
    postures = model.integrate(neutral, steps)
    starts = []
    for whole in (False, True):
        placed = neutral
        for entries, on_tree in zip(roots, tree_markers(model), strict=True):
            chosen = _placement_markers(problem, on_tree, whole)
            placed = _place_rigidly(problem, placed, entries, on_tree, chosen)
        moved = postures.copy()
        for entries in roots:
            moved = _with_entries(model, moved, placed, entries)
        starts.append(moved)
    tries = np.concatenate(starts)
    several = problem.select_frames(np.zeros(len(tries), dtype=int))
    rough = levenberg_marquardt(several, tries, tolerance=START_STEP_TOLERANCE, iterations=30)
    best = int(np.argmin(np.where(np.isfinite(rough.cost), rough.cost, np.inf)))
    return levenberg_marquardt(problem, _unwind_hinges(problem, rough.q[[best]], neutral))


def fit_all_frames(
    problem: MarkerProblem,
    seed: int,
    pose: np.ndarray,
    *,
    tolerance: float = STEP_TOLERANCE,
    iterations: int = MAX_ITERATIONS,
    progress: ProgressCallback | None = None,
) -> PoseEstimate:
    """All frames, from the pose of one of them.

    It is laid onto every eighth frame as a rigid body and these are fitted; the frames between
    start from what lies between. Where the coordinates jump from one frame to the next, the frames
    beyond are tried again from the pose before the jump, so that none is left in a worse minimum
    than its neighbours know.
    """
    keys = np.arange(seed % STRIDE_FRAMES, problem.frames, STRIDE_FRAMES)
    few = problem.select_frames(keys)
    at = int(np.flatnonzero(keys == seed)[0])
    known = _repair_jumps(
        few,
        _fit_from_rigid_placement(few, pose, tolerance=NEIGHBOR_STEP_TOLERANCE),
        at,
        MAX_STRIDE_STEP,
    )
    start = np.empty((problem.frames, len(pose)))
    start[keys] = known.q
    there = np.zeros(problem.frames, dtype=bool)
    there[keys] = True
    start = interpolate_poses(problem.model, start, there)
    options: dict[str, Any] = {"tolerance": tolerance, "iterations": iterations}
    fitted = fit_in_batches(problem, start, progress, damping=WARM_START_DAMPING, **options)
    return _repair_jumps(problem, fitted, seed, MAX_FRAME_STEP)


def _fit_from_rigid_placement(
    problem: MarkerProblem, pose: np.ndarray, **options: Any
) -> PoseEstimate:
    """Frames fitted from one pose, which is first moved onto each as a rigid body."""
    model = problem.model
    placing = np.zeros(model.nv)
    placing[np.concatenate(placement_entries(model))] = 1.0
    start = np.tile(pose, (problem.frames, 1))
    alone = problem.with_free(placing * problem.free)
    laid = levenberg_marquardt(alone, start, tolerance=START_STEP_TOLERANCE, iterations=20)
    return levenberg_marquardt(problem, laid.q, **options)


def _repair_jumps(
    problem: MarkerProblem, fitted: PoseEstimate, seed: int, jump: float
) -> PoseEstimate:
    """The same after a second look at what lies beyond each jump, outward from the seed."""
    for way in (1, -1):
        edge = seed
        while (found := _next_jump(problem, fitted.q, edge, way, jump)) is not None:
            edge = found
            beyond = _next_jump(problem, fitted.q, edge + way, way, jump)
            stop = (problem.frames if way > 0 else -1) if beyond is None else beyond + way
            rows = np.arange(edge + way, stop, way)
            # A look at a few frames tells whether the rest of the run is worth one.
            fitted, kept = _retry_frames(problem, fitted, rows[:STRIDE_FRAMES], fitted.q[edge])
            if kept and len(rows) > STRIDE_FRAMES:
                fitted, _ = _retry_frames(
                    problem, fitted, rows[STRIDE_FRAMES:], fitted.q[rows[STRIDE_FRAMES - 1]]
                )
            edge += way
    return fitted


def _retry_frames(
    problem: MarkerProblem, fitted: PoseEstimate, rows: np.ndarray, pose: np.ndarray
) -> tuple[PoseEstimate, bool]:
    """Some frames fitted from another pose, kept where that is better, or as good and nearer."""
    model = problem.model
    other = _fit_from_rigid_placement(problem.select_frames(rows), pose)
    gain = fitted.cost[rows] - other.cost
    level = 1e-6 * fitted.cost[rows] + 1e-15
    start = np.tile(pose, (len(rows), 1))
    old, new = (
        np.abs(pose_differences(model, start, q)).max(-1) for q in (fitted.q[rows], other.q)
    )
    better = (gain > level) | ((gain > -level) & (new < old - 1e-3))
    names = ("q", "cost", "iterations", "converged", "blocked")
    arrays = {name: getattr(fitted, name).copy() for name in names}
    for name, array in arrays.items():
        if name == "iterations":
            array[rows] += other.iterations
        else:
            array[rows[better]] = getattr(other, name)[better]
    return PoseEstimate(**arrays), bool(better.any())


def _next_jump(
    problem: MarkerProblem, q: np.ndarray, edge: int, way: int, jump: float
) -> int | None:
    """The last frame before the next jump, or None."""
    rows = np.arange(edge, problem.frames if way > 0 else -1, way)
    moved = np.abs(pose_differences(problem.model, q[rows[:-1]], q[rows[1:]])).max(-1)
    far = np.flatnonzero(moved > jump)
    return None if not len(far) else int(rows[far[0]])


def _unwind_hinges(problem: MarkerProblem, q: np.ndarray, neutral: np.ndarray) -> np.ndarray:
    """Poses with whole turns taken out of hinges that have no limits."""
    model = problem.model
    sources = {coupler.of for coupler in model.couplers}
    result = q.copy()
    for joint in model.joints:
        for k, coordinate in enumerate(joint.coordinates):
            driven = [motion for motion in joint.axes if motion.coordinate == k]
            if joint.quaternion or coordinate.name not in model.coordinate_names:
                continue
            if len(driven) != 1 or not driven[0].is_coordinate or driven[0].kind != "turn":
                continue
            entry = model.coordinate_index(coordinate.name)
            place = model.position_index[entry]
            unlimited = np.isinf(problem.lower[entry]) and np.isinf(problem.upper[entry])
            if driven[0].pitch == 0 and coordinate.name not in sources and unlimited:
                turns = np.round((result[:, place] - neutral[place]) / (2 * np.pi))
                result[:, place] -= 2 * np.pi * turns
    return result


def _placement_markers(problem: MarkerProblem, on_tree: np.ndarray, whole: bool) -> np.ndarray:
    """Which seen markers of a tree to lay it by: those of its first marked body, or all."""
    model = problem.model
    seen = on_tree & (problem.weights[0] > 0)
    if whole or not seen.any():
        return seen
    bodies = np.array([model.locate(marker.name)[0] for marker in model.markers])
    first = seen & (bodies == bodies[seen].min())
    return first if first.sum() >= 3 else seen


def _place_rigidly(
    problem: MarkerProblem,
    pose: np.ndarray,
    entries: np.ndarray,
    on_tree: np.ndarray,
    chosen: np.ndarray,
) -> np.ndarray:
    """The pose with one tree moved as a rigid body onto the chosen markers.

    The motion is known in closed form; the coordinates of the root that make it are found by
    fitting them alone to where it brings the markers, from all quarter turns.
    """
    model = problem.model
    free = np.zeros(model.nv)
    free[entries] = problem.free[0][entries]
    if chosen.sum() < 1 or not free.any():
        return pose
    places = marker_positions(model, pose)
    R, p = register_points(places, problem.targets[0], problem.weights[0] * chosen)
    goal = places @ R.T + p
    starts = np.array([pose])
    while True:
        found = _fit_reachable(problem, starts, goal, free, on_tree)
        reached = found.cost <= MAX_RIGID_COST_M2 * on_tree.sum()
        if reached.any() or len(starts) > 1:
            break
        starts = _quarter_turn_starts(model, pose, entries)
    turned = np.abs(pose_differences(model, np.tile(pose, (len(starts), 1)), found.q)).sum(-1)
    level = max(float(found.cost.min()), MAX_RIGID_COST_M2 * float(on_tree.sum()))
    return found.q[int(np.argmin(np.where(found.cost <= level, turned, np.inf)))]


def _fit_reachable(
    problem: MarkerProblem,
    starts: np.ndarray,
    goal: np.ndarray,
    free: np.ndarray,
    on_tree: np.ndarray,
) -> PoseEstimate:
    """Some coordinates fitted to markers that can be reached, from several poses."""
    count = len(starts)
    alone = problem.select_frames(np.zeros(count, dtype=int)).with_free(free)
    ideal = replace(
        alone,
        targets=np.tile(goal, (count, 1, 1)),
        weights=np.tile(on_tree.astype(float), (count, 1)),
        tracking_weights=0 * alone.tracking_weights,
        loss="",
    )
    return levenberg_marquardt(ideal, starts, tolerance=START_STEP_TOLERANCE, iterations=20)


def _quarter_turn_starts(model: Model, pose: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """The pose with the rotations of the root at quarter turns."""
    turning = {
        joint.coordinates[motion.coordinate].name
        for joint in model.joints
        for motion in joint.axes
        if motion.kind == "turn" and motion.coordinate is not None
    }
    quaternion = {
        c.name for joint in model.joints if joint.quaternion for c in joint.coordinates[-3:]
    }
    names = model.coordinate_names
    turns = [i for i in entries if names[i] in turning | quaternion]
    steps = []
    for amounts in product((0.0, 0.5 * np.pi, np.pi, -0.5 * np.pi), repeat=min(len(turns), 3)):
        step = np.zeros(model.nv)
        step[turns[:3]] = amounts
        steps.append(step)
    return model.integrate(pose, np.array(steps))


def _with_entries(
    model: Model, q: np.ndarray, source: np.ndarray, entries: np.ndarray
) -> np.ndarray:
    """Poses with the joints that own these entries of v placed as in another pose."""
    result = q.copy()
    for place in model.joint_slots:
        if place.v.stop > place.v.start and place.v.start in entries:
            result[..., place.q] = source[..., place.q]
    return result
