"""Fitting in the studio: one frame, all frames, calibration of the model, inverse dynamics.

Each task calls the same functions as ``homodyn analyze`` and returns the changed body with a
sentence on the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from homodyn import capture, gait
from homodyn.analysis.pipeline import MAX_FIT_ERROR_M, attach_marker_fit
from homodyn.analysis.subject_model import subsample
from homodyn.analysis.trial_input import MIN_MATCHED_MARKERS
from homodyn.capture import (
    Signals,
    Trial,
)
from homodyn.errors import CaptureError, HomodynError
from homodyn.foundation import count_of
from homodyn.foundation.markup import escape_markup
from homodyn.motion import (
    FitStatus,
    Motion,
)
from homodyn.motion.clinical import coordinate_label
from homodyn.studio.body_geometry import body_geometry
from homodyn.studio.document import Actor, StudioDocument, nearest_frame
from homodyn.studio.marker_editing import marker_errors, root_mean_square
from homodyn.studio.model_editing import with_model

FitProgress = Callable[[str, float], None]
"""Called with the stage and the completed share; an exception that it raises ends the task."""


@dataclass(frozen=True)
class FitOutcome:
    """A body before and after a task, and a sentence on the result."""

    before: Actor
    after: Actor
    sentence: str

    def apply_to(self, document: StudioDocument) -> StudioDocument:
        """The document with the changed body.

        Raises:
            HomodynError: The body was changed since the task started.
        """
        index = document.index(self.before.name)
        present = document.actors[index]
        if present.model is not self.before.model or present.motion is not self.before.motion:
            raise HomodynError(
                f"{self.before.name} was changed during the computation, so the result does not "
                "apply; start it again"
            )
        return document.with_actor_at(index, self.after)


def ignore_progress(stage: str, share: float) -> None:
    """Do nothing with the progress of a task."""


def fit_frame(actor: Actor, trial: Trial, time: float) -> FitOutcome:
    """Fit the pose of a body to the markers of one frame, at an instant (s).

    The fit starts from the present pose, which keeps coordinates that no marker determines, and
    from the neutral pose; the better result is used.
    """
    _require_shared_markers(actor, trial)
    frame = nearest_frame(trial.time, time)
    one = single_frame(capture.fill_gaps(trial), frame)
    present = actor.position(time)
    fits: list[Motion] = []
    failures: list[CaptureError] = []
    for start in (present, None):
        try:
            fits.append(
                capture.inverse_kinematics(
                    actor.model, one, weights=actor.weights, start=start, max_rms=np.inf
                )
            )
        except CaptureError as error:
            failures.append(error)
    if not fits:
        raise failures[0]
    best = fits[0]
    if len(fits) > 1 and fits[1].rms < fits[0].rms - 1e-5:
        best = fits[1]
    after = actor.with_pose(best.q[0])
    error_before = current_error(actor, trial, time)
    labels = [coordinate_label(actor.model, name) for name in best.unobserved]
    fixed = f" Not determined by markers: {escape_markup(', '.join(labels))}." if labels else ""
    sentence = (
        f"Frame {trial.first_frame + frame}: marker error {_mm(error_before)} before, "
        f"**{_mm(current_error(after, trial, time))}** after the fit.{fixed}"
    )
    return FitOutcome(actor, after, sentence)


def fit_all(
    actor: Actor, trial: Trial, progress: FitProgress = ignore_progress, *, robust: bool = False
) -> FitOutcome:
    """Fit the motion of a body to the markers of all frames."""
    _require_shared_markers(actor, trial)
    progress("filling gaps", 0.0)
    filled = capture.fill_gaps(trial)
    motion = capture.inverse_kinematics(
        actor.model,
        filled,
        weights=actor.weights,
        robust="huber" if robust else None,
        max_rms=MAX_FIT_ERROR_M,
        progress=lambda share: progress("fitting", share),
    )
    worst = motion.markers[int(np.nanargmax(_mean_squares(motion.residual)))]
    exceptions = [
        f"{count_of(count, 'frame')} {status}"
        for status in (FitStatus.STALLED, FitStatus.UNSEEN)
        if (count := int((motion.status == status).sum()))
    ]
    sentence = (
        f"{count_of(trial.frames, 'frame')}: marker error **{_mm(motion.rms)}** rms, the worst "
        f"marker is {escape_markup(worst)}." + (f" {', '.join(exceptions)}." if exceptions else "")
    )
    after = replace(actor, motion=motion, q=motion.q[0], posed=False, loads=None)
    return FitOutcome(actor, after, sentence)


def calibrate(
    actor: Actor,
    trials: Sequence[Trial],
    progress: FitProgress = ignore_progress,
    *,
    mass: float | None = None,
    height: float | None = None,
    time: float | None = None,
) -> FitOutcome:
    """Calibrate a model to the subject of recordings.

    Segment sizes, joint centers and marker positions are estimated together with the poses (Felis
    2015, eq. 4.3).

    Args:
        actor: The body.
        trials: The recordings; those that share too few markers are not used.
        progress: Called with the stage and the completed share.
        mass: Mass of the subject (kg); that of the model if omitted.
        height: Stature of the subject (m), if known.
        time: Instant (s) of the last recording to which a body without a motion is fitted.
    """
    known = {marker.name for marker in actor.model.markers}
    usable = [trial for trial in trials if len(known & set(trial.markers)) >= MIN_MATCHED_MARKERS]
    if not usable:
        raise CaptureError(
            f"no open recording has {MIN_MATCHED_MARKERS} or more markers of {actor.name}; match "
            "the labels, or assign markers first"
        )
    progress("filling gaps", 0.0)
    filled = [subsample(capture.fill_gaps(trial)) for trial in usable]
    scaled = capture.calibrate(
        actor.model,
        filled,
        mass=mass,
        height=height,
        keep_shares=True,
        progress=lambda share: progress("calibrating", share),
    )
    sentence = (
        f"Calibrated on {escape_markup(', '.join(trial.name for trial in usable))}: marker error "
        f"{_mm(scaled.rms_before)} before, **{_mm(scaled.rms_after)}** after ({scaled.status})."
    )
    if scaled.warnings:
        sentence += f" {escape_markup(scaled.warnings[0].rstrip('.'))}" + (
            "" if scaled.warnings[0].endswith("?") else "."
        )
    after = with_model(actor, scaled.model, None)
    if time is not None and not after.moving:
        after = fit_frame(after, usable[-1], time).after
    return FitOutcome(actor, after, sentence)


def inverse_dynamics(
    actor: Actor, trial: Trial, progress: FitProgress = ignore_progress, *, cutoff: float
) -> FitOutcome:
    """Compute torques, ground forces and events of the motion; ``cutoff`` (Hz) of the filter."""
    if actor.motion is None:
        raise CaptureError(f"{actor.name} has no motion; fit all frames first")
    progress("forces and torques", 0.0)
    plates = trial.plates
    loads = capture.inverse_dynamics(actor.motion, plates, cutoff=cutoff)
    progress("events", 0.7)
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
        f"ground forces from {count_of(len(plates), 'plate')}; "
        f"{escape_markup(capture.kinetics.residuals(loads).sentence)}"
        if plates
        else "ground forces predicted from the motion, because there are no plates"
    )
    sentence = f"Torques of {count_of(len(loads.joints), 'coordinate')}; {ground}."
    return FitOutcome(actor, after, sentence)


def single_frame(trial: Trial, frame: int) -> Trial:
    """A recording that contains one frame of another."""
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
    positions = body_geometry(actor.model).poses(actor.position(time)).markers[0]
    return root_mean_square(marker_errors(actor, trial, positions, time))


def _require_shared_markers(actor: Actor, trial: Trial) -> None:
    """Raise if a body has no marker of the recording."""
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
