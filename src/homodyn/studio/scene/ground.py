"""The ground, and the outlines of force plates on it."""

from __future__ import annotations

import numpy as np
import viser

from homodyn.capture import Trial
from homodyn.studio.scene.many import Lines
from homodyn.studio.shapes import Mesh

WIDTH = 0.008
"""m: of the lines, which are flat bands, so that they keep their place behind the bodies."""
REACH = 10.0
"""m from the middle to the edge of the ground."""
LIGHT = ((228, 231, 236), (202, 208, 216))
DARK = ((52, 56, 63), (78, 84, 94))
"""Colours of the lines at half metres and at metres."""


class Ground:
    """Lines at height zero, in the colours of the theme.

    Not viser's grid: its shader costs a machine without a graphics card all its frames.
    """

    def __init__(self, scene: viser.SceneApi, root: str) -> None:
        self._scene = scene
        self._root = root
        self._plates = Lines(scene, f"{root}/plates", (110, 120, 140), 2.0)
        self._dark: bool | None = None

    def paint(self, dark: bool) -> None:
        """In the colours of the light or the dark theme."""
        if dark == self._dark:
            return
        self._dark = dark
        cells, sections = DARK if dark else LIGHT
        for name, step, height, colour in (
            ("halves", 0.5, -0.002, cells),
            ("metres", 1.0, 0.0, sections),
        ):
            self._scene.add_mesh_simple(
                f"{self._root}/{name}",
                *bands(squares(step, height)),
                color=colour,
                side="double",
                cast_shadow=False,
                receive_shadow=False,
            )

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


def squares(step: float, height: float) -> np.ndarray:
    """(n, 2, 3), m: lines along both axes, a step apart, at a height."""
    at = np.arange(-REACH, REACH + step / 2, step)
    far = np.full(len(at), REACH)
    up = np.full(len(at), height)
    one = np.stack([np.stack([at, s * far, up], axis=-1) for s in (-1, 1)], axis=1)
    return np.concatenate([one, one[..., [1, 0, 2]]])


def bands(lines: np.ndarray) -> Mesh:
    """Lines on the level (n, 2, 3) as flat bands."""
    along = lines[:, 1] - lines[:, 0]
    across = np.column_stack([-along[:, 1], along[:, 0], np.zeros(len(along))])
    across *= WIDTH / 2 / np.linalg.norm(across, axis=1, keepdims=True)
    corners = np.stack(
        [lines[:, 0] - across, lines[:, 0] + across, lines[:, 1] + across, lines[:, 1] - across],
        axis=1,
    ).reshape(-1, 3)
    first = 4 * np.arange(len(lines))[:, None]
    faces = np.concatenate([np.add(first, [0, 1, 2]), np.add(first, [0, 2, 3])])
    return corners.astype(np.float32), faces.astype(np.uint32)
