"""Open: what to do first, and files, ready bodies and the demonstration."""

from __future__ import annotations

from typing import Any

from viser import Icon

from homodyn import catalog
from homodyn.studio import demo
from homodyn.studio.file_opening import from_catalog
from homodyn.studio.panels.fit import no_shared_marker, shared_markers
from homodyn.studio.panels.panel import Panel
from homodyn.studio.session import SessionView


class OpenPanel(Panel):
    """The first panel: a sentence that says what comes next, and ways to open something."""

    title = "Open"
    expanded = True

    def build(self) -> None:
        """Make the controls."""
        self.guide = self.gui.add_markdown(guide_sentence(self.session.view()))
        self.upload = self.gui.add_upload_button(
            "Open a file ...",
            icon=Icon.FOLDER_OPEN,
            hint="C3D, TRC, CSV, OSIM, LuaModel, URDF, TOML, a result folder or a saved session "
            "(.zip), a network (.cdn) or a study (.db)",
        )
        self.demo = self.gui.add_button("Open demonstration", icon=Icon.WALK)
        self.ready = self.gui.add_dropdown(
            "Library model",
            tuple(entry.name for entry in catalog.entries()),
            initial_value="heiman",
        )
        self.add = self.gui.add_button("Add model", icon=Icon.USER_PLUS, color="gray")
        self.upload.on_upload(self._on_upload)
        self.on_click(self.demo)(self._demonstrate)
        self.on_click(self.add)(self._add_ready)

    def refresh(self, view: SessionView) -> None:
        """Say what comes next."""
        sentence = guide_sentence(view)
        if self.guide.content != sentence:
            self.guide.content = sentence

    def _on_upload(self, event: Any) -> None:
        sent = event.target.value
        self.studio.attempt(lambda: self.studio.open_upload(sent.name, sent.content))

    def _demonstrate(self) -> None:
        demo.open_recording(self.session)
        self.studio.tasks.start(demo.NAME, lambda task: demo.analyse(self.session, task))

    def _add_ready(self) -> None:
        name = self.ready.value
        actor = from_catalog(name)
        self.session.change(
            f"add {name}", lambda document: document.with_actor(actor), in_file=True
        )


def guide_sentence(view: SessionView) -> str:
    """What a person would do next, in Markdown."""
    document = view.document
    actor, trial = document.actor, document.trial
    if actor is None and trial is None:
        return (
            "**Begin here:** drop a recording, a model or a folder of results on this page, "
            "or open the demonstration."
        )
    if actor is None:
        return "**Next:** add a body below, or drop a model, to fit it to the markers."
    if actor.posed:
        return f"**{actor.name}** is held in a pose. *Resume motion* is under Pose."
    if actor.motion is not None:
        return (
            f"**{actor.name}** is open. Press **▶** below to play; "
            "choose what to see under View and what to plot under the time line."
        )
    if trial is not None and not shared_markers(actor, trial):
        return (
            f"**Next:** {no_shared_marker(actor, trial)}: match the labels or assign markers to "
            "segments on the page Fit."
        )
    if trial is not None:
        return (
            f"**Next:** bring **{actor.name}** to the markers: press *Fit this frame* or "
            "*Fit all frames* on the page Fit."
        )
    return f"**{actor.name}** stands ready. Move it under Pose, or drop a recording to fit it to."
