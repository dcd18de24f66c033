"""Inverse kinematics of frames: the pose near a given one in which frames are at their targets.

Damped least squares within the joint limits: with the Jacobian J of all frames and their error e,
each step solves ``(J^T J + lambda I) d = J^T e`` for the coordinates that are free to move and is
accepted if the error decreases. Coordinates at a limit that the gradient pushes outward are left
out of the step (projected Newton, Bertsekas 1982). The damping distributes the movement to the
joints with the largest effect.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import casadi as ca
import numpy as np
import scipy
from numpy.typing import ArrayLike

from homodyn.dynamics.kinematics import angular_jacobian, jacobian, orientation, position
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import enumerate_names, unknown_name
from homodyn.model import Model
from homodyn.model.configuration import clamp, plain_entries
from homodyn.symbolic import Kernel, kernel

MAX_REACH_ITERATIONS = 100
INITIAL_DAMPING = 3e-3
MIN_DAMPING = 1e-6
MAX_DAMPING = 1e4
MAX_STEP_RAD = 0.5
"""Largest change of a coordinate in one iteration (rad, m)."""
ROTATION_WEIGHT_M = 0.2
"""Position error (m) that weighs as much as a rotation error of 1 rad."""
REACH_TOLERANCE_M = 1e-4
"""Error (m) at which a target counts as reached; a rotation error (rad) times the weight above."""
MIN_IMPROVEMENT_M2 = 1e-10
"""Decrease of the squared error (m2) below which the pose counts as the nearest one."""

FAR_TARGET_SIZES = 2.0
"""Distances from the bodies, in sizes of the model, beyond which a target is named as far."""
MIN_BODY_SIZE_M = 0.1
"""Smallest size (m) with which distances are compared."""
MILLIMETER_DISTANCE_M = 20.0
"""Distance (m) from which coordinates are probably given in millimeters."""


class ReachStatus(StrEnum):
    """How the search for a pose ended."""

    REACHED = "reached"
    """All frames are at their targets."""
    NEAREST = "nearest"
    """No small change brings the frames closer: a target is out of reach or beyond the limits."""
    ITERATION_LIMIT = "iteration limit"
    """The iterations were used up; the best pose found is returned."""

    @property
    def success(self) -> bool:
        """Whether all frames are at their targets."""
        return self is ReachStatus.REACHED


@record
class FrameTarget(Record):
    """Where a frame shall be, and optionally how it shall be oriented."""

    position: ArrayLike
    """(3,), m, world."""
    rotation: np.ndarray | None = None
    """Rotation matrix (3, 3) from the frame to the world; None leaves the orientation free."""


@record
class ReachResult(Record):
    """A pose that brings frames to targets, with the errors that remain."""

    q: np.ndarray
    """(nq,): the pose, within the joint limits."""
    status: ReachStatus
    frames: tuple[str, ...]
    """Names of the frames."""
    position_error: np.ndarray
    """(frames,), m: distance of each frame from its target."""
    rotation_error: np.ndarray
    """(frames,), rad: angle to the target orientation; zero where the orientation is free."""
    iterations: int
    at_limit: tuple[str, ...] = ()
    """Coordinates that are at a joint limit."""
    far: str = ""
    """A sentence on a target much farther away than the size of the body; empty otherwise."""

    @property
    def reached(self) -> bool:
        """Whether all frames are at their targets."""
        return self.status is ReachStatus.REACHED

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        worst = int(np.argmax(self.position_error))
        millimeters = 1000 * self.position_error[worst]
        distance = f"{millimeters:.3g} mm" if millimeters < 100 else f"{millimeters:.0f} mm"
        if millimeters > 1e4:
            distance = f"{millimeters / 1000:.4g} m"
        if self.reached:
            return f"All targets are reached within {distance}."
        text = f"{self.frames[worst]} stays {distance} from its target"
        if self.far:
            return f"{text}: {self.far}"
        if self.status is ReachStatus.ITERATION_LIMIT:
            return f"{text} after {self.iterations} iterations; more may bring it closer."
        limits = f"; at their limits: {enumerate_names(self.at_limit)}" if self.at_limit else ""
        return f"{text} in the nearest pose{limits}."

    def headline(self) -> str:
        """Frames and result."""
        return f"ReachResult of {enumerate_names(self.frames)}: {self.sentence}"


def reach(
    model: Model,
    q: ArrayLike,
    targets: Mapping[str, ArrayLike | FrameTarget],
    *,
    fixed: Collection[str] = (),
    free_root: bool = False,
    max_iterations: int = MAX_REACH_ITERATIONS,
) -> ReachResult:
    """The pose near a given one in which frames are at their targets, within the joint limits.

    A target that cannot be reached is no error: the status says so, and the pose is the nearest one
    that was found. The solution is local; another initial pose may give another one.

    All joints share the movement: reaching with a hand also bends the trunk. Joints in ``fixed``
    keep their values: ``fixed=["Lumbar", "Neck"]``.

    Args:
        model: The model; parameters have their nominal values.
        q: Initial pose, (nq,).
        targets: By body, frame, marker or contact: a position (3,), m, in the world, or a
            `FrameTarget` with an orientation.
        fixed: Coordinates, or joints with all their coordinates, that keep their initial values.
        free_root: Whether the floating root may move.
        max_iterations: Largest number of iterations.

    Returns:
        The pose with errors and status.

    Raises:
        ModelError: A name is unknown, an array has the wrong shape or is not finite, or there is no
            target or no coordinate to move.
    """
    if model.parameters:
        model = model.at(model.parameter_values)
    goals = _goals(model, targets)
    free = _free_entries(model, fixed, free_root)
    pose = np.array(q, dtype=float)
    if pose.shape != (model.nq,) or not np.isfinite(pose).all():
        raise ModelError(
            f"the initial pose of reach needs {model.nq} finite numbers, got shape {pose.shape}"
        )
    pose = _displace(model, pose, np.zeros(model.nv), free)
    error, rows = _residual(model, pose, goals, free)
    damping, status, iterations = INITIAL_DAMPING, ReachStatus.ITERATION_LIMIT, 0
    while iterations < max_iterations:
        size = float(error @ error)
        if size < REACH_TOLERANCE_M**2:
            break
        iterations += 1
        step = _step(model, pose, error, rows, free, damping)
        candidate = _displace(model, pose, step, free)
        new_error, new_rows = _residual(model, candidate, goals, free)
        improvement = size - float(new_error @ new_error)
        if improvement > 0:
            pose, error, rows = candidate, new_error, new_rows
            damping = max(damping / 3, MIN_DAMPING)
            converged = improvement < MIN_IMPROVEMENT_M2
        else:
            damping *= 8
            converged = damping > MAX_DAMPING
        if converged:
            status = ReachStatus.NEAREST
            break
    if float(error @ error) < REACH_TOLERANCE_M**2:
        status = ReachStatus.REACHED
    return _result(model, pose, goals, status, iterations)


def frame_placement(model: Model, q: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Position (3,), m, and rotation matrix (3, 3) of a frame in the world of the model."""
    state = _frame_kernel(model, name)(np.asarray(q, dtype=float))
    return np.asarray(state["position"]).reshape(3), np.asarray(state["orientation"])


@dataclass(frozen=True)
class _Goal:
    """A target with checked arrays."""

    frame: str
    position: np.ndarray
    rotation: np.ndarray | None


def _goals(model: Model, targets: Mapping[str, ArrayLike | FrameTarget]) -> list[_Goal]:
    """The targets, checked.

    Raises:
        ModelError: A frame is unknown, an array has the wrong shape, or there is no target.
    """
    if not targets:
        raise ModelError("reach needs at least one target: {'HandRight': (0.4, -0.2, 1.1)}")
    goals = []
    for frame, target in targets.items():
        model.locate(frame)
        if not isinstance(target, FrameTarget):
            target = FrameTarget(target)
        place = np.asarray(target.position, dtype=float)
        rotation = None if target.rotation is None else np.asarray(target.rotation, dtype=float)
        if place.shape != (3,) or not np.isfinite(place).all():
            raise ModelError(f"the target of {frame!r} is three finite numbers (m), got {place}")
        if rotation is not None and (
            rotation.shape != (3, 3)
            or not np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-6)
            or np.linalg.det(rotation) < 0
        ):
            raise ModelError(f"the target orientation of {frame!r} is no rotation matrix (3, 3)")
        goals.append(_Goal(frame, place, rotation))
    return goals


def _free_entries(model: Model, fixed: Collection[str], free_root: bool) -> np.ndarray:
    """Entries of v that may change.

    Raises:
        ModelError: A fixed name is unknown, or nothing may change.
    """
    if isinstance(fixed, str):
        fixed = [fixed]
    joints = {
        joint.name: range(slot.v.start, slot.v.stop)
        for joint, slot in zip(model.joints, model.joint_slots, strict=True)
    }
    kept = set() if free_root else set(model.root.v)
    for name in fixed:
        if name in model.coordinate_names:
            kept.add(model.coordinate_index(name))
        elif name in joints:
            kept.update(joints[name])
        else:
            names = (*model.coordinate_names, *joints)
            what = unknown_name("coordinate or joint", name, names)
            raise ModelError(f"model {model.name!r} has {what}")
    free = np.array([k for k in range(model.nv) if k not in kept], dtype=int)
    if not len(free):
        raise ModelError("all coordinates are fixed; reach needs at least one that may move")
    return free


def _displace(model: Model, q: np.ndarray, step: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The pose after a step (nv,), with the free coordinates within their limits."""
    stepped = np.asarray(model.integrate(q, step)) if step.any() else q
    within = clamp(model, stepped)
    entries, positions = plain_entries(model)
    unchanged = positions[~np.isin(entries, free)]
    within[unchanged] = q[unchanged]
    return within


def _step(
    model: Model,
    q: np.ndarray,
    error: np.ndarray,
    rows: np.ndarray,
    free: np.ndarray,
    damping: float,
) -> np.ndarray:
    """The damped step (nv,), without coordinates that a limit stops."""
    descent = np.zeros(model.nv)
    descent[free] = rows.T @ error
    entries, positions = plain_entries(model)
    place = q[positions]
    stopped = ((place <= model.lower[entries]) & (descent[entries] < 0)) | (
        (place >= model.upper[entries]) & (descent[entries] > 0)
    )
    moving = ~np.isin(free, entries[stopped])
    rows = rows[:, moving]
    change = np.zeros(model.nv)
    if moving.any():
        normal = rows.T @ rows + damping * np.eye(rows.shape[1])
        step = np.linalg.solve(normal, rows.T @ error)
        change[free[moving]] = step * min(1.0, MAX_STEP_RAD / max(float(np.abs(step).max()), 1e-12))
    return change


def _residual(
    model: Model, q: np.ndarray, goals: list[_Goal], free: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted error (rows,) of all goals and its Jacobian (rows, free coordinates)."""
    errors, rows = [], []
    for goal in goals:
        state = _frame_kernel(model, goal.frame)(q)
        errors.append(goal.position - np.asarray(state["position"]).reshape(3))
        rows.append(np.asarray(state["jacobian"])[:, free])
        if goal.rotation is not None:
            angle = _rotation_vector(goal.rotation @ np.asarray(state["orientation"]).T)
            errors.append(ROTATION_WEIGHT_M * angle)
            rows.append(ROTATION_WEIGHT_M * np.asarray(state["angular_jacobian"])[:, free])
    return np.concatenate(errors), np.vstack(rows)


def _result(
    model: Model, q: np.ndarray, goals: list[_Goal], status: ReachStatus, iterations: int
) -> ReachResult:
    """The record of a pose."""
    distances, angles = [], []
    for goal in goals:
        place, turn = frame_placement(model, q, goal.frame)
        distances.append(float(np.linalg.norm(goal.position - place)))
        angle = 0.0
        if goal.rotation is not None:
            angle = float(np.linalg.norm(_rotation_vector(goal.rotation @ turn.T)))
        angles.append(angle)
    entries, positions = plain_entries(model)
    place = q[positions]
    stopped = entries[(place <= model.lower[entries]) | (place >= model.upper[entries])]
    return ReachResult(
        q,
        status,
        tuple(goal.frame for goal in goals),
        np.array(distances),
        np.array(angles),
        iterations,
        tuple(model.coordinate_names[k] for k in stopped),
        "" if status is ReachStatus.REACHED else _far_target(model, q, goals),
    )


def _far_target(model: Model, q: np.ndarray, goals: list[_Goal]) -> str:
    """A sentence part on the first target that is much farther away than the size of the body."""
    places = np.array([frame_placement(model, q, body)[0] for body in model.body_names])
    center = places.mean(axis=0)
    size = float(np.linalg.norm(np.ptp(places, axis=0)))
    for goal in goals:
        distance = float(np.linalg.norm(goal.position - center))
        if distance > FAR_TARGET_SIZES * max(size, MIN_BODY_SIZE_M):
            question = ". Millimeters?" if distance > MILLIMETER_DISTANCE_M else "."
            return (
                f"the target of {goal.frame} is {distance:.4g} m away, and the body extends over "
                f"{size:.2g} m{question}"
            )
    return ""


@lru_cache(maxsize=64)
def _frame_kernel(model: Model, name: str) -> Kernel:
    """Position, orientation and both Jacobians of a frame as functions of the pose."""

    def state(q: ca.SX) -> dict[str, ca.SX]:
        return {
            "position": position(model, q, name),
            "orientation": orientation(model, q, name),
            "jacobian": jacobian(model, q, name),
            "angular_jacobian": angular_jacobian(model, q, name),
        }

    return kernel(state, q=model.nq)


def _rotation_vector(rotation: np.ndarray) -> np.ndarray:
    """(3,), rad: axis times angle of a rotation matrix (3, 3)."""
    return np.asarray(scipy.spatial.transform.Rotation.from_matrix(rotation).as_rotvec())
