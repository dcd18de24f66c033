"""The ground grid and the outlines of force plates."""

from __future__ import annotations

import numpy as np
import viser

from homodyn.capture import Trial
from homodyn.studio.meshes import Mesh
from homodyn.studio.scene.instances import LineSegments

LINE_WIDTH_M = 0.012
"""Width (m) of the grid lines. They are flat bands, so that bodies cover them correctly."""
GRID_EXTENT_M = 6
"""Distance (m) from the center of the grid to its edge."""
GRID_COLOR, GRID_OPACITY = (120, 126, 138), 0.3
"""Half transparent gray: quiet on a light and on a dark page."""
PLATE_COLOR = (110, 120, 140)


class Ground:
    """Grid lines at height zero, 1 m apart.

    The grid of viser is not used, there are no finer lines, and they are visible from above only:
    each of these is expensive without a graphics card.
    """

    def __init__(self, scene: viser.SceneApi, root: str) -> None:
        self._plates = LineSegments(scene, f"{root}/plates", PLATE_COLOR, 2.0)
        self._center = (0.0, 0.0, 0.0)
        self.grid = scene.add_mesh_simple(
            f"{root}/grid",
            *line_bands(grid_lines()),
            color=GRID_COLOR,
            opacity=GRID_OPACITY,
            cast_shadow=False,
            receive_shadow=False,
            position=self._center,
        )

    def center_at(self, position: np.ndarray) -> None:
        """Center the grid near a position (m); its lines stay at whole meters."""
        center = (float(round(position[0])), float(round(position[1])), 0.0)
        if center != self._center:
            self._center = self.grid.position = center

    def outline_plates(self, trials: tuple[Trial, ...]) -> None:
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


def grid_lines() -> np.ndarray:
    """(n, 2, 3), m: lines along both axes, 1 m apart."""
    offsets = np.arange(-GRID_EXTENT_M, GRID_EXTENT_M + 1.0)
    ends = np.full(len(offsets), float(GRID_EXTENT_M))
    along_y = np.stack(
        [np.stack([offsets, s * ends, 0 * offsets], axis=-1) for s in (-1, 1)], axis=1
    )
    return np.concatenate([along_y, along_y[..., [1, 0, 2]]])


def line_bands(lines: np.ndarray) -> Mesh:
    """Horizontal lines (n, 2, 3), m, as flat bands that face up."""
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
