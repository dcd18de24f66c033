"""Knee and ankle centers of Plug-in Gait as evidence where no medial markers show them.

The marker set has one lateral marker at each knee and ankle. Where the axis of the joint passes,
and how deep its center lies, follows from the conventions of the set: marker on the axis, thigh
and shank markers in the frontal planes of their segments, widths measured with a caliper. The
centers that follow are joint-center markers of the recording, and the knee marker of a model whose
generic place contradicts its definition moves onto the axis.

Labels alone do not say how markers were placed. Without measurements of the subject, the knees of
a straight leg decide: a marker on the axis is near the line from hip to ankle, the generic marker
of HeiMan is 31 mm in front of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from homodyn.capture.labeling.landmarks import landmark
from homodyn.capture.plug_in_gait_centers import (
    LegMeasurements,
    PlugInGaitSubject,
    leg_centers,
    leg_markers,
    pelvis_frames,
    unit_vectors,
)
from homodyn.capture.scaling.pelvis_landmarks import pelvis_landmarks
from homodyn.capture.scaling.scaling_result import ScalingResult
from homodyn.capture.trial import Trial
from homodyn.dynamics import marker_positions
from homodyn.errors import CaptureError
from homodyn.model import Marker, Model
from homodyn.model.joint import Joint

KNEE_WIDTH_SHARE = 0.115
"""Width of the knee over leg length, where it was not measured: mean of three adults."""
ANKLE_WIDTH_SHARE = 0.077
"""Width of the ankle over leg length, where it was not measured: mean of three adults."""
MAX_AXIS_DISTANCE_M = 0.02
"""Distance (m) of a generic marker from the axis of its joint, by definition zero, from which its
place is that of one person rather than of the marker set."""
STRAIGHT_LEG_PERCENTILE = 95.0
"""Percentile of the distance from hip to ankle from which a leg counts as straight."""
MIN_STRAIGHT_RATIO = 0.985
"""Distance from hip to ankle over the path by the knee marker from which a leg is straight."""
MIN_STRAIGHT_FRAMES = 10
"""Frames with a straight leg from which knee markers can be judged."""
MEDIAL_PLACES = frozenset({"knee medial", "ankle medial", "knee center", "ankle center"})
"""Places of recorded points that show knees and ankles better than conventions do."""


@dataclass(frozen=True, eq=False)
class ConventionalMarkers:
    """A model and trials with the joint centers of Plug-in Gait as markers."""

    model: Model
    """The generic model with markers on knee and ankle centers."""
    trials: tuple[Trial, ...]
    """The trials with trajectories of these markers."""
    names: frozenset[str]
    """Names of these markers."""
    note: str
    """What was assumed."""

    def restore(self, generic: Model, result: ScalingResult) -> ScalingResult:
        """The result for the generic model itself.

        Args:
            generic: The generic model, without these markers.
            result: The result of scaling the model with them.

        Returns:
            The result without these markers, marker offsets relative to the generic model.
        """
        kept = tuple(marker for marker in result.model.markers if marker.name not in self.names)
        scales = dict(zip(generic.body_names, (row.scale for row in result.bodies), strict=True))
        placed = {marker.name: marker.position for marker in self.model.markers}
        change = {m.name: scales[m.body] * (placed[m.name] - m.position) for m in generic.markers}
        rows = tuple(
            replace(row, shift=row.shift + change[row.marker])
            for row in result.marker_shifts
            if row.marker not in self.names
        )
        before, after = (
            float(np.sqrt(np.nanmean([getattr(row, name) ** 2 for row in rows])))
            for name in ("rms_before", "rms_after")
        )
        return replace(
            result,
            model=replace(result.model, markers=kept),
            generic=generic,
            marker_shifts=rows,
            rms_before=before,
            rms_after=after,
            notes=(*result.notes, self.note),
        )


def conventional_markers(
    model: Model, trials: Sequence[Trial], subject: PlugInGaitSubject | None = None
) -> ConventionalMarkers | None:
    """Knee and ankle centers of Plug-in Gait as markers of a model and its trials.

    Args:
        model: The generic model.
        trials: Recordings with the labels of the model.
        subject: Measurements of the legs; None assumes widths from the length of the legs.

    Returns:
        Model and trials with these markers; None where a trial shows medial markers or joint
        centers, where no trial has the markers of Plug-in Gait, where the model lacks legs with
        knees and ankles, and where knee markers without measurements are as in the model.
    """
    shown = {marker.name for marker in model.markers}
    labels = {name for trial in trials for name in trial.markers if name in shown}
    joints = dict(_leg_joints(model))
    if len(joints) < 4 or any(landmark(name).place in MEDIAL_PLACES for name in labels):
        return None
    found = [_leg_markers(trial, labels) for trial in trials]
    seen = [markers for markers in found if markers is not None]
    if not seen:
        return None
    measured = assumed_measurements(seen) if subject is None else subject
    on_axes = replace(model, markers=_on_axes(model, joints, measured))
    if subject is None and not _nearer_to_axes(seen, model, on_axes):
        return None
    extended = []
    for trial, markers in zip(trials, found, strict=True):
        centers = {} if markers is None else leg_centers(markers, measured)
        unseen = np.full((trial.frames, 3), np.nan)
        points = [centers.get(name, unseen)[:, None] for name in joints]
        extended.append(
            replace(
                trial,
                markers=(*trial.markers, *joints),
                positions=np.concatenate([trial.positions, *points], axis=1),
                filled=np.pad(trial.filled, ((0, 0), (0, len(points)))),
            )
        )
    centers_of_model = tuple(
        Marker(name, joint.child, np.asarray(joint.child_placement.r, dtype=float))
        for name, joint in joints.items()
    )
    placed = replace(model, markers=(*on_axes.markers, *centers_of_model))
    return ConventionalMarkers(placed, tuple(extended), frozenset(joints), _note(subject, measured))


def assumed_measurements(
    recordings: Sequence[dict[tuple[str, str], np.ndarray]],
) -> PlugInGaitSubject:
    """Measurements of the legs from recorded markers, widths as shares of the leg length.

    Args:
        recordings: Positions (frames, 3), m, of the markers of Plug-in Gait in each recording.

    Returns:
        The measurements, both legs alike.
    """
    lengths = [
        np.linalg.norm(markers["asis", s] - markers["knee", s], axis=-1)
        + np.linalg.norm(markers["knee", s] - markers["ankle", s], axis=-1)
        for markers in recordings
        for s in "LR"
    ]
    # A bent hip shortens the distance from ASIS to knee.
    length = float(np.nanpercentile(np.concatenate(lengths), 90))
    leg = LegMeasurements(length, KNEE_WIDTH_SHARE * length, ANKLE_WIDTH_SHARE * length)
    return PlugInGaitSubject(leg, leg)


def knee_offsets(
    recordings: Sequence[dict[tuple[str, str], np.ndarray]], min_frames: int = 1
) -> np.ndarray:
    """Distances of the knee markers in front of the lines from hip to ankle, with straight legs.

    Args:
        recordings: Positions (frames, 3), m, of the markers of Plug-in Gait in each recording.
        min_frames: Frames with a straight leg that are needed.

    Returns:
        (2,), m: left and right, means of the straightest frames; NaN where fewer are straight.
    """
    subject = assumed_measurements(recordings)
    offsets = []
    for s in "LR":
        lengths, distances = [], []
        for markers in recordings:
            hip, ankle = leg_centers(markers, subject)[f"{s}HJC"], markers["ankle", s]
            pelvis, _ = pelvis_frames(markers)
            line = unit_vectors(ankle - hip)
            forward = pelvis[..., 0]
            forward = unit_vectors(forward - (forward * line).sum(-1, keepdims=True) * line)
            length = np.linalg.norm(ankle - hip, axis=-1)
            knee = markers["knee", s]
            path = np.linalg.norm(knee - hip, axis=-1) + np.linalg.norm(ankle - knee, axis=-1)
            lengths.append(np.where(length >= MIN_STRAIGHT_RATIO * path, length, np.nan))
            distances.append(((markers["knee", s] - hip) * forward).sum(-1))
        length, distance = np.concatenate(lengths), np.concatenate(distances)
        shown = np.isfinite(length + distance)
        if np.count_nonzero(shown) < min_frames:
            offsets.append(np.nan)
            continue
        length, distance = length[shown], distance[shown]
        straight = length >= np.percentile(length, STRAIGHT_LEG_PERCENTILE)
        offsets.append(np.mean(distance[straight]))
    return np.array(offsets)


def _nearer_to_axes(
    recordings: Sequence[dict[tuple[str, str], np.ndarray]], model: Model, on_axes: Model
) -> bool:
    """Whether both recorded knee markers are nearer to the axes than to their generic places.

    A leg that is straight in few frames may be turned inwards or outwards there.
    """
    generic, axes = (knee_offsets([_neutral_markers(one)]) for one in (model, on_axes))
    recorded = knee_offsets(recordings, MIN_STRAIGHT_FRAMES)
    return bool((np.abs(recorded - axes) <= np.abs(recorded - generic)).all())


def _neutral_markers(model: Model) -> dict[tuple[str, str], np.ndarray]:
    """The markers of Plug-in Gait of a model in its neutral pose."""
    names = tuple(marker.name for marker in model.markers)
    return leg_markers(Trial(model.name, names, marker_positions(model, model.neutral()[None]), 1))


def _leg_markers(trial: Trial, labels: set[str]) -> dict[tuple[str, str], np.ndarray] | None:
    """Markers of Plug-in Gait among the labels that the model knows; None where one is missing."""
    try:
        markers = leg_markers(trial.select_markers([n for n in trial.markers if n in labels]))
    except CaptureError:
        return None
    needed = [markers[place, s] for place in ("asis", "thigh", "knee", "ankle") for s in "LR"]
    return markers if np.isfinite(np.stack(needed)).all((0, 2)).any() else None


def _leg_joints(model: Model) -> Iterator[tuple[str, Joint]]:
    """Names of joint centers, such as ``LKJC``, with the knees and ankles of a model."""
    landmarks = pelvis_landmarks(model)
    parents = {joint.parent for joint in model.joints}
    for hip, side in () if landmarks is None else landmarks.hips:
        above = model.joint(hip).child
        for letters in ("KJC", "AJC"):
            # A patella carries nothing; the foot carries the ankle and need not carry toes.
            below = [j for j in model.joints if j.parent == above and j.nv > 0]
            below = [j for j in below if letters == "AJC" or j.child in parents]
            if len(below) != 1:
                return
            yield side.value[0].upper() + letters, below[0]
            above = below[0].child


def _on_axes(
    model: Model, joints: dict[str, Joint], subject: PlugInGaitSubject
) -> tuple[Marker, ...]:
    """The markers of a model, those of knees and ankles on the axes of their joints."""
    placed = []
    for marker in model.markers:
        mark = landmark(marker.name)
        letter = {"knee": "K", "ankle": "A"}.get(mark.place)
        joint = joints.get(f"{mark.side.upper()}{letter}JC")
        if joint is not None and not any(axis.kind == "slide" for axis in joint.axes):
            leg = subject.left if mark.side == "l" else subject.right
            width = leg.knee_width if letter == "K" else leg.ankle_width
            marker = _on_axis(marker, joint, width / 2 + subject.marker_radius)
        placed.append(marker)
    return tuple(placed)


def _on_axis(marker: Marker, joint: Joint, distance: float) -> Marker:
    """A marker on the flexion axis of a joint, where its place is far from there."""
    placement = {joint.child: joint.child_placement, joint.parent: joint.placement}.get(marker.body)
    turns = [axis for axis in joint.axes if axis.kind == "turn"]
    if placement is None or not turns:
        return marker
    axis = np.asarray(placement.E).T @ np.asarray(turns[0].axis, dtype=float)
    offset = np.asarray(marker.position) - placement.r
    along = float(offset @ axis)
    if np.linalg.norm(offset - along * axis) < MAX_AXIS_DISTANCE_M:
        return marker
    return replace(marker, position=placement.r + np.copysign(distance, along) * axis)


def _note(subject: PlugInGaitSubject | None, measured: PlugInGaitSubject) -> str:
    leg = measured.left
    source = "as measured" if subject is not None else "assumed from the length of the legs"
    return (
        f"knee and ankle centers by the conventions of Plug-in Gait, with widths {source} (left: "
        f"knee {1e3 * leg.knee_width:.0f} mm, ankle {1e3 * leg.ankle_width:.0f} mm)"
    )
