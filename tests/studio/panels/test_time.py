"""Buttons of the time line."""

import numpy as np

from homodyn.studio.panels.time import press_button
from homodyn.studio.playback_clock import PlaybackClock


def test_buttons_of_the_time_line_change_speed_loop_and_frame():
    clock = PlaybackClock(np.arange(11) / 10).at_frame(4)
    assert press_button(clock, "faster").speed == 2.0
    assert press_button(press_button(clock, "slower"), "slower").speed == 0.25
    for _ in range(10):
        clock = press_button(clock, "faster")
    assert clock.speed == 4.0
    assert press_button(clock, "loop").loop is not clock.loop
    assert press_button(clock, "|◀").frame == 0
    assert (press_button(clock, "◀").frame, press_button(clock, "▶|").frame) == (3, 5)
    playing = press_button(clock, "▶ / ❚❚")
    assert playing.playing
    assert not press_button(playing, "▶ / ❚❚").playing
