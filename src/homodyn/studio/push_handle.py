"""A handle that pushes a body during a simulation, with a force proportional to the drag."""

from __future__ import annotations

from typing import Any

import numpy as np
import viser

from homodyn.model import Model
from homodyn.studio.body_geometry import body_geometry
from homodyn.studio.drag_ik import frame_placement
from homodyn.studio.live_simulation import HandSpring
from homodyn.studio.studio_page import StudioPage
from homodyn.studio.transform_handle import Position, move_node

NODE = "/scene/hand"
MIN_SIZE_M = 0.25
"""Smallest length (m) of the arrows."""


class PushHandle:
    """Arrows at a segment that act on it like a spring while they are dragged.

    During a drag the handle stays at the pointer; afterwards it returns to the segment.
    """

    def __init__(self, studio: StudioPage) -> None:
        self.studio = studio
        self.segment: str | None = None
        self.stiffness = 1000.0
        """Force per distance of the handle from the segment (N/m)."""
        self.node: viser.TransformControlsHandle | None = None
        """The controls in the scene; None while the handle is hidden."""
        self.dragging = False

    def attach(self, model: Model, q: np.ndarray, segment: str) -> None:
        """Show the handle at a segment in the pose ``q`` (nq)."""
        self.detach()
        self.segment = segment
        self.node = self.studio.server.scene.add_transform_controls(
            NODE,
            # Arrows inside a thick segment could not be clicked.
            scale=max(MIN_SIZE_M, 1.6 * body_geometry(model).thickness(segment)),
            disable_rotations=True,
            depth_test=False,
            position=self.position(model, q),
        )
        self.node.on_update(self._on_drag)

    def detach(self) -> None:
        """Hide the handle."""
        node, self.node, self.segment, self.dragging = self.node, None, None, False
        if node is not None:
            node.remove()

    def spring(self, model: Model) -> HandSpring | None:
        """The spring that acts on the model; None while the handle is not dragged."""
        node, segment = self.node, self.segment
        if node is None or segment is None or not self.dragging:
            return None
        position = body_geometry(model).rotation.T @ np.asarray(node.position)
        return HandSpring(segment, position, self.stiffness)

    def follow(self, model: Model, q: np.ndarray) -> None:
        """Move the handle to its segment in the pose ``q`` (nq), unless it is being dragged."""
        if self.node is not None and not self.dragging:
            move_node(self.node, self.position(model, q), tolerance=1e-4)

    def position(self, model: Model, q: np.ndarray) -> Position:
        """Position (m) of the segment in scene axes."""
        assert self.segment is not None
        geometry = body_geometry(model)
        position, _ = frame_placement(geometry.model, q, self.segment)
        x, y, z = (float(c) for c in geometry.rotation @ position)
        return x, y, z

    def _on_drag(self, event: Any) -> None:
        if event.client_id is not None:
            self.dragging = event.phase != "end"
