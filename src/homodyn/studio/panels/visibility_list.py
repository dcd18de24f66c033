"""A list of checkboxes that show and hide bodies."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from homodyn.studio.document import Actor
from homodyn.studio.panels.panel import Panel, assign, set_visible


class VisibilityList:
    """A folder with one checkbox per body; it is hidden for fewer than two bodies."""

    def __init__(self, panel: Panel, title: str, *, expanded: bool) -> None:
        self._panel = panel
        self.folder = panel.gui.add_folder(title, expand_by_default=expanded, visible=False)
        self.boxes: dict[str, Any] = {}
        """Checkboxes by the name of the body."""

    def update(self, actors: Iterable[Actor]) -> None:
        """List these bodies."""
        listed = {actor.name: actor for actor in actors}
        if len(listed) < 2:
            listed = {}
        set_visible(self.folder, bool(listed))
        for name in [name for name in self.boxes if name not in listed]:
            self.boxes.pop(name).remove()
        for name, actor in listed.items():
            if name not in self.boxes:
                with self.folder:
                    box = self.boxes[name] = self._panel.gui.add_checkbox(name, actor.shown)
                self._panel.on_choice(box)(partial(self._show, name))
            assign(self.boxes[name], actor.shown)

    def _show(self, name: str, visible: bool) -> None:
        self._panel.session.change(
            f"{'show' if visible else 'hide'} {name}",
            lambda document: document.with_visibility(name, visible),
        )
