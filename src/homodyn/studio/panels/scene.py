"""Bodies: which of them are open, shown and active; undo and redo."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from viser import Icon

from homodyn.studio.document import StudioDocument
from homodyn.studio.panels.panel import Panel, assign
from homodyn.studio.prompts import ask
from homodyn.studio.session import SessionView

NOBODY = "(no body is open)"
TOGETHER, BESIDE = "overlaid", "side by side"
BODY_SPACING_M = 1.2
"""m between bodies side by side."""


class ScenePanel(Panel):
    """The bodies of the scene."""

    title = "Bodies"
    expanded = True

    def build(self) -> None:
        """Make the controls."""
        self.active = self.gui.add_dropdown(
            "Active", (NOBODY,), hint="The body that is posed, fitted and edited"
        )
        self.shown: dict[str, Any] = {}
        self.list = self.gui.add_folder("Shown", expand_by_default=True, visible=False)
        self.arranged = self.gui.add_dropdown("Arrangement", (TOGETHER, BESIDE))
        self.steps = self.gui.add_button_group("Changes", ("Undo", "Redo"))
        self.change = self.gui.add_markdown("")
        self.remove = self.gui.add_button("Close active body", icon=Icon.TRASH, color="gray")
        self.on_choice(self.active)(self._activate)
        self.on_choice(self.arranged)(
            lambda word: self.studio.set_view_options(
                body_spacing=BODY_SPACING_M if word == BESIDE else 0.0
            )
        )
        self.steps.on_click(
            lambda event: self.studio.attempt(
                self.session.undo if event.target.value == "Undo" else self.session.redo
            )
        )
        self.on_click(self.remove)(self._close)
        self.gui.add_command("Undo", hotkey="Z", modifier="cmd/ctrl").on_trigger(
            lambda event: self.session.undo()
        )
        self.gui.add_command("Redo", hotkey="Z", modifier="cmd/ctrl+shift").on_trigger(
            lambda event: self.session.redo()
        )

    def refresh(self, view: SessionView) -> None:
        """Show what is open."""
        document = view.document
        names = document.names or (NOBODY,)
        if tuple(self.active.options) != names:
            self.active.options = names
        assign(self.active, names[document.active])
        several = len(document.actors) > 1
        self.arranged.visible = several
        self.remove.visible = bool(document.actors)
        self._list(document, several)
        self.change.content = (
            f"Undo: *{view.undo_label}*" if view.undo_label else "Nothing to undo yet."
        )

    def _list(self, document: StudioDocument, several: bool) -> None:
        self.list.visible = several
        wanted = {actor.name: actor for actor in document.actors} if several else {}
        for name in [name for name in self.shown if name not in wanted]:
            self.shown.pop(name).remove()
        for name, actor in wanted.items():
            if name not in self.shown:
                with self.list:
                    box = self.shown[name] = self.gui.add_checkbox(name, actor.shown)
                self.on_choice(box)(partial(self._show, name))
            assign(self.shown[name], actor.shown)

    def _activate(self, name: str) -> None:
        if name != NOBODY:
            self.session.change(f"choose {name}", lambda document: document.activate(name))

    def _show(self, name: str, on: bool) -> None:
        def shown(document: StudioDocument) -> StudioDocument:
            place = document.index(name)
            return document.with_actor_at(place, replace(document.actors[place], shown=on))

        self.session.change(f"{'show' if on else 'hide'} {name}", shown)

    def _close(self) -> None:
        actor = self.session.document.actor
        if actor is None:
            return

        def close() -> None:
            self.session.change(f"close {actor.name}", lambda d: d.without(actor.name))

        view = self.session.view()
        lost = [piece.kind for piece in view.pending if piece.owner == actor.name]
        if lost:
            ask(
                self.studio,
                f"Close {actor.name}?",
                f"Its {' and '.join(lost)} {'is' if len(lost) == 1 else 'are'} not saved. "
                "Undo would bring it back, until the studio ends.",
                {"Keep it open": lambda: None, "Close it": close},
            )
        else:
            close()
