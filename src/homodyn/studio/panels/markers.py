"""Markers: selection in the view, assignment to segments, weights, renaming and removal."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from viser import Icon

from homodyn.foundation.markup import escape_markup
from homodyn.studio.document import StudioDocument
from homodyn.studio.markdown_text import MarkdownText
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
from homodyn.studio.panels.panel import Panel, assign, offer, set_text
from homodyn.studio.session import SessionView

NO_BODY = "(no body is open)"
NONE = "(none)"
SEVERAL = "(several)"
ALL, UNASSIGNED, BAD, CLEAR = "All", "Unassigned", "Bad", "None"
CHOICES = (ALL, UNASSIGNED, BAD, CLEAR)
"""Buttons that select markers: all, those without a segment, those with large errors, none."""
MIN_REDRAW_S = 0.15
"""Time (s) between two updates of the counts during playback."""
NOTHING_OPEN = "Open a recording to edit its markers: drop a C3D or TRC file on this page."
HELP = "Click a marker; Ctrl+click adds one. Hold Shift and drag a box to select several."


class MarkersPanel(Panel):
    """Markers of the active recording and their segments of the active body."""

    title = "Markers"
    expanded = True

    def build(self) -> None:
        """Create the controls."""
        self.trial = self.gui.add_dropdown("Recording", (NONE,), visible=False)
        self.marker_legend = self.gui.add_html("")
        self.state = MarkdownText(self.gui, NOTHING_OPEN)
        self.menu = self.gui.add_dropdown("Marker", (NONE,), hint="Select a marker by name")
        self.select = self.gui.add_button_group("Select", CHOICES)
        self.segment = self.gui.add_dropdown(
            "Segment", (NO_BODY,), hint="Or click a segment while markers are selected"
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
        self.threshold = self.gui.add_number(
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
            self.scope = self.gui.add_dropdown(
                "In", MARKER_SCOPES, hint="Where markers are renamed and removed"
            )
            self.rename = self.gui.add_button("Rename", icon=Icon.PENCIL, color="gray")
            self.remove = self.gui.add_button("Remove", icon=Icon.TRASH, color="gray")
        self._redrawn = 0.0
        self._register_callbacks()

    def _register_callbacks(self) -> None:
        self.on_choice(self.trial)(self._activate_trial)
        self.on_choice(self.menu)(lambda name: self.set_selected([] if name == NONE else [name]))
        self.select.on_click(
            lambda event: self.studio.attempt(lambda: self._select(event.target.value))
        )
        self.on_click(self.assign)(self._assign)
        self.on_choice(self.weight)(self._set_weight)
        self.on_click(self.match)(self._match)
        self.on_click(self.rename)(self._rename)
        self.on_click(self.remove)(self._remove)
        self.on_choice(self.threshold)(
            lambda mm: self.studio.set_view_options(error_threshold=float(mm) / 1000)
        )
        self.studio.on_marker.append(self._on_marker_click)
        self.studio.on_segment.append(self._on_segment_click)
        scene = self.studio.server.scene
        for keys in ("shift", "cmd/ctrl+shift"):
            scene.on_rect_select(modifier=keys)(
                lambda event: self.studio.attempt(lambda: self._on_rectangle(event))
            )

    @property
    def selected(self) -> frozenset[str]:
        """The selected markers."""
        return self.studio.view_options.selected_markers

    def set_selected(self, markers: Any) -> None:
        """Select markers of the active recording."""
        trial = self.session.document.trial
        known = frozenset() if trial is None else frozenset(trial.markers)
        self.studio.set_view_options(selected_markers=frozenset(markers) & known)

    def refresh(self, view: SessionView) -> None:
        """Offer the markers and segments of the document."""
        document = view.document
        names = tuple(trial.name for trial in document.trials) or (NONE,)
        self.trial.visible = len(document.trials) > 1
        if tuple(self.trial.options) != names:
            self.trial.options = names
        assign(self.trial, names[-1])
        labels = () if document.trial is None else document.trial.markers
        options = (NONE, SEVERAL, *labels)
        if tuple(self.menu.options) != options:
            self.menu.options = options
        bodies = (NO_BODY,) if document.actor is None else document.actor.model.body_names
        offer(self.segment, tuple(bodies), bodies[0])
        for control in (self.menu, self.assign, self.match, self.rename, self.remove):
            if control.disabled == bool(labels):
                control.disabled = not labels
        if not self.selected <= set(labels):
            self.set_selected(self.selected)

    def tick(self, view: SessionView) -> None:
        """Show the selection, and the number of markers in each state."""
        now = perf_counter()
        if view.clock.playing and now - self._redrawn < MIN_REDRAW_S:
            return
        self._redrawn = now
        document, selected = view.document, self.selected
        labels = () if document.trial is None else document.trial.markers
        owners = (
            {}
            if document.actor is None
            else {marker.name: marker.body for marker in document.actor.model.markers}
        )
        errors = self.studio.stage.errors
        assigned = sum(name in owners for name in labels)
        bad = sum(error > self.studio.view_options.error_threshold for error in errors.values())
        counts = marker_legend(assigned, len(labels) - assigned, bad, len(selected))
        set_text(self.marker_legend, counts if labels else "")
        sentence = HELP if labels else NOTHING_OPEN
        if selected:
            sentence = _selection_sentence(sorted(selected), owners, errors)
        set_text(self.state, sentence)
        assign(
            self.menu, SEVERAL if len(selected) > 1 else next(iter(selected)) if selected else NONE
        )
        weights = {} if document.actor is None else document.actor.weights
        known = {weights.get(name, 1.0) for name in selected}
        if len(known) == 1:
            assign(self.weight, known.pop())

    def _activate_trial(self, name: str) -> None:
        self.session.change(f"activate {name}", lambda document: document.activate_trial(name))

    def _select(self, choice: str) -> None:
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
                ALL: labels,
                UNASSIGNED: [name for name in labels if name not in known],
                BAD: bad,
                CLEAR: (),
            }[choice]
        )

    def _on_marker_click(self, trial: str, marker: str, extend: bool) -> None:
        document = self.session.document
        if document.trial is not None and document.trial.name != trial:
            self._activate_trial(trial)
        self.set_selected(self.selected ^ {marker} if extend else {marker})

    def _on_segment_click(self, body: str, segment: str) -> None:
        actor = self.session.document.actor
        if self.selected and actor is not None and actor.name == body:
            assign(self.segment, segment)

    def _on_rectangle(self, event: Any) -> None:
        view = event.client.camera
        camera = Camera(
            np.array(view.position), np.array(view.wxyz), float(view.fov), float(view.aspect)
        )
        names, positions = self.studio.stage.visible_markers(self.session.clock.now)
        inside = points_in_rectangle(camera, positions, event.screen_min, event.screen_max)
        found = {name for name, is_inside in zip(names, inside, strict=True) if is_inside}
        extend = event.modifier is not None and "ctrl" in event.modifier
        self.set_selected(self.selected | found if extend else found)

    def _assign(self) -> None:
        selected, segment, now = self.selected, self.segment.value, self.session.clock.now
        self.session.change(
            f"assign {_join_names(selected)} to {segment}",
            lambda document: assign_markers(document, selected, segment, now),
        )

    def _set_weight(self, weight: float) -> None:
        selected = self.selected
        self.session.change(
            f"set weight of {_join_names(selected)}",
            lambda document: set_marker_weights(document, selected, weight),
            merge=True,
        )

    def _match(self) -> None:
        reports: list[str] = []

        def match(document: StudioDocument) -> StudioDocument:
            changed, matching = match_marker_labels(document)
            reports.append(str(matching))
            return changed

        self.session.change("match labels", match)
        self.studio.notify("Labels", reports[0])

    def _rename(self) -> None:
        selected, name, scope = sorted(self.selected), self.name.value, self.scope.value
        if len(selected) != 1:
            self.studio.notify("Rename", "Select one marker to rename it.")
            return
        self.session.change(
            f"rename {selected[0]}",
            lambda document: rename_marker(document, selected[0], name, scope),
        )
        if scope != BODY:
            self.set_selected({name.strip()})
        assign(self.name, "")

    def _remove(self) -> None:
        selected, scope = self.selected, self.scope.value
        self.session.change(
            f"remove {_join_names(selected)}",
            lambda document: remove_markers(document, selected, scope),
        )


def _selection_sentence(
    selected: list[str], owners: dict[str, str], errors: dict[str, float]
) -> str:
    """The selected markers with segment and error, in Markdown."""
    parts = []
    for name in selected[:6]:
        error = f", {1000 * errors[name]:.0f} mm" if name in errors else ""
        parts.append(
            f"**{escape_markup(name)}** ({escape_markup(owners.get(name, 'no segment'))}{error})"
        )
    more = f" and {len(selected) - 6} more" if len(selected) > 6 else ""
    return ", ".join(parts) + more


def _join_names(markers: Any) -> str:
    names = sorted(markers)
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} markers"
