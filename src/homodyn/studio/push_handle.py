"""A handle with which a moving body is pushed: the further it is dragged, the stronger."""

from __future__ import annotations

from typing import Any

import numpy as np
import viser

from homodyn.model import Model
from homodyn.studio.body_geometry import body_geometry
from homodyn.studio.drag_ik import frame_placement
from homodyn.studio.live_simulation import HandSpring
from homodyn.studio.studio_page import StudioPage

NODE = "/scene/hand"


class PushHandle:
    """Arrows at a segment that pull like a spring while they are held.

    They stay where the hand is; let go, they return to the segment and do nothing.
    """

    def __init__(self, studio: StudioPage) -> None:
        self.studio = studio
        self.segment: str | None = None
        self.strength = 1000.0
        """N for each metre that the handle is away from the segment."""
        self._node: viser.TransformControlsHandle | None = None
        self._held = False

    @property
    def held(self) -> bool:
        """Whether somebody holds it."""
        return self._held

    def grip(self, model: Model, q: np.ndarray, segment: str) -> None:
        """Appear at a segment."""
        self.drop()
        self.segment = segment
        self._node = self.studio.server.scene.add_transform_controls(
            NODE,
            # Arrows inside a thick segment could not be taken hold of.
            scale=max(0.25, 1.6 * body_geometry(model).thickness(segment)),
            disable_rotations=True,
            depth_test=False,
            position=tuple(self.place(model, q)),
        )
        self._node.on_update(self._on_drag)

    def drop(self) -> None:
        """Go away."""
        node, self._node, self.segment, self._held = self._node, None, None, False
        if node is not None:
            node.remove()

    def hand(self, model: Model) -> HandSpring | None:
        """Where the hand is, in the world of a model; None while nobody holds it."""
        node, segment = self._node, self.segment
        if node is None or segment is None or not self._held:
            return None
        return HandSpring(
            segment, body_geometry(model).turn.T @ np.asarray(node.position), self.strength
        )

    def follow(self, model: Model, q: np.ndarray) -> None:
        """Stay at the segment while nobody holds it."""
        node = self._node
        if node is None or self._held:
            return
        place = self.place(model, q)
        if not np.allclose(node.position, place, atol=1e-4):
            node.position = place

    def place(self, model: Model, q: np.ndarray) -> np.ndarray:
        """Where the segment is (m), in our axes."""
        assert self.segment is not None
        shape = body_geometry(model)
        place, _ = frame_placement(shape.model, q, self.segment)
        return np.asarray(shape.turn @ place)

    def _on_drag(self, event: Any) -> None:
        if event.client_id is not None:
            self._held = event.phase != "end"
