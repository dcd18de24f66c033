"""Initial poses of a fit: a search in one frame, from which all other frames are started."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from homodyn.capture.filters.pose_derivatives import interpolate_poses, pose_differences
from homodyn.capture.kinematics.hinge_turns import unlimited_hinges, unwind_poses
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
"""Postures from which the first frame is fitted, the neutral one among them."""
POSTURE_SPREAD = 0.5
"""Largest deviation (rad, m) of these from neutral."""
START_STEP_TOLERANCE = 1e-2
"""Step (rad, m) at which starts are compared."""
NEIGHBOR_STEP_TOLERANCE = 1e-4
"""Step (rad, m) at which a frame may start its neighbors."""
MAX_RIGID_COST_M2 = 1e-5
"""Half the squared distance (m2) per marker at which a rigid body counts as placed."""
STRIDE_FRAMES = 8
"""Distance in frames of the key frames, which are fitted first."""
WARM_START_DAMPING = 1e-6
"""Initial damping of frames that start near their pose."""
MAX_FRAME_STEP = 0.35
"""Change of a coordinate (rad, m) between neighboring frames above which it counts as a jump."""
MAX_STRIDE_STEP = 1.0
"""The same between key frames."""


def placement_entries(model: Model) -> list[np.ndarray]:
    """For each tree of bodies, the entries of v that place it in the world.

    They are those of its floating root, or of its joints down to the first body with markers if the
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
            slot = model.joint_slots[chain[-1]].v
            entries += range(slot.start, slot.stop)
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
    """For each tree of bodies, a mask of the markers on it."""
    roots = [body for body, parent in enumerate(model.parents) if parent < 0]
    top: list[int] = []
    for body, parent in enumerate(model.parents):
        top.append(body if parent < 0 else top[parent])
    bodies = [model.locate(marker.name)[0] for marker in model.markers]
    return [np.array([b >= 0 and top[b] == root for b in bodies], dtype=bool) for root in roots]


def initial_pose(problem: MarkerProblem, neutral: np.ndarray) -> PoseEstimate:
    """The best pose of one frame, from several placements and postures.

    Each tree of the model is registered to the markers as a rigid body, by the markers of its first
    marked body and by all of them; from there the whole model is fitted in several postures.
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
        poses = postures.copy()
        for entries in roots:
            poses = _with_entries(model, poses, placed, entries)
        starts.append(poses)
    candidates = np.concatenate(starts)
    repeated = problem.select_frames(np.zeros(len(candidates), dtype=int))
    rough = levenberg_marquardt(repeated, candidates, tolerance=START_STEP_TOLERANCE, iterations=30)
    best = int(np.argmin(np.where(np.isfinite(rough.cost), rough.cost, np.inf)))
    hinges = unlimited_hinges(model, problem.lower, problem.upper)
    return levenberg_marquardt(problem, unwind_poses(model, rough.q[[best]], hinges, neutral))


def fit_all_frames(
    problem: MarkerProblem,
    seed: int,
    pose: np.ndarray,
    *,
    tolerance: float = STEP_TOLERANCE,
    iterations: int = MAX_ITERATIONS,
    progress: ProgressCallback | None = None,
) -> PoseEstimate:
    """Fit all frames from the pose of one of them.

    The pose is registered to every eighth frame as a rigid body, and these key frames are fitted;
    the frames between start from interpolated poses. Where coordinates jump from one frame to the
    next, the frames beyond are fitted again from the pose before the jump, so that no frame stays
    in a worse minimum than its neighbors.

    Args:
        problem: Targets, weights and limits of all frames.
        seed: Index of the frame with a known pose.
        pose: (nq,): the pose of that frame.
        tolerance: Length of the last step (rad, m).
        iterations: Steps per frame.
        progress: Called with the share of the frames that are fitted.
    """
    keys = np.arange(seed % STRIDE_FRAMES, problem.frames, STRIDE_FRAMES)
    key_problem = problem.select_frames(keys)
    key_seed = int(np.flatnonzero(keys == seed)[0])
    key_poses = _repair_jumps(
        key_problem,
        _fit_from_rigid_placement(key_problem, pose, tolerance=NEIGHBOR_STEP_TOLERANCE),
        key_seed,
        MAX_STRIDE_STEP,
    )
    start = np.empty((problem.frames, len(pose)))
    start[keys] = key_poses.q
    is_key = np.zeros(problem.frames, dtype=bool)
    is_key[keys] = True
    start = interpolate_poses(problem.model, start, is_key)
    options: dict[str, Any] = {"tolerance": tolerance, "iterations": iterations}
    fitted = fit_in_batches(problem, start, progress, damping=WARM_START_DAMPING, **options)
    return _repair_jumps(problem, fitted, seed, MAX_FRAME_STEP)


def _fit_from_rigid_placement(
    problem: MarkerProblem, pose: np.ndarray, **options: Any
) -> PoseEstimate:
    """Frames fitted from one pose, which is first registered to each as a rigid body."""
    model = problem.model
    is_placement = np.zeros(model.nv)
    is_placement[np.concatenate(placement_entries(model))] = 1.0
    start = np.tile(pose, (problem.frames, 1))
    rigid = problem.with_free(is_placement * problem.free)
    placed = levenberg_marquardt(rigid, start, tolerance=START_STEP_TOLERANCE, iterations=20)
    return levenberg_marquardt(problem, placed.q, **options)


def _repair_jumps(
    problem: MarkerProblem, fitted: PoseEstimate, seed: int, jump: float
) -> PoseEstimate:
    """Fit the frames beyond each jump again, outward from the seed."""
    for direction in (1, -1):
        edge = seed
        while (found := _next_jump(problem, fitted.q, edge, direction, jump)) is not None:
            edge = found
            beyond = _next_jump(problem, fitted.q, edge + direction, direction, jump)
            end = problem.frames if direction > 0 else -1
            stop = end if beyond is None else beyond + direction
            rows = np.arange(edge + direction, stop, direction)
            # The first few frames show whether the rest of the run can improve.
            fitted, improved = _retry_frames(problem, fitted, rows[:STRIDE_FRAMES], fitted.q[edge])
            if improved and len(rows) > STRIDE_FRAMES:
                fitted, _ = _retry_frames(
                    problem, fitted, rows[STRIDE_FRAMES:], fitted.q[rows[STRIDE_FRAMES - 1]]
                )
            edge += direction
    return fitted


def _retry_frames(
    problem: MarkerProblem, fitted: PoseEstimate, rows: np.ndarray, pose: np.ndarray
) -> tuple[PoseEstimate, bool]:
    """Fit some frames from another pose; keep what is better, or as good and nearer to it."""
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
    problem: MarkerProblem, q: np.ndarray, edge: int, direction: int, jump: float
) -> int | None:
    """The last frame before the next jump, or None."""
    rows = np.arange(edge, problem.frames if direction > 0 else -1, direction)
    change = np.abs(pose_differences(problem.model, q[rows[:-1]], q[rows[1:]])).max(-1)
    jumps = np.flatnonzero(change > jump)
    return None if not len(jumps) else int(rows[jumps[0]])


def _placement_markers(problem: MarkerProblem, on_tree: np.ndarray, whole: bool) -> np.ndarray:
    """Visible markers that place a tree: those of its first marked body, or all."""
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
    """The pose with one tree registered to the chosen markers as a rigid body.

    The displacement is known in closed form; the root coordinates that produce it are found by
    fitting them alone to the displaced markers, if needed from all quarter turns.
    """
    model = problem.model
    free = np.zeros(model.nv)
    free[entries] = problem.free[0][entries]
    if chosen.sum() < 1 or not free.any():
        return pose
    positions = marker_positions(model, pose)
    R, p = register_points(positions, problem.targets[0], problem.weights[0] * chosen)
    goal = positions @ R.T + p
    starts = np.array([pose])
    while True:
        found = _fit_reachable(problem, starts, goal, free, on_tree)
        reached = found.cost <= MAX_RIGID_COST_M2 * on_tree.sum()
        if reached.any() or len(starts) > 1:
            break
        starts = _quarter_turn_starts(model, pose, entries)
    change = np.abs(pose_differences(model, np.tile(pose, (len(starts), 1)), found.q)).sum(-1)
    level = max(float(found.cost.min()), MAX_RIGID_COST_M2 * float(on_tree.sum()))
    return found.q[int(np.argmin(np.where(found.cost <= level, change, np.inf)))]


def _fit_reachable(
    problem: MarkerProblem,
    starts: np.ndarray,
    goal: np.ndarray,
    free: np.ndarray,
    on_tree: np.ndarray,
) -> PoseEstimate:
    """Fit some coordinates to markers that can be reached exactly, from several poses."""
    count = len(starts)
    repeated = problem.select_frames(np.zeros(count, dtype=int)).with_free(free)
    exact = replace(
        repeated,
        targets=np.tile(goal, (count, 1, 1)),
        weights=np.tile(on_tree.astype(float), (count, 1)),
        tracking_weights=0 * repeated.tracking_weights,
        loss="",
    )
    return levenberg_marquardt(exact, starts, tolerance=START_STEP_TOLERANCE, iterations=20)


def _quarter_turn_starts(model: Model, pose: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """The pose with the rotations of the root changed by quarter turns."""
    rotational = {
        joint.coordinates[axis.coordinate].name
        for joint in model.joints
        for axis in joint.axes
        if axis.kind == "turn" and axis.coordinate is not None
    }
    quaternion = {
        c.name for joint in model.joints if joint.quaternion for c in joint.coordinates[-3:]
    }
    names = model.coordinate_names
    angles = [i for i in entries if names[i] in rotational | quaternion]
    steps = []
    for amounts in product((0.0, 0.5 * np.pi, np.pi, -0.5 * np.pi), repeat=min(len(angles), 3)):
        step = np.zeros(model.nv)
        step[angles[:3]] = amounts
        steps.append(step)
    return model.integrate(pose, np.array(steps))


def _with_entries(
    model: Model, q: np.ndarray, source: np.ndarray, entries: np.ndarray
) -> np.ndarray:
    """Poses whose joints with these entries of v are as in another pose."""
    result = q.copy()
    for slot in model.joint_slots:
        if slot.v.stop > slot.v.start and slot.v.start in entries:
            result[..., slot.q] = source[..., slot.q]
    return result
