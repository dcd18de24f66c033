"""Playing: which frame is shown, how fast time runs and what happens at its end."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from homodyn.studio.document import nearest_frame

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Seconds of the motion in a second."""


@dataclass(frozen=True, eq=False)
class PlaybackClock:
    """An instant of a row of frames, and whether it moves."""

    time: np.ndarray
    """(frames,), s."""
    now: float = 0.0
    """s, on the clock of the motion."""
    speed: float = 1.0
    loop: bool = True
    playing: bool = False

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.time)

    @property
    def frame(self) -> int:
        """The frame that is shown, counted from zero."""
        return nearest_frame(self.time, self.now)

    def at_frame(self, frame: int) -> PlaybackClock:
        """At a frame, the first or last where there is none of that number."""
        return replace(self, now=float(self.time[int(np.clip(frame, 0, self.frames - 1))]))

    def at(self, instant: float) -> PlaybackClock:
        """At an instant (s) within the motion."""
        return replace(self, now=float(np.clip(instant, self.time[0], self.time[-1])))

    def step(self, frames: int) -> PlaybackClock:
        """Some frames on, or back, standing still."""
        return replace(self.at_frame(self.frame + frames), playing=False)

    def play(self) -> PlaybackClock:
        """Playing, from the beginning where it stood at the end."""
        begin = self.time[0] if self.now >= self.time[-1] else self.now
        return replace(self, playing=self.frames > 1, now=float(begin))

    def pause(self) -> PlaybackClock:
        """Standing still."""
        return replace(self, playing=False)

    def advance(self, seconds: float) -> PlaybackClock:
        """After some real time (s): on by the speed, round in a loop, or stopped at the end."""
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
        """The same over other frames, at the same instant where they have it."""
        if np.array_equal(time, self.time):
            return self
        return replace(self, time=time, playing=self.playing and len(time) > 1).at(self.now)
