"""Recording quality: findings on the recording, each a button that goes to its frames."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

from homodyn import capture
from homodyn.capture import (
    HealthReport,
    Trial,
)
from homodyn.capture.quality import TrialFinding
from homodyn.errors import HomodynError
from homodyn.foundation import Severity, count_of
from homodyn.foundation.markup import escape_markup
from homodyn.model import Model
from homodyn.studio.markdown_text import MarkdownText
from homodyn.studio.panels.panel import Panel
from homodyn.studio.session import SessionView

NOTHING_OPEN = "No recording is open."
MAX_FINDING_BUTTONS = 16
"""Findings that have a button; a sentence counts the others."""
BUTTON_COLORS: dict[Severity, Any] = {
    Severity.ERROR: "red",
    Severity.WARNING: "orange",
    Severity.INFO: "gray",
}


class HealthPanel(Panel):
    """The findings on the active recording."""

    title = "Recording quality"
    expanded = True

    def build(self) -> None:
        """Create the controls."""
        self.state = MarkdownText(self.gui, NOTHING_OPEN)
        self.buttons: list[Any] = []
        self._request: Any = None
        """Recording and markers of the last health check."""
        self.report: tuple[Trial, HealthReport] | None = None
        """The recording and its health report."""
        self._shown: Any = None
        self._visits: dict[int, int] = {}
        """How often each finding was pressed."""

    def refresh(self, view: SessionView) -> None:
        """Check another recording, in a separate thread."""
        document = view.document
        trial, actor = document.trial, document.actor
        if trial is None:
            self._request = self.report = None
            return
        key = (trial, None if actor is None else actor.model.markers)
        if self._request is not None and self._request[0] is trial and self._request[1] == key[1]:
            return
        self._request = key
        model = None if actor is None else actor.model
        threading.Thread(
            target=self._check, args=(trial, model, key), daemon=True, name="health"
        ).start()

    def tick(self, view: SessionView) -> None:
        """Show the findings of the last check."""
        if self.report is self._shown:
            return
        self._shown = self.report
        for button in self.buttons:
            button.remove()
        self.buttons, self._visits = [], {}
        if self.report is None:
            self.state.content = NOTHING_OPEN
            return
        trial, health = self.report
        self.state.content = summary(health)
        with self.container:
            for number, finding in enumerate(health.findings[:MAX_FINDING_BUTTONS]):
                button = self.gui.add_button(
                    headline(finding), color=BUTTON_COLORS[finding.severity], hint=finding.sentence
                )
                self.on_click(button)(partial(self._go, number, finding, trial))
                self.buttons.append(button)

    def _check(self, trial: Trial, model: Model | None, key: Any) -> None:
        shared = model is not None and {m.name for m in model.markers} & set(trial.markers)
        try:
            health = capture.check_health(trial, model=model if shared else None)
        except HomodynError as error:
            self.studio.show_error(error)
            return
        if self._request is key:
            self.report = (trial, health)
            self.session.changed.set()

    def _go(self, number: int, finding: TrialFinding, trial: Trial) -> None:
        """Go to the next range of frames of a finding, and select its markers."""
        visit = self._visits.get(number, 0)
        self._visits[number] = visit + 1
        where = ""
        if finding.frames:
            first, last = finding.frames[visit % len(finding.frames)]
            instant = float(trial.time[min(max(first - trial.first_frame, 0), trial.frames - 1)])
            self.session.update_clock(lambda clock: clock.at(instant).pause())
            frames = f"frame {first}" if first == last else f"frames {first} to {last}"
            where = f" Showing {frames}"
            if len(finding.frames) > 1:
                where += f", {visit % len(finding.frames) + 1} of {len(finding.frames)}; press"
                where += " again for the next"
            where += "."
        if finding.markers:
            known = frozenset(trial.markers)
            self.studio.set_view_options(selected_markers=frozenset(finding.markers) & known)
        self.state.content = (
            f"**{escape_markup(headline(finding))}**: {escape_markup(finding.sentence)}.{where}"
        )


def headline(finding: TrialFinding) -> str:
    """Subject and markers of a finding."""
    names = finding.markers or ((finding.plate,) if finding.plate else ())
    listed = ", ".join(names[:3]) + (f" +{len(names) - 3}" if len(names) > 3 else "")
    return f"{finding.subject}: {listed}" if listed else finding.subject


def summary(health: HealthReport) -> str:
    """Number of findings of each severity, in Markdown."""
    if not health.findings:
        return f"No problems in {count_of(len(health.markers), 'marker')}."
    counts = {
        severity: sum(finding.severity is severity for finding in health.findings)
        for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO)
    }
    names = {Severity.INFO: "note"}
    listed = ", ".join(
        count_of(count, names.get(severity, str(severity)))
        for severity, count in counts.items()
        if count
    )
    more = len(health.findings) - MAX_FINDING_BUTTONS
    return f"{listed}. Press a finding to go to its frames." + (
        f" {more} more are not listed." if more > 0 else ""
    )
