"""Markers: choose them in the picture, give them to segments, rename, remove and weigh them."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from viser import Icon

from homodyn.studio.document import StudioDocument
from homodyn.studio.marker_editing import (
    BODY,
    MARKER_SCOPES,
    Camera,
    assign_markers,
    match_marker_labels,
    points_in_rectangle,
    remove_markers,
    rename_marker,
    set_marker_weights,
)
from homodyn.studio.marker_error_bars import marker_legend
from homodyn.studio.panels.panel import Panel, assign
from homodyn.studio.session import SessionView

NOBODY = "(no body is open)"
NONE = "(none)"
SEVERAL = "(several)"
CHOICES = ("All", "Free", "Bad", "None")
"""Markers that a button chooses: every one, those without a segment, badly fitting ones."""
MIN_REDRAW_S = 0.15
"""s between two counts while playing."""
FIRST = "Open a recording to work on its markers: drop a C3D or TRC file on this page."
HOW = "Click a marker; Ctrl+click adds one. Hold Shift and drag a box to select several."


class MarkersPanel(Panel):
    """Markers of the recording, and the segments of the active body that they are on."""

    title = "Markers"
    expanded = True

    def build(self) -> None:
        """Make the controls."""
        self.trial = self.gui.add_dropdown("Recording", (NONE,), visible=False)
        self.marker_legend = self.gui.add_html("")
        self.state = self.gui.add_markdown(FIRST)
        self.pick = self.gui.add_dropdown("Marker", (NONE,), hint="Or choose by name")
        self.choose = self.gui.add_button_group("Choose", CHOICES)
        self.segment = self.gui.add_dropdown(
            "Segment", (NOBODY,), hint="Or click a segment while markers are chosen"
        )
        self.assign = self.gui.add_button(
            "Assign to segment",
            icon=Icon.LINK,
            hint="Attach the markers to the segment at their positions in this frame and pose",
        )
        self.weight = self.gui.add_number(
            "Weight",
            1.0,
            min=0.0,
            max=100.0,
            step=0.1,
            hint="Weight in the fit; 0 excludes the marker",
        )
        self.bad = self.gui.add_number(
            "Error threshold (mm)",
            1000 * self.studio.view_options.error_threshold,
            min=1.0,
            max=500.0,
            step=1.0,
            hint="Markers with larger errors are highlighted",
        )
        with self.gui.add_folder("Names", expand_by_default=False):
            self.match = self.gui.add_button(
                "Match labels", icon=Icon.ARROWS_LEFT_RIGHT, color="gray"
            )
            self.name = self.gui.add_text("New name", "")
            self.where = self.gui.add_dropdown(
                "In the", MARKER_SCOPES, hint="Where markers are renamed and removed"
            )
            self.rename = self.gui.add_button("Rename", icon=Icon.PENCIL, color="gray")
            self.remove = self.gui.add_button("Remove", icon=Icon.TRASH, color="gray")
        self._drawn = 0.0
        self._listen()

    def _listen(self) -> None:
        self.on_choice(self.trial)(self._work_on)
        self.on_choice(self.pick)(lambda name: self.set_selected([] if name == NONE else [name]))
        self.choose.on_click(
            lambda event: self.studio.attempt(lambda: self._choose(event.target.value))
        )
        self.on_click(self.assign)(self._assign)
        self.on_choice(self.weight)(self._weigh)
        self.on_click(self.match)(self._match)
        self.on_click(self.rename)(self._rename)
        self.on_click(self.remove)(self._remove)
        self.on_choice(self.bad)(
            lambda mm: self.studio.set_view_options(error_threshold=float(mm) / 1000)
        )
        self.studio.on_marker.append(self._on_marker_click)
        self.studio.on_segment.append(self._segment_clicked)
        scene = self.studio.server.scene
        for keys in ("shift", "cmd/ctrl+shift"):
            scene.on_rect_select(modifier=keys)(
                lambda event: self.studio.attempt(lambda: self._on_rectangle(event))
            )

    @property
    def selected(self) -> frozenset[str]:
        """Markers that are worked on."""
        return self.studio.view_options.selected_markers

    def set_selected(self, markers: Any) -> None:
        """Work on these markers of the recording."""
        trial = self.session.document.trial
        known = frozenset() if trial is None else frozenset(trial.markers)
        self.studio.set_view_options(selected_markers=frozenset(markers) & known)

    def refresh(self, view: SessionView) -> None:
        """Offer the markers and segments of what is open."""
        document = view.document
        names = tuple(trial.name for trial in document.trials) or (NONE,)
        self.trial.visible = len(document.trials) > 1
        if tuple(self.trial.options) != names:
            self.trial.options = names
        assign(self.trial, names[-1])
        labels = () if document.trial is None else document.trial.markers
        options = (NONE, SEVERAL, *labels)
        if tuple(self.pick.options) != options:
            self.pick.options = options
        bodies = (NOBODY,) if document.actor is None else document.actor.model.body_names
        if tuple(self.segment.options) != tuple(bodies):
            before = self.segment.value
            self.segment.options = tuple(bodies)
            assign(self.segment, before if before in bodies else bodies[0])
        for control in (self.pick, self.assign, self.match, self.rename, self.remove):
            if control.disabled == bool(labels):
                control.disabled = not labels
        if not self.selected <= set(labels):
            self.set_selected(self.selected)

    def tick(self, view: SessionView) -> None:
        """Say what is chosen, and count the markers by their state."""
        now = perf_counter()
        if view.clock.playing and now - self._drawn < MIN_REDRAW_S:
            return
        self._drawn = now
        document, selected = view.document, self.selected
        labels = () if document.trial is None else document.trial.markers
        owners = (
            {}
            if document.actor is None
            else {marker.name: marker.body for marker in document.actor.model.markers}
        )
        errors = self.studio.stage.errors
        on = sum(name in owners for name in labels)
        bad = sum(error > self.studio.view_options.error_threshold for error in errors.values())
        words = marker_legend(on, len(labels) - on, bad, len(selected)) if labels else ""
        if self.marker_legend.content != words:
            self.marker_legend.content = words
        sentence = HOW if labels else FIRST
        if selected:
            sentence = _chosen_sentence(sorted(selected), owners, errors)
        if self.state.content != sentence:
            self.state.content = sentence
        assign(
            self.pick, SEVERAL if len(selected) > 1 else next(iter(selected)) if selected else NONE
        )
        weights = {} if document.actor is None else document.actor.weights
        known = {weights.get(name, 1.0) for name in selected}
        if len(known) == 1:
            assign(self.weight, known.pop())

    def _work_on(self, name: str) -> None:
        self.session.change(f"work on {name}", lambda document: document.activate_trial(name))

    def _choose(self, word: str) -> None:
        document = self.session.document
        labels = () if document.trial is None else document.trial.markers
        known = set() if document.actor is None else {m.name for m in document.actor.model.markers}
        bad = {
            k
            for k, error in self.studio.stage.errors.items()
            if error > self.studio.view_options.error_threshold
        }
        self.set_selected(
            {
                "All": labels,
                "Free": [name for name in labels if name not in known],
                "Bad": bad,
                "None": (),
            }[word]
        )

    def _on_marker_click(self, trial: str, marker: str, more: bool) -> None:
        document = self.session.document
        if document.trial is not None and document.trial.name != trial:
            self._work_on(trial)
        self.set_selected(self.selected ^ {marker} if more else {marker})

    def _segment_clicked(self, body: str, segment: str) -> None:
        actor = self.session.document.actor
        if self.selected and actor is not None and actor.name == body:
            assign(self.segment, segment)

    def _on_rectangle(self, event: Any) -> None:
        view = event.client.camera
        camera = Camera(
            np.array(view.position), np.array(view.wxyz), float(view.fov), float(view.aspect)
        )
        names, places = self.studio.stage.visible_markers(self.session.clock.now)
        inside = points_in_rectangle(camera, places, event.screen_min, event.screen_max)
        found = {name for name, there in zip(names, inside, strict=True) if there}
        more = event.modifier is not None and "ctrl" in event.modifier
        self.set_selected(self.selected | found if more else found)

    def _assign(self) -> None:
        selected, segment, now = self.selected, self.segment.value, self.session.clock.now
        self.session.change(
            f"assign {_join_names(selected)} to {segment}",
            lambda document: assign_markers(document, selected, segment, now),
        )

    def _weigh(self, weight: float) -> None:
        selected = self.selected
        self.session.change(
            f"weigh {_join_names(selected)}",
            lambda document: set_marker_weights(document, selected, weight),
            merge=True,
        )

    def _match(self) -> None:
        said: list[str] = []

        def made(document: StudioDocument) -> StudioDocument:
            changed, matching = match_marker_labels(document)
            said.append(str(matching))
            return changed

        self.session.change("match the labels", made)
        self.studio.notify("Labels", said[0])

    def _rename(self) -> None:
        selected, name, where = sorted(self.selected), self.name.value, self.where.value
        if len(selected) != 1:
            self.studio.notify("Rename", "Choose one marker to rename it.")
            return
        self.session.change(
            f"rename {selected[0]}",
            lambda document: rename_marker(document, selected[0], name, where),
        )
        if where != BODY:
            self.set_selected({name.strip()})
        assign(self.name, "")

    def _remove(self) -> None:
        selected, where = self.selected, self.where.value
        self.session.change(
            f"remove {_join_names(selected)}",
            lambda document: remove_markers(document, selected, where),
        )


def _chosen_sentence(selected: list[str], owners: dict[str, str], errors: dict[str, float]) -> str:
    """What is chosen, where it is and how well it fits, in Markdown."""
    parts = []
    for name in selected[:6]:
        error = f", {1000 * errors[name]:.0f} mm" if name in errors else ""
        parts.append(f"**{name}** ({owners.get(name, 'no segment')}{error})")
    more = f" and {len(selected) - 6} more" if len(selected) > 6 else ""
    return ", ".join(parts) + more


def _join_names(markers: Any) -> str:
    names = sorted(markers)
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} markers"
