"""Health: what is wrong with the recording, each finding a button that goes to its frames."""

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
from homodyn.foundation.findings import Severity
from homodyn.model import Model
from homodyn.studio.panels.panel import Panel
from homodyn.studio.session import SessionView

MAX_FINDING_BUTTONS = 16
"""Findings that have a button; all others are counted."""
COLORS: dict[Severity, Any] = {
    Severity.ERROR: "red",
    Severity.WARNING: "orange",
    Severity.INFO: "gray",
}


class HealthPanel(Panel):
    """The findings about the recording that is worked on."""

    title = "Recording quality"
    expanded = True

    def build(self) -> None:
        """Make the controls."""
        self.state = self.gui.add_markdown("No recording is open.")
        self.buttons: list[Any] = []
        self._asked: Any = None
        self._found: tuple[Trial, HealthReport] | None = None
        self._shown: Any = None
        self._turns: dict[int, int] = {}

    def refresh(self, view: SessionView) -> None:
        """Look at another recording, beside the page."""
        document = view.document
        trial, actor = document.trial, document.actor
        if trial is None:
            self._asked = self._found = None
            return
        key = (trial, None if actor is None else actor.model.markers)
        if self._asked is not None and self._asked[0] is trial and self._asked[1] == key[1]:
            return
        self._asked = key
        model = None if actor is None else actor.model
        threading.Thread(
            target=self._look, args=(trial, model, key), daemon=True, name="health"
        ).start()

    def tick(self, view: SessionView) -> None:
        """Show what was found since."""
        if self._found is self._shown:
            return
        self._shown = self._found
        for button in self.buttons:
            button.remove()
        self.buttons, self._turns = [], {}
        if self._found is None:
            self.state.content = "No recording is open."
            return
        trial, health = self._found
        self.state.content = summary(health)
        with self.container:
            for number, finding in enumerate(health.findings[:MAX_FINDING_BUTTONS]):
                button = self.gui.add_button(
                    headline(finding), color=COLORS[finding.severity], hint=finding.sentence
                )
                self.on_click(button)(partial(self._go, number, finding, trial))
                self.buttons.append(button)

    def _look(self, trial: Trial, model: Model | None, key: Any) -> None:
        shared = model is not None and {m.name for m in model.markers} & set(trial.markers)
        try:
            health = capture.check_health(trial, model=model if shared else None)
        except HomodynError as error:
            self.studio.show_error(error)
            return
        if self._asked is key:
            self._found = (trial, health)
            self.session.changed.set()

    def _go(self, number: int, finding: TrialFinding, trial: Trial) -> None:
        """To the next stretch of frames of a finding, with its markers chosen."""
        turn = self._turns.get(number, 0)
        self._turns[number] = turn + 1
        where = ""
        if finding.frames:
            first, last = finding.frames[turn % len(finding.frames)]
            instant = float(trial.time[min(max(first - trial.first_frame, 0), trial.frames - 1)])
            self.session.update_clock(lambda clock: clock.at(instant).pause())
            stretch = f"frame {first}" if first == last else f"frames {first} to {last}"
            where = f" Shown: {stretch}"
            if len(finding.frames) > 1:
                where += f", {turn % len(finding.frames) + 1} of {len(finding.frames)}; again"
                where += " goes to the next"
            where += "."
        if finding.markers:
            known = frozenset(trial.markers)
            self.studio.set_view_options(selected_markers=frozenset(finding.markers) & known)
        self.state.content = f"**{headline(finding)}**: {finding.sentence}.{where}"


def headline(finding: TrialFinding) -> str:
    """A finding in a few words."""
    names = finding.markers or ((finding.plate,) if finding.plate else ())
    listed = ", ".join(names[:3]) + (f" +{len(names) - 3}" if len(names) > 3 else "")
    return f"{finding.subject}: {listed}" if listed else finding.subject


def summary(health: HealthReport) -> str:
    """How many findings of each severity there are, in Markdown."""
    if not health.findings:
        return f"Nothing found in {len(health.markers)} markers."
    counts = {
        severity: sum(finding.severity is severity for finding in health.findings)
        for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO)
    }
    told = ", ".join(f"{count} {severity}" for severity, count in counts.items() if count)
    more = len(health.findings) - MAX_FINDING_BUTTONS
    return f"{told}. Press one to go to its frames." + (
        f" {more} more not listed." if more > 0 else ""
    )
