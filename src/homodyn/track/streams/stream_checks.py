"""Checks of a stream frame by frame: clock, rate, labels, and jumps of markers.

Every check corrects or leaves out what is wrong, says so in one sentence, and the stream goes on.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
import scipy

from homodyn.foundation.text import count_of, enumerate_names
from homodyn.track.streams.marker_frame import MarkerFrame

RATE_WINDOW_FRAMES = 40
MAX_RATE_CHANGE = 0.15
"""Relative change of the rate that is reported."""
MAX_GAP_FRAMES = 5.0
"""Duration between two frames, in frames, from which a gap is reported."""
MAX_REORDER_S = 0.5
"""Step back of the clock up to which a packet is late; beyond it, the clock was set back."""
MAX_LATE_FRAMES = 3
"""Late packets in a row from which the clock was set back."""
MIN_JUMP_M = 0.04
MAX_ACCELERATION_M_S2 = 300.0
MAX_SPEED_M_S = 15.0
"""A marker deviates from its prediction by at most a jump plus these bounds of motion."""
MAX_REJECTED_S = 0.25
"""Time after which a marker that jumped is accepted at its new place."""
MAX_PREDICTION_S = 0.1
"""Time over which positions are predicted with the velocity."""
EXCHANGE_SHARE = 0.3
"""An exchange of labels is undone if it leaves at most this share of the deviation."""


@dataclass(frozen=True, eq=False)
class CheckedFrame:
    """A frame after the checks."""

    positions: np.ndarray
    """(markers, 3), m; NaN where a marker is not seen or was rejected."""
    sentences: tuple[str, ...]
    """What was found, one sentence each."""
    usable: bool
    """False for a late or repeated frame, which is left out."""
    restart: bool
    """Whether time is not continuous with the frame before."""


class StreamChecks:
    """The state of the checks of one stream with constant labels.

    Args:
        labels: Names of the markers, for the sentences.
    """

    def __init__(self, labels: tuple[str, ...]) -> None:
        self.labels = labels
        self.late = 0
        """Number of late or repeated frames."""
        self.rejected = np.zeros(len(labels), dtype=int)
        """(markers,): number of rejected positions."""
        self.rate: float | None = None
        """Frames per second (Hz), once known."""
        self._time: float | None = None
        self._late_in_row = 0
        self._steps: deque[float] = deque(maxlen=RATE_WINDOW_FRAMES)
        count = len(labels)
        self._places = np.full((count, 3), np.nan)
        self._speeds = np.zeros((count, 3))
        self._seen_at = np.full(count, -np.inf)
        self._jumped_at = np.full(count, np.nan)
        self._exchanged: tuple[int, ...] = ()

    def check(self, frame: MarkerFrame, positions: np.ndarray) -> CheckedFrame:
        """Check the next frame.

        Args:
            frame: The frame, for its time.
            positions: (markers, 3), m: its positions in the order of the labels.

        Returns:
            The positions that may be used, and the sentences.
        """
        sentences: list[str] = []
        restart = False
        if self._time is not None:
            step = frame.time - self._time
            if step <= 0.0:
                self._late_in_row += 1
                if step > -MAX_REORDER_S and self._late_in_row <= MAX_LATE_FRAMES:
                    self.late += 1
                    return CheckedFrame(positions, (), usable=False, restart=False)
                sentences.append(
                    f"the clock of the sender stepped back by {-step:.3g} s at {self._time:.3f} s; "
                    "tracking begins again"
                )
                restart = True
                self._forget()
            else:
                sentences += self._check_rate(step)
        self._late_in_row = 0
        self._time = frame.time
        checked = positions.copy()
        sentences += self._check_jumps(frame.time, checked)
        return CheckedFrame(checked, tuple(sentences), usable=True, restart=restart)

    def _forget(self) -> None:
        self._steps.clear()
        self._places[:] = np.nan
        self._speeds[:] = 0.0
        self._seen_at[:] = -np.inf
        self._jumped_at[:] = np.nan

    def _check_rate(self, step: float) -> list[str]:
        """Sentences on gaps and on a change of the rate."""
        found = []
        if self.rate is not None and step * self.rate > MAX_GAP_FRAMES:
            assert self._time is not None
            found.append(
                f"no frame for {step:.2f} s after {self._time:.3f} s "
                f"({count_of(round(step * self.rate) - 1, 'frame')})"
            )
            return found
        self._steps.append(step)
        if len(self._steps) < RATE_WINDOW_FRAMES:
            return found
        shortest, step, longest = np.quantile(self._steps, (0.1, 0.5, 0.9))
        rate = 1.0 / float(step)
        # Steps of two rates in one window have no common rate.
        is_steady = longest < (1.0 + MAX_RATE_CHANGE) * shortest
        is_new = self.rate is not None and abs(rate / self.rate - 1.0) > MAX_RATE_CHANGE
        if is_steady and is_new:
            found.append(f"the rate changed from {self.rate:.0f} to {rate:.0f} Hz")
        if self.rate is None or found:
            self.rate = rate
        return found

    def _check_jumps(self, time: float, positions: np.ndarray) -> list[str]:
        """Undo exchanged labels and reject jumps, in place; sentences on both."""
        age = time - self._seen_at
        predicted = self._places + self._speeds * np.minimum(age, MAX_PREDICTION_S)[:, None]
        deviation = np.linalg.norm(positions - predicted, axis=-1)
        # While a marker is seen elsewhere, the bound does not grow.
        hidden = np.where(np.isnan(self._jumped_at), time, self._jumped_at) - self._seen_at
        bound = MIN_JUMP_M + np.minimum(
            0.5 * MAX_ACCELERATION_M_S2 * hidden**2, MAX_SPEED_M_S * hidden
        )
        jumps = np.nan_to_num(deviation) > bound
        sentences = []
        if jumps.any():
            sentences = self._undo_exchanges(time, positions, predicted, jumps)
        else:
            self._exchanged = ()
        self._jumped_at[jumps & np.isnan(self._jumped_at)] = time
        rejected = jumps & (time - self._jumped_at < MAX_REJECTED_S)
        new = rejected & (self._jumped_at == time)
        if new.any():
            names = [self.labels[k] for k in np.flatnonzero(new)]
            sentences.append(
                f"{enumerate_names(names[:4])}{' and others' if len(names) > 4 else ''} jumped by "
                f"{float(np.nanmax(deviation[new])):.2f} m at {time:.3f} s; not used"
            )
        positions[rejected] = np.nan
        self.rejected += rejected
        seen = np.isfinite(positions).all(-1)
        self._jumped_at[seen] = np.nan
        step = np.where(np.isfinite(age), age, 1.0)[:, None]
        speeds = (positions - self._places) / np.maximum(step, 1e-6)
        # A marker that was away has no velocity yet.
        follows = seen & (age <= MAX_PREDICTION_S) & ~jumps
        self._speeds[seen] = np.where(follows[seen, None], speeds[seen], 0.0)
        self._places[seen] = positions[seen]
        self._seen_at[seen] = time
        return sentences

    def _undo_exchanges(
        self, time: float, positions: np.ndarray, predicted: np.ndarray, jumps: np.ndarray
    ) -> list[str]:
        """Assign markers that jumped to the predictions that they meet."""
        rows = np.flatnonzero(jumps)
        if len(rows) < 2:
            return []
        distances = np.linalg.norm(positions[rows][:, None] - predicted[rows][None], axis=-1)
        taken, places = scipy.optimize.linear_sum_assignment(distances)
        before, after = distances.diagonal(), distances[taken, places]
        moved = (taken != places) & (after <= EXCHANGE_SHARE * before) & (after < MIN_JUMP_M * 2)
        # Only closed cycles are exchanges: every taken place must be given up.
        if not moved.any() or set(taken[moved]) != set(places[moved]):
            return []
        positions[rows[places[moved]]] = positions[rows[taken[moved]]]
        jumps[rows[moved]] = False
        exchanged = tuple(rows[moved].tolist())
        if exchanged == self._exchanged:
            return []
        self._exchanged = exchanged
        names = [self.labels[k] for k in exchanged]
        return [f"the labels {enumerate_names(names)} are exchanged from {time:.3f} s; corrected"]
