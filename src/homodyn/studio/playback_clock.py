"""Playback: the frame that is shown, the speed, and looping."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from homodyn.studio.document import nearest_frame

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Playback speeds, as multiples of real time."""


@dataclass(frozen=True, eq=False)
class PlaybackClock:
    """The current instant of a motion, and whether it is playing."""

    time: np.ndarray
    """(frames,), s."""
    now: float = 0.0
    """The current instant (s)."""
    speed: float = 1.0
    loop: bool = True
    playing: bool = False

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.time)

    @property
    def frame(self) -> int:
        """Index of the frame that is shown."""
        return nearest_frame(self.time, self.now)

    def at_frame(self, frame: int) -> PlaybackClock:
        """At a frame; indices are clipped to the range."""
        return replace(self, now=float(self.time[int(np.clip(frame, 0, self.frames - 1))]))

    def at(self, instant: float) -> PlaybackClock:
        """At an instant (s), clipped to the motion."""
        return replace(self, now=float(np.clip(instant, self.time[0], self.time[-1])))

    def step(self, frames: int) -> PlaybackClock:
        """Paused, ``frames`` frames later, or earlier if negative."""
        return replace(self.at_frame(self.frame + frames), playing=False)

    def play(self) -> PlaybackClock:
        """Playing; from the start if the motion was at its end."""
        start = self.time[0] if self.now >= self.time[-1] else self.now
        return replace(self, playing=self.frames > 1, now=float(start))

    def pause(self) -> PlaybackClock:
        """Paused."""
        return replace(self, playing=False)

    def advance(self, seconds: float) -> PlaybackClock:
        """After an elapsed time (s): advanced by the speed, looped, or stopped at the end."""
        if not self.playing:
            return self
        first, last = float(self.time[0]), float(self.time[-1])
        now = self.now + self.speed * seconds
        if now <= last:
            return replace(self, now=now)
        if not self.loop or last == first:
            return replace(self, now=last, playing=False)
        return replace(self, now=first + (now - last) % (last - first))

    def with_time(self, time: np.ndarray) -> PlaybackClock:
        """With the frames of another motion, at the same instant if possible."""
        if np.array_equal(time, self.time):
            return self
        return replace(self, time=time, playing=self.playing and len(time) > 1).at(self.now)
