"""Nodes that draw many alike things at once, and are told only what changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import viser

from homodyn.studio.meshes import Mesh


class InstancedMesh:
    """One mesh drawn in many places, in a single node; no node at all when there are none."""

    def __init__(
        self,
        scene: viser.SceneApi,
        name: str,
        mesh: Mesh,
        scales: np.ndarray,
        colors: np.ndarray | tuple[int, int, int],
        *,
        wireframe: bool = False,
    ) -> None:
        count = len(scales)
        self.scales = np.asarray(scales, dtype=np.float32)
        self.handle: viser.BatchedMeshHandle | None = None
        self._visible = False
        self._opacity: float | None = None
        if not count:
            return
        upright = np.tile(np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32), (count, 1))
        self.handle = scene.add_batched_meshes_simple(
            name,
            *mesh,
            upright,
            np.zeros((count, 3), dtype=np.float32),
            batched_scales=self.scales,
            batched_colors=colors,
            lod="off",
            wireframe=wireframe,
            visible=False,
        )

    def place(
        self,
        positions: np.ndarray,
        turns: np.ndarray | None = None,
        *,
        visible: bool = True,
        seen: np.ndarray | None = None,
    ) -> None:
        """Put the things at places (n, 3), turned by quaternions (n, 4).

        ``seen`` (n) tells which of them are there at all.
        """
        if self.handle is None:
            return
        if visible:
            if seen is not None:
                there = seen if self.scales.ndim == 1 else seen[:, None]
                positions = np.where(seen[:, None], positions, 0.0)
                self.handle.batched_scales = self.scales * there.astype(np.float32)
            self.handle.batched_positions = np.ascontiguousarray(positions, dtype=np.float32)
            if turns is not None:
                self.handle.batched_wxyzs = np.ascontiguousarray(turns, dtype=np.float32)
        self._show(visible)

    @property
    def opacity(self) -> float | None:
        """Of all of them; None is opaque."""
        return self._opacity

    @opacity.setter
    def opacity(self, value: float | None) -> None:
        if self.handle is not None and value != self._opacity:
            self._opacity = value
            self.handle.opacity = value

    def color(self, colors: np.ndarray) -> None:
        """Give each its colour, (n, 3), 0 to 255."""
        if self.handle is not None:
            self.handle.batched_colors = np.asarray(colors, dtype=np.uint8)

    def on_click(
        self,
        callback: Callable[[viser.SceneNodePointerEvent[Any]], None],
        modifier: Any = None,
    ) -> None:
        """Call back when one of them is clicked; the event has its ``instance_index``.

        ``modifier`` names the keys that are held meanwhile.
        """
        if self.handle is not None:
            self.handle.on_click(modifier=modifier)(callback)

    def remove(self) -> None:
        """Take the node out of the scene."""
        if self.handle is not None:
            self.handle.remove()

    def _show(self, visible: bool) -> None:
        if self.handle is not None and visible != self._visible:
            self._visible = visible
            self.handle.visible = visible


class LineSegments:
    """Lines of one colour."""

    def __init__(
        self, scene: viser.SceneApi, name: str, color: tuple[int, int, int], width: float
    ) -> None:
        self.color = np.array(color, dtype=np.uint8)
        self._visible = False
        self.handle = scene.add_line_segments(
            name,
            np.zeros((1, 2, 3), dtype=np.float32),
            color,
            thickness=width,
            thickness_units="screen",
            visible=False,
        )

    def place(self, ends: np.ndarray, *, visible: bool = True) -> None:
        """Draw lines between pairs of points (n, 2, 3)."""
        there = visible and len(ends) > 0
        if there:
            self.handle.points = np.ascontiguousarray(ends, dtype=np.float32)
        if there != self._visible:
            self._visible = there
            self.handle.visible = there

    def remove(self) -> None:
        """Take the node out of the scene."""
        self.handle.remove()


class Arrows:
    """Arrows of one colour."""

    def __init__(self, scene: viser.SceneApi, name: str, color: tuple[int, int, int]) -> None:
        self._visible = False
        self.handle = scene.add_arrows(
            name,
            np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]], dtype=np.float32),
            color,
            shaft_radius=0.012,
            head_radius=0.03,
            head_length=0.08,
            visible=False,
        )

    def place(self, ends: np.ndarray, *, visible: bool = True) -> None:
        """Draw arrows from the first to the second points of (n, 2, 3)."""
        there = visible and len(ends) > 0
        if there:
            self.handle.points = np.ascontiguousarray(ends, dtype=np.float32)
        if there != self._visible:
            self._visible = there
            self.handle.visible = there

    def remove(self) -> None:
        """Take the node out of the scene."""
        self.handle.remove()
