"""Handles in the scene: arrows and rings at a frame of the active body that the user can drag."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
import viser
from scipy.spatial.transform import Rotation

from homodyn.studio.body_geometry import BodyGeometry
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.studio_page import StudioPage

Position = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Target = TypeVar("Target")


class FrameHandle(ABC, Generic[Target]):
    """Arrows and rings at a target of the active body; a drag changes the document."""

    def __init__(self, studio: StudioPage) -> None:
        self.studio = studio
        # Set and cleared together, because clicks and the drawing loop use different threads.
        self._attached: tuple[Target, viser.TransformControlsHandle] | None = None
        self._dragging = False
        self._lock = threading.Lock()

    @property
    def node(self) -> viser.TransformControlsHandle | None:
        """The controls in the scene; None while the handle is hidden."""
        return None if self._attached is None else self._attached[1]

    def detach(self) -> None:
        """Hide the handle; a drag step in progress is completed first."""
        with self._lock:
            attached, self._attached = self._attached, None
            self._dragging = False
        if attached is not None:
            attached[1].remove()

    def follow(self, actor: Actor, time: float) -> None:
        """Move the handle to its target, unless it is being dragged."""
        attached = self._attached
        if attached is not None and not self._dragging:
            target, node = attached
            pose = self._pose(actor, target, time)
            if pose is not None:
                move_node(node, *pose)

    def apply(self) -> None:
        """Change the document so that the target is at the handle."""
        attached = self._attached
        if attached is None:
            return
        target, node = attached
        label, change = self._change(
            target,
            np.array(node.position),
            Rotation.from_quat(np.array(node.wxyz), scalar_first=True).as_matrix(),
        )
        session = self.studio.session
        # While events arrive faster than they are applied, only the newest one is used.
        if self._lock.acquire(blocking=not self._dragging):
            try:
                if self._attached is attached:
                    session.change(label, change, merge=True)
                    session.update_clock(lambda c: c.pause() if c.playing else c)
            finally:
                self._lock.release()

    @abstractmethod
    def _pose(
        self, actor: Actor, target: Target, time: float
    ) -> tuple[Position, Quaternion] | None:
        """Pose of the target in scene axes at an instant (s); None if the body lacks it."""

    @abstractmethod
    def _change(
        self, target: Target, position: np.ndarray, rotation: np.ndarray
    ) -> tuple[str, Callable[[StudioDocument], StudioDocument]]:
        """Label and function of the change that brings the target to a pose in scene axes."""

    def _attach(self, target: Target, node: viser.TransformControlsHandle) -> None:
        node.on_update(self._on_drag)
        self._attached = (target, node)

    def _on_drag(self, event: Any) -> None:
        if event.client_id is None:
            return
        self._dragging = event.phase != "end"
        self.studio.attempt(self.apply)


def scene_pose(
    geometry: BodyGeometry, position: np.ndarray, rotation: np.ndarray
) -> tuple[Position, Quaternion]:
    """Position (m) and quaternion in scene axes of a frame in the world of a model.

    Args:
        geometry: The geometry of the model.
        position: (3,), m.
        rotation: (3, 3), the axes of the frame as columns.
    """
    x, y, z = (float(c) for c in geometry.rotation @ position)
    quaternion = Rotation.from_matrix(geometry.rotation @ rotation).as_quat(scalar_first=True)
    w, i, j, k = (float(c) for c in quaternion)
    return (x, y, z), (w, i, j, k)


def move_node(
    node: viser.TransformControlsHandle,
    position: Position,
    wxyz: Quaternion | None = None,
    tolerance: float = 1e-5,
) -> None:
    """Set the pose of a handle; unchanged values are not sent to the pages."""
    if not np.allclose(node.position, position, atol=tolerance):
        node.position = position
    if wxyz is not None and not np.allclose(node.wxyz, wxyz, atol=tolerance):
        node.wxyz = wxyz
