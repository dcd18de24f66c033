"""The ground, and the outlines of force plates on it."""

from __future__ import annotations

import numpy as np
import viser

from homodyn.capture import Trial
from homodyn.studio.meshes import Mesh
from homodyn.studio.scene.instances import LineSegments

LINE_WIDTH_M = 0.012
"""m: of the lines, which are flat bands, so that they keep their place behind the bodies."""
GRID_EXTENT_M = 6
"""m from the middle to the edge of the ground."""
LIGHT_COLOR = (205, 211, 219)
DARK_COLOR = (74, 80, 90)
"""Colours of the lines."""


class Ground:
    """Lines at height zero, a metre apart, in the colours of the theme.

    Not viser's grid, no more lines, and seen from above only: a machine without a graphics card
    has much to do with each of these.
    """

    def __init__(self, scene: viser.SceneApi, root: str) -> None:
        self._scene = scene
        self._root = root
        self._plates = LineSegments(scene, f"{root}/plates", (110, 120, 140), 2.0)
        self._dark: bool | None = None
        self._middle = (0.0, 0.0, 0.0)
        self._lines: viser.MeshHandle | None = None

    def paint(self, dark: bool) -> None:
        """In the colours of the light or the dark theme."""
        if dark == self._dark:
            return
        self._dark = dark
        self._lines = self._scene.add_mesh_simple(
            f"{self._root}/metres",
            *bands(squares()),
            color=DARK_COLOR if dark else LIGHT_COLOR,
            cast_shadow=False,
            receive_shadow=False,
            position=self._middle,
        )

    def lie_under(self, place: np.ndarray) -> None:
        """Be around a place (m), however far away that is; the lines stay at whole metres."""
        middle = (float(round(place[0])), float(round(place[1])), 0.0)
        if middle != self._middle and self._lines is not None:
            self._middle = self._lines.position = middle

    def outline(self, trials: tuple[Trial, ...]) -> None:
        """Draw the plates of recordings."""
        sides = [
            np.stack([plate.corners, np.roll(plate.corners, -1, axis=0)], axis=1)
            for trial in trials
            for plate in trial.plates
            if plate.corners is not None
        ]
        self._plates.place(
            np.concatenate(sides) + np.array([0.0, 0.0, 0.004]) if sides else np.zeros((0, 2, 3))
        )


def squares() -> np.ndarray:
    """(n, 2, 3), m: lines along both axes, a metre apart."""
    at = np.arange(-GRID_EXTENT_M, GRID_EXTENT_M + 1.0)
    far = np.full(len(at), float(GRID_EXTENT_M))
    one = np.stack([np.stack([at, s * far, 0 * at], axis=-1) for s in (-1, 1)], axis=1)
    return np.concatenate([one, one[..., [1, 0, 2]]])


def bands(lines: np.ndarray) -> Mesh:
    """Lines on the level (n, 2, 3) as flat bands that look upwards."""
    along = lines[:, 1] - lines[:, 0]
    across = np.column_stack([-along[:, 1], along[:, 0], np.zeros(len(along))])
    across *= LINE_WIDTH_M / 2 / np.linalg.norm(across, axis=1, keepdims=True)
    corners = np.stack(
        [lines[:, 0] - across, lines[:, 0] + across, lines[:, 1] + across, lines[:, 1] - across],
        axis=1,
    ).reshape(-1, 3)
    first = 4 * np.arange(len(lines))[:, None]
    faces = np.concatenate([np.add(first, [0, 2, 1]), np.add(first, [0, 3, 2])])
    return corners.astype(np.float32), faces.astype(np.uint32)
