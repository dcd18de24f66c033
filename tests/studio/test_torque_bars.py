import numpy as np

from homodyn import catalog
from homodyn.studio.torque_bars import MAX_BARS, largest_torques, torque_bars


def test_the_joints_with_the_largest_torques_are_shown():
    model = catalog.hdm()
    peaks = np.arange(model.nv, dtype=float)
    columns = largest_torques(model, np.zeros(model.nv), peaks)
    assert len(columns) == MAX_BARS
    assert columns == sorted(columns)
    assert min(columns) == model.nv - MAX_BARS
    assert not set(columns) & set(model.root.v)


def test_bars_begin_in_the_middle_and_names_are_escaped():
    text = torque_bars(["left_knee", "<b>"], [25.0, -100.0], 50.0)
    assert "left:50.0%;width:25.0%" in text
    assert "left:0.0%;width:50.0%" in text
    assert "&lt;b&gt;" in text
    assert "#3b78b5" in text
