"""Plots over time."""

import numpy as np
import pytest

from homodyn.studio.panels.plots import PlotsPanel


def test_two_signals_are_plotted_with_a_cursor(studio):
    panel = studio.layout.panel(PlotsPanel)
    first, second = panel.rows
    assert first.menu.value == "Angle: Right knee flexion (KneeRight_RY)"
    second.menu.value = "Torque: Left knee flexion (KneeLeft_RY)"
    studio.session.update_clock(lambda clock: clock.at(1.23))
    studio.wait_until_drawn()
    for row in (first, second):
        time, *_, mark = row.plot.data
        assert time[int(np.argmax(mark))] == pytest.approx(1.23)
