"""The demonstration in the studio: the walk that ships with the package, analysed."""

from __future__ import annotations

from homodyn import capture
from homodyn.analysis.demo import DEMO_SETTINGS, DEMO_TRIAL_FOLDER
from homodyn.analysis.pipeline import STAGES, analyze
from homodyn.studio.background_tasks import BackgroundTask
from homodyn.studio.document import StudioDocument
from homodyn.studio.file_opening import actor_from_analysis
from homodyn.studio.session import Session

NAME = "Analyzing the demonstration"


def open_recording(session: Session) -> None:
    """Show the markers of the walk, which takes no time."""
    trial = capture.read(DEMO_TRIAL_FOLDER / "walk.c3d")
    session.change(
        "open the demonstration", lambda document: document.with_trial(trial), in_file=True
    )


def analyse(session: Session, task: BackgroundTask) -> None:
    """Scale a body to the walker, fit it to the markers, compute its torques, and show it all."""
    analysis = analyze(
        DEMO_TRIAL_FOLDER / "walk.c3d",
        DEMO_SETTINGS,
        progress=lambda stage: task.tell(stage, STAGES.index(stage) / len(STAGES)),
    )
    actor = actor_from_analysis(analysis)

    def shown(document: StudioDocument) -> StudioDocument:
        return document.with_actor(actor)

    session.change("analyse the demonstration", shown, in_file=True)
    session.update_clock(lambda clock: clock.at_frame(0).play())
