"""Inverse kinematics of dragging: the pose in which a frame is nearest to the handle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.dynamics.reach import FrameTarget, frame_placement, reach
from homodyn.model import WORLD, Model

__all__ = ["DragTarget", "frame_placement", "solve_drag_pose"]

MAX_DRAG_ITERATIONS = 25
"""Iterations per movement of the handle, so that dragging stays fluent."""


@dataclass(frozen=True)
class DragTarget:
    """A marker, frame or body to drag, and whether its orientation is controlled too."""

    name: str
    with_rotation: bool = False


def solve_drag_pose(
    model: Model,
    q: np.ndarray,
    target: DragTarget,
    position: np.ndarray,
    rotation: np.ndarray | None = None,
    *,
    root: bool = False,
) -> np.ndarray:
    """The pose near ``q`` in which a frame has a given position and, optionally, orientation.

    Args:
        model: The model.
        q: Initial pose, (nq,).
        target: The frame.
        position: Its position (3,), m, in the world of the model.
        rotation: Its rotation matrix (3, 3); used if the target controls the orientation.
        root: Whether the root may move; it always does when the root itself is dragged.

    Returns:
        The pose, (nq,), within the joint limits.
    """
    body, _ = model.locate(target.name)
    drags_root = body >= 0 and model.joints[body].parent == WORLD
    goal = FrameTarget(position, rotation if target.with_rotation else None)
    return reach(
        model,
        q,
        {target.name: goal},
        free_root=root or drags_root,
        max_iterations=MAX_DRAG_ITERATIONS,
    ).q
