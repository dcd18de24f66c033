"""Events and stance phases on the time line."""

import numpy as np

from homodyn.motion import (
    Event,
)
from homodyn.report.colors import SIDE_COLORS
from homodyn.studio.timeline import event_code, phase_strip, slider_marks


def test_the_time_line_marks_events_and_phases():
    events = (
        Event(0.2, "Foot Strike", "Left"),
        Event(0.8, "Foot Off", "Left"),
        Event(5.0, "Foot Off", "Right"),
    )
    time = np.arange(101) / 100
    assert slider_marks(events, time) == ((20, "LS"), (80, "LO"))
    assert event_code(Event(0.0, "Clap")) == "Cl"
    strip = phase_strip(events, time)
    assert 'x="20.000%"' in strip
    assert 'width="60.000%"' in strip
    assert f'fill="{SIDE_COLORS["left"]}"><title>left foot on the ground' in strip
    assert f'fill="{SIDE_COLORS["right"]}"><title>right foot on the ground' in strip
    assert phase_strip((), time) == ""
