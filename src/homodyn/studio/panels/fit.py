"""Fit: one frame, all frames, calibration and inverse dynamics; marker errors as bars."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from viser import Icon

from homodyn.capture import Trial
from homodyn.capture.kinetics.inverse_dynamics import DEFAULT_CUTOFF_HZ
from homodyn.errors import HomodynError
from homodyn.foundation.markup import escape_markup
from homodyn.report.posed_geometry import marker_sides
from homodyn.studio.background_tasks import BackgroundTask
from homodyn.studio.document import Actor
from homodyn.studio.fit_tasks import (
    FitOutcome,
    FitProgress,
    calibrate,
    fit_all,
    fit_frame,
    inverse_dynamics,
)
from homodyn.studio.markdown_text import MarkdownText
from homodyn.studio.marker_editing import active_body_and_recording
from homodyn.studio.marker_error_bars import error_bars
from homodyn.studio.panels.panel import Panel, assign, set_text, set_visible
from homodyn.studio.session import SessionView

MIN_REDRAW_S = 0.15
"""Time (s) between two updates of the bars during playback."""
NOTHING_OPEN = "Open a body and a recording, then fit one frame or all frames."


class FitPanel(Panel):
    """Fits poses, segment sizes and loads to the markers."""

    title = "Fit"
    expanded = True

    def build(self) -> None:
        """Create the controls."""
        self.state = MarkdownText(self.gui, NOTHING_OPEN)
        self.frame = self.gui.add_button("Fit this frame", icon=Icon.TARGET)
        self.all = self.gui.add_button("Fit all frames", icon=Icon.PLAYER_TRACK_NEXT)
        self.robust = self.gui.add_checkbox(
            "Robust fit (down-weight outliers)", False, hint="Robust loss for errors above 20 mm"
        )
        self.bar = self.gui.add_progress_bar(0.0, visible=False, animated=True)
        self.cancel = self.gui.add_button("Cancel", icon=Icon.X, color="red", visible=False)
        self.bars = self.gui.add_html("")
        with self.gui.add_folder("Calibration and dynamics", expand_by_default=True):
            self.mass = self.gui.add_number(
                "Mass (kg)",
                0.0,
                min=0.0,
                max=400.0,
                step=0.1,
                hint="Body mass; 0 keeps that of the model",
            )
            self.height = self.gui.add_number(
                "Height (m)", 0.0, min=0.0, max=2.6, step=0.01, hint="Stature; 0 if unknown"
            )
            self.calibrate = self.gui.add_button(
                "Calibrate model",
                icon=Icon.RULER_2,
                hint="Segment sizes, joint centers and marker positions from all open recordings",
                color="gray",
            )
            self.cutoff = self.gui.add_number(
                "Filter (Hz)",
                DEFAULT_CUTOFF_HZ,
                min=0.5,
                max=50.0,
                step=0.5,
                hint="Low-pass for forces",
            )
            self.dynamics = self.gui.add_button(
                "Inverse dynamics", icon=Icon.ARROW_BIG_UP_LINES, color="gray"
            )
        self._redrawn = 0.0
        self._outcome: FitOutcome | None = None
        self.on_click(self.frame)(self._fit_frame)
        self.on_click(self.all)(self._fit_all)
        self.on_click(self.calibrate)(self._calibrate)
        self.on_click(self.dynamics)(self._inverse_dynamics)
        self.on_click(self.cancel)(self._cancel)

    def refresh(self, view: SessionView) -> None:
        """Show the result of the last fit while it is current, else the next step."""
        document = view.document
        actor, trial = document.actor, document.trial
        if actor is None or trial is None:
            sentence = NOTHING_OPEN
        elif self._outcome is not None and actor is self._outcome.after:
            sentence = self._outcome.sentence
        else:
            sentence = ready_sentence(actor, trial)
        set_text(self.state, sentence)
        ready = actor is not None and trial is not None
        for button in (self.frame, self.all, self.calibrate, self.dynamics):
            if button.disabled == ready:
                button.disabled = not ready

    def tick(self, view: SessionView) -> None:
        """Show the marker errors at the current instant."""
        now = perf_counter()
        if view.clock.playing and now - self._redrawn < MIN_REDRAW_S:
            return
        self._redrawn = now
        ready = view.document.actor is not None and view.document.trial is not None
        bars = ""
        if ready and view.document.actor is not None:
            errors, options = self.studio.stage.errors, self.studio.view_options
            sides = marker_sides(view.document.actor.model, errors)
            bars = error_bars(errors, options.error_threshold, sides)
        set_text(self.bars, bars)

    def on_task_update(self, task: BackgroundTask) -> None:
        """Show the progress of a task."""
        running = not task.done.is_set()
        for control in (self.bar, self.cancel):
            set_visible(control, running)
        if running:
            self.bar.animated = task.share == 0.0
            assign(self.bar, 100.0 * (task.share or 1.0))

    def _fit_frame(self) -> None:
        actor, trial = active_body_and_recording(self.session.document)
        now = self.session.clock.now
        self.session.update_clock(lambda clock: clock.pause() if clock.playing else clock)
        self._apply("fit this frame", fit_frame(actor, trial, now))

    def _fit_all(self) -> None:
        actor, trial = active_body_and_recording(self.session.document)
        robust = self.robust.value
        self._start(
            "Fit all frames", lambda progress: fit_all(actor, trial, progress, robust=robust)
        )

    def _calibrate(self) -> None:
        actor, _ = active_body_and_recording(self.session.document)
        trials = self.session.document.trials
        mass, height = self.mass.value or None, self.height.value or None
        now = self.session.clock.now
        self._start(
            "Calibrate",
            lambda progress: calibrate(actor, trials, progress, mass=mass, height=height, time=now),
        )

    def _inverse_dynamics(self) -> None:
        actor, trial = active_body_and_recording(self.session.document)
        cutoff = float(self.cutoff.value)
        self._start(
            "Inverse dynamics",
            lambda progress: inverse_dynamics(actor, trial, progress, cutoff=cutoff),
        )

    def _start(self, name: str, work: Callable[[FitProgress], FitOutcome]) -> None:
        self.studio.tasks.start(name, lambda task: self._apply(name.lower(), work(task.report)))

    def _apply(self, label: str, outcome: FitOutcome) -> None:
        self._outcome = outcome
        self.session.change(label, outcome.apply_to)

    def _cancel(self) -> None:
        task = self.studio.tasks.current
        if task is None or task.done.is_set():
            raise HomodynError("there is no running task to cancel")
        task.cancel()


def ready_sentence(actor: Actor, trial: Trial) -> str:
    """The markers that body and recording share, or the next step, in Markdown."""
    shared = shared_markers(actor, trial)
    if not shared:
        return (
            f"{no_shared_marker(actor, trial)}. Match the labels under Names, or assign markers "
            "to segments."
        )
    return (
        f"**{escape_markup(actor.name)}** has {shared} of the {len(trial.markers)} markers of "
        f"*{escape_markup(trial.name)}*."
    )


def shared_markers(actor: Actor, trial: Trial) -> int:
    """Number of markers that a body and a recording share."""
    return len({marker.name for marker in actor.model.markers} & set(trial.markers))


def no_shared_marker(actor: Actor, trial: Trial) -> str:
    """Part of a sentence on a body without any marker of the recording."""
    return (
        f"**{escape_markup(actor.name)}** and *{escape_markup(trial.name)}* have no marker name "
        "in common"
    )
