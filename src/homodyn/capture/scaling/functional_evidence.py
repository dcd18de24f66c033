"""Functional joint centers and axes as evidence in the estimation of a person.

A functional trial moves one joint or several through their range. Where both segments of a joint
have three markers or more, SCoRE gives the center of a ball joint and SARA the axis of a hinge, as
points and lines that are fixed relative to the markers of each segment. The joint of the scaled
model has to be there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.capture.rigid_registration import register_points
from homodyn.capture.scaling.bundle_adjustment import PersonParameters
from homodyn.capture.scaling.functional_joints import (
    FunctionalJoint,
    functional_axis,
    functional_center,
    segment_shape,
)
from homodyn.capture.scaling.marker_kinds import MarkerKind, marker_kinds
from homodyn.capture.scaling.scaling_prior import ScalingPrior
from homodyn.capture.scaling.shared_markers import SharedMarkers
from homodyn.errors import CaptureError
from homodyn.model import Model
from homodyn.model.joint import Joint

DIFFERENCE_STEP = 1e-6
"""Step of the finite differences (m, or relative)."""
ARTIFACT_FACTOR = 2.0
"""Error of a functional center over the distance of its images in the two segments: markers are on
one side of a joint, so their artifacts are extrapolated to the center. The same for an axis, whose
turn is that error over the radius of a cluster."""
MIN_SEEN_SHARE = 0.8
"""Share of the frames of a functional trial in which a marker must be seen to be used."""
MIN_SEGMENT_MARKERS = 3
"""Markers that determine the position and orientation of a segment."""


@dataclass(frozen=True, eq=False)
class SegmentPoint:
    """The functional center and axis relative to the markers of one segment."""

    body: int
    """Index of the body."""
    rows: np.ndarray
    """(markers,): indices of its markers."""
    shape: np.ndarray
    """(markers, 3), m: measured shape of the markers."""
    center: np.ndarray
    """(3,), m, in the axes of ``shape``."""
    axis: np.ndarray
    """(3,), unit vector in the axes of ``shape``."""


@dataclass(frozen=True, eq=False)
class JointFit:
    """A joint of a model as a functional trial shows it."""

    joint: int
    """Index of the joint."""
    trial: str
    """Name of the functional trial."""
    ball: bool
    """Whether the center is known in space; otherwise an axis is known."""
    segments: tuple[SegmentPoint, SegmentPoint]
    """Of the parent and of the child."""
    residual: float
    """Distance of the centers in the two segments (m, root mean square)."""


@dataclass(frozen=True, eq=False)
class FunctionalEvidence:
    """Deviation of a joint from its functional center or axis, per standard deviation."""

    model: Model
    unknowns: PersonParameters
    fit: JointFit
    columns: np.ndarray
    """Indices of the unknowns that the deviation depends on."""
    markers: np.ndarray
    """(markers, 3), m: generic positions of all markers."""
    spread: ScalingPrior

    @property
    def deviation(self) -> float:
        """Standard deviation of the center along each axis (m).

        The images of the center in the two segments come apart by soft-tissue artifacts, which
        repeat with the pose and do not average out.
        """
        return float(np.hypot(self.spread.functional_center, ARTIFACT_FACTOR * self.fit.residual))

    @property
    def axis_deviation(self) -> float:
        """Standard deviation of the direction of the axis (rad).

        Artifacts that turn a cluster turn the axis as much, and move its images apart: by about
        the turn times the radius of the smaller cluster, or less.
        """
        radius = min(float(np.sqrt((s.shape**2).sum(-1).mean())) for s in self.fit.segments)
        turn = ARTIFACT_FACTOR * self.fit.residual / radius
        return float(np.hypot(self.spread.functional_axis, turn))

    def residual(self, phi: np.ndarray) -> np.ndarray:
        """Deviations (6,), or (12,) for an axis, in standard deviations."""
        person = self.unknowns.person(phi)
        joint = self.model.joints[self.fit.joint]
        parent, child = self.fit.segments
        place = joint.placement.r * person.scales[parent.body] + person.centers[self.fit.joint]
        inside = joint.child_placement.r * person.scales[child.body]
        found = []
        for segment, origin, rotation in (
            (parent, place, np.asarray(joint.placement.E).T),
            (child, inside, np.asarray(joint.child_placement.E).T),
        ):
            generic = self.markers[segment.rows] * person.scales[segment.body]
            R, p = register_points(segment.shape, generic + person.shifts[segment.rows])
            offset = R @ segment.center + p - origin
            if self.fit.ball:
                found.append(offset / self.deviation)
                continue
            direction = rotation @ _hinge_axis(joint)
            turn = np.cross(direction, R @ segment.axis) * np.sign(direction @ R @ segment.axis)
            across = offset - (offset @ direction) * direction
            if any(axis.kind == "slide" for axis in joint.axes):
                # The axis of a knee that rolls and slides has no fixed place.
                across = np.zeros(3)
            found += [across / self.deviation, turn / self.axis_deviation]
        return np.concatenate(found)

    def jacobian(self, phi: np.ndarray) -> np.ndarray:
        """Derivatives of `residual` by the unknowns, by central differences."""
        slopes = np.zeros((len(self.residual(phi)), len(phi)))
        for column in self.columns:
            step = np.zeros(len(phi))
            step[column] = DIFFERENCE_STEP
            change = self.residual(phi + step) - self.residual(phi - step)
            slopes[:, column] = change / (2 * DIFFERENCE_STEP)
        return slopes


def functional_fits(
    model: Model, recording: SharedMarkers, trials: Sequence[int]
) -> tuple[list[JointFit], list[str]]:
    """Joints of a model that functional trials show.

    Args:
        model: The generic model.
        recording: The recorded markers.
        trials: Indices of the functional trials in ``recording``.

    Returns:
        The fit of each joint, of the trial with the smallest residual, and the reasons why
        functional trials show no joint, one sentence each.
    """
    best: dict[int, JointFit] = {}
    doubts = []
    for index in trials:
        frames = np.flatnonzero(recording.trials == index)
        name = recording.frames[frames[0]][0] if len(frames) else str(index)
        found, reasons = _trial_fits(model, recording, frames, name)
        if not found:
            why = "; ".join(reasons) or (
                f"no joint has {MIN_SEGMENT_MARKERS} markers on both of its segments"
            )
            doubts.append(f"functional trial {name!r} determines no joint: {why}")
        for fit in found:
            if fit.joint not in best or fit.residual < best[fit.joint].residual:
                best[fit.joint] = fit
    return [best[joint] for joint in sorted(best)], doubts


def functional_evidence(
    model: Model,
    recording: SharedMarkers,
    unknowns: PersonParameters,
    fits: Sequence[JointFit],
    spread: ScalingPrior,
) -> tuple[FunctionalEvidence, ...]:
    """Evidence for the joints that functional trials show.

    Args:
        model: The generic model.
        recording: The recorded markers.
        unknowns: Layout of the parameters of the person.
        fits: The joints.
        spread: Standard deviations of centers and axes.

    Returns:
        One for each joint.
    """
    place = {marker.name: np.asarray(marker.position) for marker in model.markers}
    markers = np.array([place[name] for name in recording.markers])
    found = []
    for fit in fits:
        bodies = [segment.body for segment in fit.segments]
        rows = np.concatenate([segment.rows for segment in fit.segments])
        scales = np.concatenate([np.arange(3 * body, 3 * body + 3) for body in bodies])
        centers = np.isin(unknowns.centers, 3 * fit.joint + np.arange(3))
        columns = np.concatenate(
            [
                np.flatnonzero(unknowns.tie[scales].any(0)),
                unknowns.logarithms + np.flatnonzero(centers),
                (unknowns.shape + 3 * rows[:, None] + np.arange(3)).ravel(),
            ]
        )
        found.append(FunctionalEvidence(model, unknowns, fit, columns, markers, spread))
    return tuple(found)


def _trial_fits(
    model: Model, recording: SharedMarkers, frames: np.ndarray, name: str
) -> tuple[list[JointFit], list[str]]:
    """Joints that one trial shows, and the reasons why it does not show the others."""
    rows = _segment_rows(model, recording, frames)
    found, reasons = [], []
    for index, (joint, parent) in enumerate(zip(model.joints, model.parents, strict=True)):
        turns = sum(axis.kind == "turn" and axis.coordinate is not None for axis in joint.axes)
        ball = turns >= 2 and not any(axis.kind == "slide" for axis in joint.axes)
        hinge = joint.nv == 1 and _has_hinge_axis(joint)
        if parent < 0 or not (ball or hinge) or min(len(rows[parent]), len(rows[index])) < 3:
            continue
        points = [recording.positions[np.ix_(frames, rows[body])] for body in (parent, index)]
        try:
            fit = (functional_center if ball else functional_axis)(points[0], points[1])
        except CaptureError as error:
            reasons.append(f"{joint.name}: {error}")
            continue
        one, two = (
            _segment_point(body, rows[body], own, fit)
            for body, own in zip((parent, index), points, strict=True)
        )
        found.append(JointFit(index, name, ball, (one, two), fit.residual))
    return found, reasons


def _segment_rows(model: Model, recording: SharedMarkers, frames: np.ndarray) -> list[np.ndarray]:
    """Indices of the recorded markers of each body that a trial shows well."""
    kinds = marker_kinds(model)
    bodies = {marker.name: marker.body for marker in model.markers}
    seen = np.isfinite(recording.positions[frames]).all(-1).mean(0) >= MIN_SEEN_SHARE
    usable = [
        k
        for k, name in enumerate(recording.markers)
        if seen[k] and kinds[name] is not MarkerKind.JOINT_CENTER
    ]
    return [
        np.array([k for k in usable if bodies[recording.markers[k]] == body], dtype=int)
        for body in model.body_names
    ]


def _segment_point(
    body: int, rows: np.ndarray, points: np.ndarray, fit: FunctionalJoint
) -> SegmentPoint:
    """Center and axis in the axes of the mean shape of a segment."""
    seen = np.isfinite(fit.center).all(-1)
    shape = segment_shape(points[seen])
    rotation, offset = register_points(np.broadcast_to(shape, points[seen].shape), points[seen])
    inverse = np.swapaxes(rotation, -1, -2)
    center = (inverse @ (fit.center[seen] - offset)[..., None])[..., 0].mean(0)
    axis = (inverse @ fit.axis[seen][..., None])[..., 0].mean(0)
    return SegmentPoint(body, rows, shape, center, axis / np.linalg.norm(axis))


def _has_hinge_axis(joint: Joint) -> bool:
    return any(axis.kind == "turn" and axis.is_coordinate for axis in joint.axes)


def _hinge_axis(joint: Joint) -> np.ndarray:
    """The axis (3,) that the coordinate of a hinge turns about."""
    return next(
        np.asarray(axis.axis, dtype=float)
        for axis in joint.axes
        if axis.kind == "turn" and axis.is_coordinate
    )
