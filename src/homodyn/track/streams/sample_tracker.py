"""The stepping core of tracking with the continuous time and the measures of a live session."""

from __future__ import annotations

import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import marker_positions
from homodyn.model import Model
from homodyn.track.live import MAX_GAP_S, FrameStatus, Live
from homodyn.track.streams.causal_filter import FilteredMarkers
from homodyn.track.streams.live_sample import GroundContact, LiveSample
from homodyn.track.streams.marker_frame import MarkerFrame

STATUS_SENTENCES = {
    FrameStatus.BRIDGED: "too few markers: inertia and springs move the body",
    FrameStatus.BALANCE_LOST: "the driven body lost its balance and was put back",
    FrameStatus.NOT_CONVERGED: "the step was not solved; the body is placed again",
    FrameStatus.LOST: "too few markers to place the body",
    FrameStatus.STARTED: "the body was placed; there are no torques yet",
}
"""Why a result is not reliable, by status; reliable ones and refused frames are absent."""
PREPARATION_FRAMES = 3
"""Steps at the markers of the neutral pose."""
RESTART_GAP_S = 2.0 * MAX_GAP_S
"""Time that `homodyn.track.Live` sees between two movements: the body is placed again."""


class SampleTracker:
    """Advances `homodyn.track.Live` and measures the result.

    All kernels are built before the first frame: the body is placed at its own markers once.

    Args:
        model: The model.
        rate: Usual number of frames per second (Hz).
    """

    def __init__(self, model: Model, rate: float = 100.0) -> None:
        self.model, self.rate = model, rate
        self.live = Live(model, rate=rate)
        self._labels = tuple(marker.name for marker in model.markers)
        self._offset = 0.0
        self._time: float | None = None
        self._restarted = False
        self._last: tuple[float, np.ndarray] | None = None
        self._number = 0
        self._prepare()

    def _prepare(self) -> None:
        """Build the kernels that place and advance a body."""
        markers = np.asarray(marker_positions(self.model, self.model.neutral())).reshape(-1, 3)
        markers = markers @ world_axes(self.model).T
        for k in range(PREPARATION_FRAMES):
            self._time = k / self.rate
            self.live.step(self._time, markers)
        self.restart()

    def restart(self) -> None:
        """Place the body again at the next frame; its time may be any."""
        self._restarted = True
        self._last = None

    def step(self, frame: MarkerFrame, filtered: FilteredMarkers) -> LiveSample | None:
        """Advance to a frame.

        Args:
            frame: The frame, for its arrival.
            filtered: Filtered markers in the order of the model.

        Returns:
            The result; None if the time is not after that of the last frame.
        """
        if self._restarted and self._time is not None:
            self._offset = self._time + RESTART_GAP_S - filtered.time
        self._restarted = False
        time = filtered.time + self._offset
        if self._time is not None and time <= self._time:
            return None
        self._time = time
        tracked = self.live.step(time, filtered.positions)
        if tracked.status is FrameStatus.REFUSED:
            return None
        torques = tracked.torques + tracked.residual
        accelerations = np.zeros_like(tracked.v)
        if self._last is not None:
            accelerations = (tracked.v - self._last[1]) / (time - self._last[0])
        has_body = tracked.status in (FrameStatus.TRACKED, FrameStatus.BRIDGED)
        self._last = (time, tracked.v) if has_body else None
        errors = tracked.marker_error[np.isfinite(tracked.marker_error)]
        self._number += 1
        return LiveSample(
            time=filtered.time,
            arrival=frame.arrival,
            number=self._number,
            labels=self._labels,
            markers=filtered.positions,
            q=tracked.q,
            v=tracked.v,
            torques=torques,
            power=tracked.effort,
            effort=float(np.abs(tracked.torques).sum()),
            marker_error=float(np.sqrt(np.mean(errors**2))) if len(errors) else float("nan"),
            ground={
                foot.body: GroundContact(np.asarray(foot.force)[0], np.asarray(foot.point)[0])
                for foot in tracked.feet
            },
            accelerations=accelerations,
            status=STATUS_SENTENCES.get(tracked.status, ""),
        )
