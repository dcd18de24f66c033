"""A handle at a joint frame: dragging it edits the model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homodyn.studio.body_geometry import body_geometry
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.model_editing import joint_frame, place_joint_in_world, with_model
from homodyn.studio.studio_page import StudioPage
from homodyn.studio.transform_handle import FrameHandle, Position, Quaternion, scene_pose

NODE = "/scene/joint"
SIZE_M = 0.18
"""Length (m) of the arrows."""


class JointHandle(FrameHandle[str]):
    """Arrows and rings at a joint frame of the active body."""

    def __init__(self, studio: StudioPage) -> None:
        super().__init__(studio)
        self.keep = False
        """Whether the segments stay and the joint alone moves."""

    def attach(self, actor: Actor, joint: str, time: float) -> None:
        """Show the handle at a joint frame."""
        self.detach()
        geometry = body_geometry(actor.model)
        position, wxyz = scene_pose(
            geometry, *joint_frame(geometry.model, actor.position(time), joint)
        )
        node = self.studio.server.scene.add_transform_controls(
            NODE, scale=SIZE_M, line_width=3.5, depth_test=False, position=position, wxyz=wxyz
        )
        self._attach(joint, node)

    def _pose(self, actor: Actor, target: str, time: float) -> tuple[Position, Quaternion] | None:
        if target not in actor.model.joint_names:
            return None
        geometry = body_geometry(actor.model)
        return scene_pose(geometry, *joint_frame(geometry.model, actor.position(time), target))

    def _change(
        self, target: str, position: np.ndarray, rotation: np.ndarray
    ) -> tuple[str, Callable[[StudioDocument], StudioDocument]]:
        now, keep = self.studio.session.clock.now, self.keep

        def edit(document: StudioDocument) -> StudioDocument:
            actor = document.actor
            if actor is None or target not in actor.model.joint_names:
                return document
            back = body_geometry(actor.model).rotation.T
            model = place_joint_in_world(
                actor.model,
                actor.position(now),
                target,
                back @ position,
                back @ rotation,
                keep=keep,
            )
            return document.with_active(with_model(actor, model, actor.recipe))

        return f"move joint {target}", edit
