"""A handle in the scene that a body follows: the hand that pulls at a segment or a marker."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import viser
from scipy.spatial.transform import Rotation

from homodyn.studio.body_geometry import body_geometry
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.drag_ik import DragTarget, frame_placement, solve_drag_pose
from homodyn.studio.studio_page import StudioPage

NODE = "/scene/handle"


class DragHandle:
    """Arrows and rings at a frame of the active body; moving them pulls the body along."""

    def __init__(self, studio: StudioPage) -> None:
        self.studio = studio
        # Taken and let go of as one: clicks and the loop that draws come from different threads.
        self._taken: tuple[DragTarget, viser.TransformControlsHandle] | None = None
        self._held = False
        self._root = False
        self._lock = threading.Lock()

    @property
    def _node(self) -> viser.TransformControlsHandle | None:
        return None if self._taken is None else self._taken[1]

    def grip(self, actor: Actor, name: str, time: float) -> None:
        """Take hold of a body, frame or marker by its name."""
        self.drop()
        marker = any(marker.name == name for marker in actor.model.markers)
        grip = DragTarget(name, turn=not marker)
        place, turn = self._where(actor, grip, time)
        node = self.studio.server.scene.add_transform_controls(
            NODE,
            # Arrows inside a thick segment could not be taken hold of.
            scale=max(0.22, 1.6 * body_geometry(actor.model).thickness(name)),
            disable_rotations=marker,
            depth_test=False,
            position=place,
            wxyz=turn,
        )
        node.on_update(self._on_drag)
        self._taken = (grip, node)

    def drop(self) -> None:
        """Let go; a pull that is under way is carried out first, and none comes after."""
        with self._lock:
            taken, self._taken = self._taken, None
            self._held = False
        if taken is not None:
            taken[1].remove()

    def carry_root(self, on: bool) -> None:
        """Whether pulling may move the whole body."""
        self._root = on

    def follow(self, actor: Actor, time: float) -> None:
        """Stay at the frame while nobody holds the handle."""
        taken = self._taken
        if taken is None or self._held:
            return
        grip, node = taken
        place, turn = self._where(actor, grip, time)
        if not np.allclose(node.position, place, atol=1e-5):
            node.position = place
        if not np.allclose(node.wxyz, turn, atol=1e-5):
            node.wxyz = turn

    def _where(self, actor: Actor, grip: DragTarget, time: float) -> tuple[Any, Any]:
        """Place (m) and quaternion of the frame in our axes."""
        shape = body_geometry(actor.model)
        place, turn = frame_placement(shape.model, actor.position(time), grip.name)
        quaternion = Rotation.from_matrix(shape.turn @ turn).as_quat(scalar_first=True)
        return tuple(float(x) for x in shape.turn @ place), tuple(float(x) for x in quaternion)

    def _on_drag(self, event: Any) -> None:
        if event.client_id is None:
            return
        self._held = event.phase != "end"
        self.studio.attempt(self._pull)

    def _pull(self) -> None:
        taken = self._taken
        if taken is None:
            return
        grip, node = taken
        place = np.array(node.position)
        turn = Rotation.from_quat(np.array(node.wxyz), scalar_first=True).as_matrix()
        now = self.studio.session.clock.now

        def followed(document: StudioDocument) -> StudioDocument:
            actor = document.actor
            if actor is None:
                return document
            shape = body_geometry(actor.model)
            q = solve_drag_pose(
                shape.model,
                actor.position(now),
                grip,
                shape.turn.T @ place,
                shape.turn.T @ turn,
                root=self._root,
            )
            return document.with_active(actor.with_pose(q))

        # Only the newest place matters when they come faster than the body can follow.
        if self._lock.acquire(blocking=not self._held):
            try:
                if self._taken is taken:
                    self.studio.session.change(f"pull {grip.name}", followed, merge=True)
                    self.studio.session.update_clock(lambda c: c.pause() if c.playing else c)
            finally:
                self._lock.release()
