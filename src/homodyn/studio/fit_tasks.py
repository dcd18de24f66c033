"""Fitting in the studio: this frame, all frames, the body itself, and the forces behind a motion.

Each goes through the functions that ``homodyn analyze`` calls, in the same way, and returns the
changed body with a sentence about what came out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from homodyn import capture, gait
from homodyn.analysis.pipeline import (
    MAX_FIT_ERROR_M,
    MIN_MATCHED_MARKERS,
    attach_marker_fit,
    subsample,
)
from homodyn.capture import (
    Signals,
    Trial,
)
from homodyn.errors import CaptureError, HomodynError
from homodyn.motion import (
    FitStatus,
    Motion,
)
from homodyn.studio.body_geometry import body_geometry
from homodyn.studio.document import Actor, StudioDocument, nearest_frame
from homodyn.studio.marker_editing import marker_errors, root_mean_square
from homodyn.studio.model_editing import with_model

FitProgress = Callable[[str, float], None]
"""Hears what begins and the share that is done; what it raises ends the work."""


@dataclass(frozen=True)
class FitOutcome:
    """A body after some work, and what came out in a sentence."""

    before: Actor
    after: Actor
    sentence: str

    def apply_to(self, document: StudioDocument) -> StudioDocument:
        """The document with the changed body; refused where the body changed meanwhile."""
        place = document.index(self.before.name)
        now = document.actors[place]
        if now.model is not self.before.model or now.motion is not self.before.motion:
            raise HomodynError(
                f"{self.before.name} was changed while this was computed, so the result does not "
                "belong to it any more; start it again"
            )
        return document.with_actor_at(place, self.after)


def ignore_progress(stage: str, share: float) -> None:
    """Report progress to nobody."""


def fit_frame(actor: Actor, trial: Trial, time: float) -> FitOutcome:
    """The pose nearest to the markers of one frame, at an instant (s).

    It is sought from the present pose, in which coordinates that no marker shows stay, and from
    nowhere; the better one is kept.
    """
    _require_shared_markers(actor, trial)
    frame = nearest_frame(trial.time, time)
    one = single_frame(capture.fill_gaps(trial), frame)
    here = actor.position(time)
    found: list[Motion] = []
    refused: list[CaptureError] = []
    for start in (here, None):
        try:
            found.append(
                capture.inverse_kinematics(
                    actor.model, one, weights=actor.weights, start=start, max_rms=np.inf
                )
            )
        except CaptureError as error:
            refused.append(error)
    if not found:
        raise refused[0]
    best = found[0]
    if len(found) > 1 and found[1].rms < found[0].rms - 1e-5:
        best = found[1]
    after = actor.with_pose(best.q[0])
    was = current_error(actor, trial, time)
    fixed = (
        f" Held, since no marker shows them: {', '.join(best.unobserved)}."
        if best.unobserved
        else ""
    )
    sentence = (
        f"Frame {trial.first_frame + frame}: marker error {_mm(was)} before, "
        f"**{_mm(current_error(after, trial, time))}** now.{fixed}"
    )
    return FitOutcome(actor, after, sentence)


def fit_all(
    actor: Actor, trial: Trial, tell: FitProgress = ignore_progress, *, robust: bool = False
) -> FitOutcome:
    """The motion nearest to the markers of all frames."""
    _require_shared_markers(actor, trial)
    tell("filling gaps", 0.0)
    filled = capture.fill_gaps(trial)
    motion = capture.inverse_kinematics(
        actor.model,
        filled,
        weights=actor.weights,
        robust="huber" if robust else None,
        max_rms=MAX_FIT_ERROR_M,
        progress=lambda share: tell("fitting", share),
    )
    worst = motion.markers[int(np.nanargmax(_mean_squares(motion.residual)))]
    odd = [
        f"{count} frames {status}"
        for status in (FitStatus.STALLED, FitStatus.UNSEEN)
        if (count := int((motion.status == status).sum()))
    ]
    sentence = (
        f"{trial.frames} frames: marker error **{_mm(motion.rms)}** rms, the worst marker is "
        f"{worst}." + (f" {', '.join(odd)}." if odd else "")
    )
    after = replace(actor, motion=motion, q=motion.q[0], posed=False, loads=None)
    return FitOutcome(actor, after, sentence)


def calibrate(
    actor: Actor,
    trials: Sequence[Trial],
    tell: FitProgress = ignore_progress,
    *,
    mass: float | None = None,
    height: float | None = None,
    time: float | None = None,
) -> FitOutcome:
    """The body made to the person of the recordings; ``mass`` (kg) and ``height`` (m) are theirs.

    Sizes, joint centres and marker places are found with the poses (Felis 2015, eq. 4.3). A body
    without a motion is brought to the markers of the last recording at an instant ``time`` (s).
    """
    known = {marker.name for marker in actor.model.markers}
    usable = [trial for trial in trials if len(known & set(trial.markers)) >= MIN_MATCHED_MARKERS]
    if not usable:
        raise CaptureError(
            f"no open recording shares {MIN_MATCHED_MARKERS} markers with {actor.name}; match the "
            "labels, or assign markers first"
        )
    tell("filling gaps", 0.0)
    filled = [subsample(capture.fill_gaps(trial)) for trial in usable]
    scaled = capture.calibrate(
        actor.model,
        filled,
        mass=mass,
        height=height,
        keep_shares=True,
        progress=lambda share: tell("calibrating", share),
    )
    sentence = (
        f"Calibrated on {', '.join(trial.name for trial in usable)}: marker error "
        f"{_mm(scaled.rms_before)} before, **{_mm(scaled.rms_after)}** now ({scaled.status})."
    )
    if scaled.warnings:
        sentence += f" {scaled.warnings[0].rstrip('.')}" + (
            "" if scaled.warnings[0].endswith("?") else "."
        )
    after = with_model(actor, scaled.model, None)
    if time is not None and not after.moving:
        after = fit_frame(after, usable[-1], time).after
    return FitOutcome(actor, after, sentence)


def inverse_dynamics(
    actor: Actor, trial: Trial, tell: FitProgress = ignore_progress, *, cutoff: float
) -> FitOutcome:
    """Torques, ground forces and events of the motion, filtered at a cutoff (Hz)."""
    if actor.motion is None:
        raise CaptureError(f"{actor.name} has no motion yet; fit all frames first")
    tell("forces and torques", 0.0)
    plates = trial.plates
    loads = capture.inverse_dynamics(actor.motion, plates, cutoff=cutoff)
    tell("events", 0.7)
    try:
        events = tuple(gait.find_events(actor.motion, plates, recorded=trial.events))
    except HomodynError:
        events = trial.events
    after = replace(
        actor,
        motion=attach_marker_fit(loads.motion, actor.motion),
        loads=loads,
        events=events,
        posed=False,
    )
    ground = (
        f"ground forces from {len(plates)} plates; {capture.kinetics.residuals(loads).sentence}"
        if plates
        else "ground forces predicted from the motion, since there are no plates"
    )
    sentence = f"Torques of {len(loads.joints)} coordinates, {ground}."
    return FitOutcome(actor, after, sentence)


def single_frame(trial: Trial, frame: int) -> Trial:
    """One frame of a recording."""
    rows = slice(frame, frame + 1)
    return replace(
        trial,
        positions=trial.positions[rows],
        filled=trial.filled[rows],
        start=float(trial.time[frame]),
        first_frame=trial.first_frame + frame,
        plates=(),
        analog=Signals(),
        events=(),
    )


def current_error(actor: Actor, trial: Trial, time: float) -> float:
    """Root mean square (m) of the marker errors at an instant (s)."""
    places = body_geometry(actor.model).poses(actor.position(time)).markers[0]
    return root_mean_square(marker_errors(actor, trial, places, time))


def _require_shared_markers(actor: Actor, trial: Trial) -> None:
    """Refuse a body without any marker of the recording, and say what to do."""
    if not {marker.name for marker in actor.model.markers} & set(trial.markers):
        raise CaptureError(
            f"{actor.name} and the recording {trial.name!r} have no marker name in common; "
            "match the labels, or assign markers to segments"
        )


def _mean_squares(residual: np.ndarray) -> np.ndarray:
    seen = np.isfinite(residual)
    return (np.where(seen, residual, 0.0) ** 2).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)


def _mm(distance: float) -> str:
    return f"{1000 * distance:.1f} mm"
