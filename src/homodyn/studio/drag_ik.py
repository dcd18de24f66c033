"""Pulling at a body: the pose in which a point of it comes nearest to where a hand wants it.

Damped least squares: with J the Jacobian of what is pulled and e what is missing, each step solves
``(J' W J + lambda D) d = J' W e``, is cut at the limits of the joints, and is kept if it came
nearer. The damping also decides which joints move: those that help most.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np
from scipy.spatial.transform import Rotation

from homodyn import dynamics
from homodyn.model import WORLD, Model, clamp
from homodyn.symbolic import Kernel, kernel

MAX_ITERATIONS = 25
INITIAL_DAMPING = 3e-3
ROTATION_WEIGHT_M = 0.2
"""m that count as much as a turn by 1 rad."""
POSITION_TOLERANCE_M = 1e-4
"""Distance (m) at which the hand is reached."""


@dataclass(frozen=True)
class DragTarget:
    """What is pulled: a marker, frame or body of a model, and whether its turn is held too."""

    name: str
    turn: bool = False


@lru_cache(maxsize=64)
def _frame_kernel(model: Model, name: str) -> Kernel:
    """Place, turn and both Jacobians of a frame, of a pose."""

    def state(q: ca.SX) -> dict[str, ca.SX]:
        return {
            "place": dynamics.position(model, q, name),
            "turn": dynamics.orientation(model, q, name),
            "slide": dynamics.jacobian(model, q, name),
            "spin": dynamics.angular_jacobian(model, q, name),
        }

    return kernel(state, q=model.nq)


def frame_placement(model: Model, q: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Where a frame is (m) and its rotation matrix, both in the world of the model."""
    now = _frame_kernel(model, name)(np.asarray(q, dtype=float))
    return np.asarray(now["place"]).reshape(3), np.asarray(now["turn"])


def solve_drag_pose(
    model: Model,
    q: np.ndarray,
    grip: DragTarget,
    place: np.ndarray,
    rotation: np.ndarray | None = None,
    *,
    root: bool = False,
) -> np.ndarray:
    """The pose near ``q`` in which a frame is at a place (m), and turned so, of the model's world.

    The whole body moves along only with ``root``, or when the root itself is pulled.
    """
    free = _free_velocities(model, grip.name, root)
    best = clamp(model, np.asarray(q, dtype=float))
    error, rows = _residual(model, best, grip, place, rotation, free)
    damping = INITIAL_DAMPING
    for _ in range(MAX_ITERATIONS):
        size = float(error @ error)
        if size < POSITION_TOLERANCE_M**2:
            break
        step = np.linalg.solve(rows.T @ rows + damping * np.eye(len(free)), rows.T @ error)
        step *= min(1.0, 0.5 / max(float(np.abs(step).max()), 1e-12))
        move = np.zeros(model.nv)
        move[free] = step
        tried = clamp(model, np.asarray(model.integrate(best, move)))
        new_error, new_rows = _residual(model, tried, grip, place, rotation, free)
        if float(new_error @ new_error) < size:
            improved = size - float(new_error @ new_error)
            best, error, rows = tried, new_error, new_rows
            damping = max(damping / 3, 1e-6)
            if improved < 1e-9:
                break
        else:
            damping *= 8
            if damping > 1e4:
                break
    return best


def _free_velocities(model: Model, name: str, root: bool) -> np.ndarray:
    """Entries of v that may change."""
    body, _ = model.locate(name)
    carries = body >= 0 and model.joints[body].parent == WORLD
    held = [
        k
        for joint, place in zip(model.joints, model.joint_slots, strict=True)
        if joint.parent == WORLD and not (root or carries)
        for k in range(place.v.start, place.v.stop)
    ]
    return np.array([k for k in range(model.nv) if k not in held], dtype=int)


def _residual(
    model: Model,
    q: np.ndarray,
    grip: DragTarget,
    place: np.ndarray,
    rotation: np.ndarray | None,
    free: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """What is missing, and how the free coordinates change it."""
    now = _frame_kernel(model, grip.name)(q)
    error = np.asarray(place, dtype=float) - np.asarray(now["place"]).reshape(3)
    rows = np.asarray(now["slide"])[:, free]
    if rotation is not None and grip.turn:
        turn = rotation_vector(np.asarray(rotation) @ np.asarray(now["turn"]).T)
        error = np.concatenate([error, ROTATION_WEIGHT_M * turn])
        rows = np.vstack([rows, ROTATION_WEIGHT_M * np.asarray(now["spin"])[:, free]])
    return error, rows


def rotation_vector(rotation: np.ndarray) -> np.ndarray:
    """Axis times angle (rad) of a rotation matrix."""
    return np.asarray(Rotation.from_matrix(rotation).as_rotvec())
