"""A handle in the scene that the active body follows by inverse kinematics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homodyn.studio.body_geometry import body_geometry
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.drag_ik import DragTarget, frame_placement, solve_drag_pose
from homodyn.studio.studio_page import StudioPage
from homodyn.studio.transform_handle import FrameHandle, Position, Quaternion, scene_pose

NODE = "/scene/handle"
MIN_SIZE_M = 0.22
"""Smallest length (m) of the arrows."""


class DragHandle(FrameHandle[DragTarget]):
    """Arrows and rings at a frame of the active body; dragging them moves the body."""

    def __init__(self, studio: StudioPage) -> None:
        super().__init__(studio)
        self._root = False

    def attach(self, actor: Actor, name: str, time: float) -> None:
        """Show the handle at a body, frame or marker."""
        self.detach()
        is_marker = any(marker.name == name for marker in actor.model.markers)
        target = DragTarget(name, with_rotation=not is_marker)
        position, wxyz = self._pose(actor, target, time)
        node = self.studio.server.scene.add_transform_controls(
            NODE,
            # Arrows inside a thick segment could not be clicked.
            scale=max(MIN_SIZE_M, 1.6 * body_geometry(actor.model).thickness(name)),
            disable_rotations=is_marker,
            depth_test=False,
            position=position,
            wxyz=wxyz,
        )
        self._attach(target, node)

    def set_root_free(self, free: bool) -> None:
        """Set whether dragging may move the root of the body."""
        self._root = free

    def _pose(self, actor: Actor, target: DragTarget, time: float) -> tuple[Position, Quaternion]:
        geometry = body_geometry(actor.model)
        return scene_pose(
            geometry, *frame_placement(geometry.model, actor.position(time), target.name)
        )

    def _change(
        self, target: DragTarget, position: np.ndarray, rotation: np.ndarray
    ) -> tuple[str, Callable[[StudioDocument], StudioDocument]]:
        now = self.studio.session.clock.now

        def solve(document: StudioDocument) -> StudioDocument:
            actor = document.actor
            if actor is None:
                return document
            geometry = body_geometry(actor.model)
            q = solve_drag_pose(
                geometry.model,
                actor.position(now),
                target,
                geometry.rotation.T @ position,
                geometry.rotation.T @ rotation,
                root=self._root,
            )
            return document.with_active(actor.with_pose(q))

        return f"drag {target.name}", solve
