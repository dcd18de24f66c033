"""The demonstration of the studio: the bundled walk and its analysis."""

from __future__ import annotations

from homodyn import capture
from homodyn.analysis.demo import DEMO_SETTINGS, DEMO_TRIAL_FOLDER
from homodyn.analysis.pipeline import STAGES, analyze
from homodyn.studio.background_tasks import BackgroundTask
from homodyn.studio.file_opening import actor_from_analysis
from homodyn.studio.session import Session

NAME = "Analyzing the demonstration"


def open_recording(session: Session) -> None:
    """Open the recording of the walk."""
    trial = capture.read(DEMO_TRIAL_FOLDER / "walk.c3d")
    session.change(
        "open the demonstration", lambda document: document.with_trial(trial), in_file=True
    )


def analyze_recording(session: Session, task: BackgroundTask) -> None:
    """Scale a model to the subject, fit it to the markers, compute torques, and open the result."""
    analysis = analyze(
        DEMO_TRIAL_FOLDER / "walk.c3d",
        DEMO_SETTINGS,
        progress=lambda stage: task.report(stage, STAGES.index(stage) / len(STAGES)),
    )
    actor = actor_from_analysis(analysis)

    session.change(
        "analyze the demonstration", lambda document: document.with_actor(actor), in_file=True
    )
    session.update_clock(lambda clock: clock.at_frame(0).play())
