"""The playback clock loops, stops, steps and clips."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.studio.playback_clock import PlaybackClock


@pytest.mark.parametrize("loop", [True, False])
def test_the_clock_loops_or_stops(loop):
    clock = replace(PlaybackClock(np.arange(11) / 10), loop=loop, speed=2.0).play()
    assert clock.advance(0.25).frame == 5
    over = clock.advance(0.6)
    assert over.playing == loop
    assert over.frame == (2 if loop else 10)
    assert over.play().playing


def test_the_clock_steps_and_clips():
    clock = PlaybackClock(np.arange(11) / 10).at_frame(9).play()
    assert clock.step(5).frame == 10
    assert not clock.step(1).playing
    assert clock.step(-20).frame == 0
    assert clock.at(99.0).now == 1.0
    assert PlaybackClock(np.zeros(1)).play().playing is False
