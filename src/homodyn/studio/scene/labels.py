"""Text labels in the scene."""

from __future__ import annotations

import numpy as np
import viser


class Labels:
    """Texts at moving positions. Each is a node, so they are created only when they are shown."""

    def __init__(self, scene: viser.SceneApi, root: str) -> None:
        self._scene = scene
        self._root = root
        self._handles: list[viser.LabelHandle] = []
        self._names: tuple[str, ...] = ()

    def place(self, names: tuple[str, ...], positions: np.ndarray, visible: np.ndarray) -> None:
        """Show names at positions (n, 3), m, where ``visible`` (n) is True."""
        if names != self._names:
            self._create(names)
        for handle, position, shown in zip(self._handles, positions, visible, strict=True):
            if handle.visible != bool(shown):
                handle.visible = bool(shown)
            if shown:
                handle.position = np.asarray(position, dtype=float)

    def _create(self, names: tuple[str, ...]) -> None:
        for handle in self._handles:
            handle.remove()
        self._names = names
        self._handles = [
            self._scene.add_label(
                f"{self._root}/{k}", name, anchor="bottom-center", font_screen_scale=0.8
            )
            for k, name in enumerate(names)
        ]
