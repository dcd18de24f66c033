"""Bodies: the open, visible and active ones; undo and redo."""

from __future__ import annotations

from viser import Icon

from homodyn.foundation.markup import escape_markup
from homodyn.studio.markdown_text import MarkdownText
from homodyn.studio.panels.panel import Panel, assign
from homodyn.studio.panels.visibility_list import VisibilityList
from homodyn.studio.prompts import ask
from homodyn.studio.session import SessionView

NO_BODY = "(no body is open)"
OVERLAID, SIDE_BY_SIDE = "overlaid", "side by side"
BODY_SPACING_M = 1.2
"""Distance (m) between bodies side by side."""


class ScenePanel(Panel):
    """The bodies of the scene."""

    title = "Bodies"
    expanded = True

    def build(self) -> None:
        """Create the controls."""
        self.active = self.gui.add_dropdown(
            "Active", (NO_BODY,), hint="The body that is posed, fitted and edited"
        )
        self.list = VisibilityList(self, "Visible", expanded=True)
        self.arrangement = self.gui.add_dropdown("Arrangement", (OVERLAID, SIDE_BY_SIDE))
        self.history = self.gui.add_button_group("Changes", ("Undo", "Redo"))
        self.change = MarkdownText(self.gui, "")
        self.remove = self.gui.add_button("Close active body", icon=Icon.TRASH, color="gray")
        self.on_choice(self.active)(self._activate)
        self.on_choice(self.arrangement)(
            lambda choice: self.studio.set_view_options(
                body_spacing=BODY_SPACING_M if choice == SIDE_BY_SIDE else 0.0
            )
        )
        self.history.on_click(
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
        """Show the open bodies."""
        document = view.document
        names = document.names or (NO_BODY,)
        if tuple(self.active.options) != names:
            self.active.options = names
        assign(self.active, names[document.active])
        several = len(document.actors) > 1
        self.arrangement.visible = several
        self.remove.visible = bool(document.actors)
        self.list.update(document.actors)
        self.change.content = (
            f"Undo: *{escape_markup(view.undo_label)}*" if view.undo_label else "Nothing to undo."
        )

    def _activate(self, name: str) -> None:
        if name != NO_BODY:
            self.session.change(f"activate {name}", lambda document: document.activate(name))

    def _close(self) -> None:
        actor = self.session.document.actor
        if actor is None:
            return

        def close() -> None:
            self.session.change(f"close {actor.name}", lambda d: d.without(actor.name))

        view = self.session.view()
        unsaved = [part.kind for part in view.pending if part.owner == actor.name]
        if unsaved:
            ask(
                self.studio,
                f"Close {actor.name}?",
                f"Its {' and '.join(unsaved)} {'is' if len(unsaved) == 1 else 'are'} not saved. "
                "Undo restores the body until the studio ends.",
                {"Keep open": lambda: None, "Close": close},
            )
        else:
            close()
