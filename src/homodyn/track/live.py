"""Tracking of markers as they arrive: pose, torques and ground forces of each frame at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from homodyn.capture.kinematics import inverse_kinematics
from homodyn.capture.trial import Trial
from homodyn.errors import CaptureError, HomodynError, ModelError
from homodyn.foundation import Record, record
from homodyn.foundation.arguments import require_type
from homodyn.foundation.options import change_options
from homodyn.model import Model
from homodyn.motion import ContactForce
from homodyn.track.foot_forces import FootContacts
from homodyn.track.options import TrackingKeywords, TrackingOptions
from homodyn.track.tracker import Tracker, TrackingStep

MAX_GAP_S = 0.5
"""Time that inertia and springs bridge without enough markers; then the body is placed again."""
START_FRAMES = 10
"""Frames after which the velocities of the body are those of the markers."""
MIN_MARKERS = 3
"""Markers that place a body."""
MAX_STEP_RATIO = 4.0
"""Longest step, as a multiple of the usual one; longer times are divided."""


class FrameStatus(StrEnum):
    """How a frame was tracked."""

    TRACKED = "tracked"
    """Both bodies advanced to the frame."""
    STARTED = "started"
    """The body was placed at the markers less than `START_FRAMES` frames ago: a pose, no forces."""
    BRIDGED = "bridged"
    """Too few markers: inertia, joint springs and the remaining markers move the body."""
    LOST = "lost"
    """No body: too few markers for longer than `MAX_GAP_S`, or none placed it yet."""
    BALANCE_LOST = "balance lost"
    """The driven body fell and was put back: forces of this frame and the next are not reliable."""
    NOT_CONVERGED = "not converged"
    """The step of the driven body had no solution: a pose, no forces. Without a pose the body is
    placed again at the next frame."""
    REFUSED = "refused"
    """The time is not after that of the last frame, or not finite; nothing changed."""


@record
class TrackedFrame(Record):
    """What is known after a frame. Arrays of a frame without a body are zero."""

    time: float
    """s."""
    status: FrameStatus
    """How it was tracked."""
    q: np.ndarray
    """(nq,): pose that follows the markers, rad or m."""
    v: np.ndarray
    """(nv,): its velocity, rad/s or m/s."""
    torques: np.ndarray
    """(nv,): joint torques (N m, N) since the last frame; zero in the columns of the root."""
    residual: np.ndarray
    """(nv,): residual forces in the columns of the root (N m, N); zero elsewhere."""
    contact_forces: np.ndarray
    """(points, 3): forces of the ground on the contact points, N, world of the model."""
    contact_points: np.ndarray
    """(points, 3): places of the contact points, m."""
    contacts: FootContacts
    """Which contact points belong to which foot."""
    effort: float
    """W: sum over the joints of the magnitude of torque times velocity."""
    marker_error: np.ndarray
    """(markers,): distance of measured and model marker, m; NaN where not seen."""
    driven_q: np.ndarray
    """(nq,): pose of the body that the torques drive, rad or m."""
    driven_v: np.ndarray
    """(nv,): its velocity, rad/s or m/s."""

    @property
    def feet(self) -> tuple[ContactForce, ...]:
        """Forces of the ground by foot, one frame each."""
        return self.contacts.forces(self.contact_forces[None], self.contact_points[None])

    def headline(self) -> str:
        """Time, status and effort."""
        return f"TrackedFrame at {self.time:.4f} s: {self.status}, effort {self.effort:.4g} W"


class Live:
    """Tracks markers frame by frame.

    The first frame places the body, which takes longer than a frame. Every further frame advances
    it by one step of each of two bodies (`homodyn.track.worlds`); markers are not filtered.

    Attributes:
        model: The model.
        markers: Names of the markers, in the order of arrays.
        feet: Names of the bodies that the ground acts on.

    Args:
        model: A model with markers, and with contacts if its root floats.
        options: Laws and limits; the defaults when left out.
        rate: Usual number of frames per second (Hz).
        start: Pose near that of the first frame, (nq,); None: inverse kinematics finds it.
        changes: Fields of `TrackingOptions` to change.

    Raises:
        ModelError: The model has no markers, or floats without contacts.
    """

    def __init__(
        self,
        model: Model,
        options: TrackingOptions | None = None,
        *,
        rate: float = 60.0,
        start: ArrayLike | None = None,
        **changes: Unpack[TrackingKeywords],
    ) -> None:
        require_type("model", model, Model)
        if not (rate > 0 and np.isfinite(rate)):
            raise ModelError(f"rate must be a positive number (Hz), got {rate}")
        chosen = change_options("Live", options or TrackingOptions(), changes)
        self.model = model
        self._dt = 1.0 / rate
        self._pose = model.neutral() if start is None else np.asarray(start, dtype=float)
        self._has_pose = start is not None
        self._tracker = Tracker(model, self._pose, self._dt, None, chosen)
        self._contacts = FootContacts.of(model)
        self.markers, self.feet = self._tracker.markers, self._contacts.feet
        self._time: float | None = None
        self._seen_time: float | None = None
        self._placed = False
        self._frames_since_start = 0

    def restart(self, start: ArrayLike) -> None:
        """Begin again: the next frame places the body, and its time may be any.

        Args:
            start: Pose near that of the next frame, (nq,).
        """
        self._pose = np.asarray(start, dtype=float)
        self._has_pose, self._placed = True, False
        self._time = self._seen_time = None

    def to_model_axes(self, positions: ArrayLike) -> np.ndarray:
        """Positions in the world axes of the model.

        Args:
            positions: (..., 3), m, Z up.

        Returns:
            (..., 3), m.
        """
        return self._tracker.to_model_axes(np.asarray(positions, dtype=float))

    def step(self, time: float, markers: Mapping[str, ArrayLike] | ArrayLike) -> TrackedFrame:
        """Advance to a frame.

        Args:
            time: Time of the frame (s), after that of the last frame.
            markers: Positions (m, Z up) by name, or (markers, 3) in the order of ``markers``; NaN
                or absent where not seen. Names that the model does not have are ignored.

        Returns:
            Pose, torques and forces.

        Raises:
            CaptureError: The positions have another shape.
        """
        positions = self._tracker.to_model_axes(self._positions(markers))
        seen = int(np.isfinite(positions).all(-1).sum())
        time = float(time)
        if not np.isfinite(time) or (self._time is not None and time <= self._time):
            return self._empty(time, FrameStatus.REFUSED, positions)
        elapsed = self._dt if self._time is None else time - self._time
        self._time = time
        if seen >= MIN_MARKERS:
            gap = 0.0 if self._seen_time is None else time - self._seen_time
            self._seen_time = time
            if not self._placed or gap > MAX_GAP_S:
                return self._place(time, positions)
        elif not self._placed or time - (self._seen_time or time) > MAX_GAP_S:
            self._placed = False
            return self._empty(time, FrameStatus.LOST, positions)
        return self._advance(time, elapsed, positions, seen)

    def _positions(self, markers: Mapping[str, ArrayLike] | ArrayLike) -> np.ndarray:
        if isinstance(markers, Mapping):
            missing = np.full(3, np.nan)
            rows = [np.asarray(markers.get(name, missing), dtype=float) for name in self.markers]
            if any(row.shape != (3,) for row in rows):
                raise CaptureError("markers: three coordinates (m) are needed for each name")
            positions = np.array(rows)
        else:
            positions = np.asarray(markers, dtype=float)
        if positions.shape != (len(self.markers), 3):
            raise CaptureError(
                f"markers: ({len(self.markers)}, 3) numbers are needed, in the order of "
                f"Live.markers; got shape {positions.shape}"
            )
        return np.where(np.isfinite(positions).all(-1, keepdims=True), positions, np.nan)

    def _place(self, time: float, positions: np.ndarray) -> TrackedFrame:
        """Place the body at the markers of a frame."""
        start = self._pose
        if not self._has_pose:
            try:
                start = first_pose(self.model, self.markers, positions, self._tracker)
            except HomodynError:
                return self._empty(time, FrameStatus.LOST, positions)
        self._tracker.relax(start, positions)
        self._placed, self._has_pose = True, False
        self._frames_since_start = 0
        return self._empty(time, FrameStatus.STARTED, positions)

    def _advance(
        self, time: float, elapsed: float, positions: np.ndarray, seen: int
    ) -> TrackedFrame:
        last = self._tracker.last_positions
        count = max(1, int(np.ceil(elapsed / (MAX_STEP_RATIO * self._dt))))
        for k in range(1, count + 1):
            share = k / count
            target = positions if k == count else last + share * (positions - last)
            step = self._tracker.advance(target, elapsed / count)
        status = FrameStatus.TRACKED if seen >= MIN_MARKERS else FrameStatus.BRIDGED
        if not step.fitted:
            self._placed = False
            return self._empty(time, FrameStatus.NOT_CONVERGED, positions)
        self._frames_since_start += 1
        if self._frames_since_start < START_FRAMES:
            # The velocities of the body are not yet those of the markers.
            self._tracker.restart()
            return self._without_forces(self._frame(time, FrameStatus.STARTED, step))
        if not step.solved or step.fallen:
            self._tracker.restart()
            frame = self._frame(time, FrameStatus.BALANCE_LOST, step)
            if step.solved:
                return frame
            return self._without_forces(replace(frame, status=FrameStatus.NOT_CONVERGED))
        return self._frame(time, status, step)

    def _without_forces(self, frame: TrackedFrame) -> TrackedFrame:
        """The frame with the pose, and without forces that are not known."""
        empty = self._empty(frame.time, frame.status, frame.marker_error)
        return replace(
            empty,
            q=frame.q,
            v=frame.v,
            marker_error=frame.marker_error,
            driven_q=frame.q,
            driven_v=frame.v,
        )

    def _frame(self, time: float, status: FrameStatus, step: TrackingStep) -> TrackedFrame:
        root = list(self.model.root.v)
        torques, residual = step.torques.copy(), np.zeros(self.model.nv)
        residual[root], torques[root] = torques[root], 0.0
        return TrackedFrame(
            time,
            status,
            step.q,
            step.v,
            torques,
            residual,
            step.contact_forces,
            step.contact_points,
            self._contacts,
            float(np.abs(torques * step.driven_v).sum()),
            step.marker_error,
            step.driven_q,
            step.driven_v,
        )

    def _empty(self, time: float, status: FrameStatus, positions: np.ndarray) -> TrackedFrame:
        """A frame without forces."""
        model = self.model
        q = self._tracker.fit.q.copy() if self._placed else model.neutral()
        zero = np.zeros(model.nv)
        none = np.zeros((sum(len(own) for own in self._contacts.members), 3))
        error = np.full(len(positions), np.nan)
        return TrackedFrame(
            time, status, q, zero, zero, zero, none, none, self._contacts, 0.0, error, q, zero
        )


def first_pose(
    model: Model, markers: Sequence[str], positions: np.ndarray, tracker: Tracker
) -> np.ndarray:
    """The pose of one frame by inverse kinematics.

    Args:
        model: The model.
        markers: Names of the markers.
        positions: (markers, 3), m, world of the model; NaN where not seen.
        tracker: What knows the axes of the model.

    Returns:
        (nq,): the pose.

    Raises:
        HomodynError: The markers do not determine a pose.
    """
    still = Trial("frame", tuple(markers), tracker.to_recording_axes(positions)[None], 1.0)
    return np.asarray(inverse_kinematics(model, still).q[0])
