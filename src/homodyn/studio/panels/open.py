"""Open: files, library models and the demonstration, with a hint on the next step."""

from __future__ import annotations

from typing import Any

from viser import Icon

from homodyn import catalog
from homodyn.foundation.markup import escape_markup
from homodyn.studio import demo
from homodyn.studio.file_opening import from_catalog
from homodyn.studio.markdown_text import MarkdownText
from homodyn.studio.panels.fit import no_shared_marker, shared_markers
from homodyn.studio.panels.panel import Panel, set_text, set_visible
from homodyn.studio.session import SessionView


class OpenPanel(Panel):
    """The first panel: a hint on the next step, and controls that open something."""

    title = "Open"
    expanded = True

    def build(self) -> None:
        """Create the controls."""
        self.guide = MarkdownText(self.gui, guide_sentence(self.session.view()))
        self.upload = self.gui.add_upload_button(
            "Open a file ...",
            icon=Icon.FOLDER_OPEN,
            hint="C3D, TRC, CSV, OSIM, LuaModel, URDF, TOML, a result folder or a saved session "
            "(.zip), a network (.cdn) or a study (.db)",
        )
        self.demo = self.gui.add_button("Open demonstration", icon=Icon.WALK)
        self.library = self.gui.add_dropdown(
            "Library model",
            tuple(entry.name for entry in catalog.entries()),
            initial_value="heiman",
        )
        self.add = self.gui.add_button("Add model", icon=Icon.USER_PLUS, color="gray")
        self.upload.on_upload(self._on_upload)
        self.on_click(self.demo)(self._open_demonstration)
        self.on_click(self.add)(self._add_model)

    def refresh(self, view: SessionView) -> None:
        """Show the next step; the demonstration is offered while nothing is open."""
        set_text(self.guide, guide_sentence(view))
        document = view.document
        set_visible(self.demo, not document.actors and not document.trials)

    def _on_upload(self, event: Any) -> None:
        file = event.target.value
        self.studio.attempt(lambda: self.studio.open_upload(file.name, file.content))

    def _open_demonstration(self) -> None:
        demo.open_recording(self.session)
        self.studio.tasks.start(demo.NAME, lambda task: demo.analyze_recording(self.session, task))

    def _add_model(self) -> None:
        name = self.library.value
        actor = from_catalog(name)
        self.session.change(
            f"add {name}", lambda document: document.with_actor(actor), in_file=True
        )


def guide_sentence(view: SessionView) -> str:
    """The next step, in Markdown."""
    document = view.document
    actor, trial = document.actor, document.trial
    if actor is None and trial is None:
        return (
            "**Start here:** drop a recording, a model or a result folder on this page, or open "
            "the demonstration."
        )
    if actor is None:
        return "**Next:** add a model below, or drop one on this page, to fit it to the markers."
    if actor.posed:
        return f"**{escape_markup(actor.name)}** is fixed in a pose. *Resume motion* is under Pose."
    if actor.motion is not None:
        return (
            f"**{escape_markup(actor.name)}** is open. Press **▶** below to play. Select drawn "
            "parts under View, "
            "and signals under Plots."
        )
    if trial is not None and not shared_markers(actor, trial):
        return (
            f"**Next:** {no_shared_marker(actor, trial)}. Match the labels or assign markers to "
            "segments in the tab Fit."
        )
    if trial is not None:
        return (
            f"**Next:** fit **{escape_markup(actor.name)}** to the markers: press *Fit this "
            "frame* or "
            "*Fit all frames* in the tab Fit."
        )
    return (
        f"**{escape_markup(actor.name)}** is open. Pose it under Pose, or drop a recording to "
        "fit it to."
    )
