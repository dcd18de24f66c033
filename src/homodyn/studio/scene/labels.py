"""Names beside what they name, on demand."""

from __future__ import annotations

import numpy as np
import viser


class Labels:
    """Texts at moving places. Each is a node of its own, so they are made only when asked for."""

    def __init__(self, scene: viser.SceneApi, root: str) -> None:
        self._scene = scene
        self._root = root
        self._handles: list[viser.LabelHandle] = []
        self._names: tuple[str, ...] = ()

    def place(self, names: tuple[str, ...], places: np.ndarray, seen: np.ndarray) -> None:
        """Write names at places (n, 3), m; those that are not ``seen`` (n) are left out."""
        if names != self._names:
            self._remake(names)
        for handle, place, there in zip(self._handles, places, seen, strict=True):
            if handle.visible != bool(there):
                handle.visible = bool(there)
            if there:
                handle.position = np.asarray(place, dtype=float)

    def _remake(self, names: tuple[str, ...]) -> None:
        for handle in self._handles:
            handle.remove()
        self._names = names
        self._handles = [
            self._scene.add_label(
                f"{self._root}/{k}", name, anchor="bottom-center", font_screen_scale=0.8
            )
            for k, name in enumerate(names)
        ]
