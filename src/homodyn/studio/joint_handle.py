"""A handle at a joint frame: moving or turning it edits the model, within its parent."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import viser
from scipy.spatial.transform import Rotation

from homodyn.studio.body_geometry import body_geometry
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.model_editing import joint_frame, moved_to, with_model
from homodyn.studio.studio_page import StudioPage

NODE = "/scene/joint"


class JointHandle:
    """Arrows and rings at a joint frame of the active body."""

    def __init__(self, studio: StudioPage) -> None:
        self.studio = studio
        self.joint = ""
        self.keep = False
        """Whether the segments stay and the joint alone moves."""
        self._node: viser.TransformControlsHandle | None = None
        self._held = False
        self._lock = threading.Lock()

    def show(self, actor: Actor, joint: str, time: float) -> None:
        """Take hold of a joint frame."""
        self.drop()
        self.joint = joint
        place, turn = self._where(actor, joint, time)
        self._node = self.studio.server.scene.add_transform_controls(
            NODE, scale=0.18, line_width=3.5, depth_test=False, position=place, wxyz=turn
        )
        self._node.on_update(self._on_drag)

    def drop(self) -> None:
        """Let go; a pull that is under way is carried out first, and none comes after."""
        with self._lock:
            node, self._node, self.joint = self._node, None, ""
            self._held = False
        if node is not None:
            node.remove()

    def follow(self, actor: Actor, time: float) -> None:
        """Stay at the frame while nobody holds the handle."""
        node, joint = self._node, self.joint
        if node is None or self._held or joint not in actor.model.joint_names:
            return
        place, turn = self._where(actor, joint, time)
        if not np.allclose(node.position, place, atol=1e-5):
            node.position = place
        if not np.allclose(node.wxyz, turn, atol=1e-5):
            node.wxyz = turn

    def _where(self, actor: Actor, joint: str, time: float) -> tuple[Any, Any]:
        """Place (m) and quaternion of the joint frame in our axes."""
        shape = body_geometry(actor.model)
        place, axes = joint_frame(shape.model, actor.position(time), joint)
        turn = Rotation.from_matrix(shape.turn @ axes).as_quat(scalar_first=True)
        return tuple(float(x) for x in shape.turn @ place), tuple(float(x) for x in turn)

    def _on_drag(self, event: Any) -> None:
        if event.client_id is None:
            return
        self._held = event.phase != "end"
        self.studio.attempt(self.edit)

    def edit(self) -> None:
        """Bring the joint frame to where the handle is."""
        node, joint, keep = self._node, self.joint, self.keep
        if node is None:
            return
        place = np.array(node.position)
        axes = Rotation.from_quat(np.array(node.wxyz), scalar_first=True).as_matrix()
        now = self.studio.session.clock.now

        def moved(document: StudioDocument) -> StudioDocument:
            actor = document.actor
            if actor is None or joint not in actor.model.joint_names:
                return document
            turn = body_geometry(actor.model).turn
            model = moved_to(
                actor.model, actor.position(now), joint, turn.T @ place, turn.T @ axes, keep=keep
            )
            return document.with_active(with_model(actor, model, actor.recipe))

        # Only the newest place matters when they come faster than the body can be made anew.
        if self._lock.acquire(blocking=not self._held):
            try:
                if self._node is node:
                    self.studio.session.change(f"move joint {joint}", moved, merge=True)
                    self.studio.session.update_clock(lambda c: c.pause() if c.playing else c)
            finally:
                self._lock.release()
