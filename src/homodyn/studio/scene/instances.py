"""Nodes that draw many equal shapes at once and send only changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import viser

from homodyn.report.colors import Rgb
from homodyn.studio.meshes import Mesh


class InstancedMesh:
    """One mesh drawn at many positions, in a single node; no node if there are no instances."""

    def __init__(
        self,
        scene: viser.SceneApi,
        name: str,
        mesh: Mesh,
        scales: np.ndarray,
        colors: np.ndarray | Rgb,
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
        identity = np.tile(np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32), (count, 1))
        self.handle = scene.add_batched_meshes_simple(
            name,
            *mesh,
            identity,
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
        rotations: np.ndarray | None = None,
        *,
        visible: bool = True,
        present: np.ndarray | None = None,
    ) -> None:
        """Set positions (n, 3), m, and rotations (n, 4), quaternions.

        Instances where ``present`` (n) is False are not drawn.
        """
        if self.handle is None:
            return
        if visible:
            if present is not None:
                mask = present if self.scales.ndim == 1 else present[:, None]
                positions = np.where(present[:, None], positions, 0.0)
                self.handle.batched_scales = self.scales * mask.astype(np.float32)
            self.handle.batched_positions = np.ascontiguousarray(positions, dtype=np.float32)
            if rotations is not None:
                self.handle.batched_wxyzs = np.ascontiguousarray(rotations, dtype=np.float32)
        self._show(visible)

    @property
    def opacity(self) -> float | None:
        """Opacity of all instances; None is opaque."""
        return self._opacity

    @opacity.setter
    def opacity(self, value: float | None) -> None:
        if self.handle is not None and value != self._opacity:
            self._opacity = value
            self.handle.opacity = value

    def set_colors(self, colors: np.ndarray) -> None:
        """Set the color of each instance, (n, 3), 0 to 255."""
        if self.handle is not None:
            self.handle.batched_colors = np.asarray(colors, dtype=np.uint8)

    def on_click(
        self,
        callback: Callable[[viser.SceneNodePointerEvent[Any]], None],
        modifier: Any = None,
    ) -> None:
        """Call a function when an instance is clicked; the event has its ``instance_index``.

        ``modifier`` names the keys that must be pressed.
        """
        if self.handle is not None:
            self.handle.on_click(modifier=modifier)(callback)

    def remove(self) -> None:
        """Remove the node from the scene."""
        if self.handle is not None:
            self.handle.remove()

    def _show(self, visible: bool) -> None:
        if self.handle is not None and visible != self._visible:
            self._visible = visible
            self.handle.visible = visible


class _PointPairs:
    """A node that draws something between pairs of points."""

    handle: viser.LineSegmentsHandle | viser.ArrowsHandle

    def __init__(self, color: Rgb) -> None:
        self.color = np.array(color, dtype=np.uint8)
        self._colors = self.color
        self._visible = False

    def place(
        self, ends: np.ndarray, colors: np.ndarray | None = None, *, visible: bool = True
    ) -> None:
        """Draw between the first and the second points of (n, 2, 3), m.

        ``colors`` (n, 3) are 0 to 255; the color of the node if omitted.
        """
        shown = visible and len(ends) > 0
        if shown:
            self.handle.points = np.ascontiguousarray(ends, dtype=np.float32)
            new = self.color if colors is None else np.asarray(colors, dtype=np.uint8)
            if not np.array_equal(new, self._colors):
                self._colors = new
                self.handle.colors = self._node_colors(new)
        if shown != self._visible:
            self._visible = shown
            self.handle.visible = shown

    def remove(self) -> None:
        """Remove the node from the scene."""
        self.handle.remove()

    def _node_colors(self, colors: np.ndarray) -> np.ndarray:
        return colors


class LineSegments(_PointPairs):
    """Lines."""

    def __init__(self, scene: viser.SceneApi, name: str, color: Rgb, width: float) -> None:
        super().__init__(color)
        self.handle = scene.add_line_segments(
            name,
            np.zeros((1, 2, 3), dtype=np.float32),
            color,
            thickness=width,
            thickness_units="screen",
            visible=False,
        )

    def _node_colors(self, colors: np.ndarray) -> np.ndarray:
        """Lines have a color per end."""
        return colors if colors.ndim == 1 else np.repeat(colors[:, None], 2, axis=1)


class Arrows(_PointPairs):
    """Arrows."""

    def __init__(self, scene: viser.SceneApi, name: str, color: Rgb) -> None:
        super().__init__(color)
        self.handle = scene.add_arrows(
            name,
            np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]], dtype=np.float32),
            color,
            shaft_radius=0.012,
            head_radius=0.03,
            head_length=0.08,
            visible=False,
        )
