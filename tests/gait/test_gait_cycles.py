import numpy as np
import pytest

from homodyn import CaptureError
from homodyn.gait import cycles, find_events, strides
from homodyn.gait.gait_cycles import joint_landings, step_events
from homodyn.motion import Event, Side
from support import strolls


def strikes(*times, side="Left", offs=()):
    found = [Event(t, "Foot Strike", side) for t in times]
    return found + [Event(t, "Foot Off", side) for t in offs]


TIME = np.linspace(0, 5, 501)


def test_a_sine_of_each_stride_becomes_the_same_sine():
    starts = np.array([0.3, 1.4, 2.6, 3.5])
    phase = np.interp(TIME, starts, np.arange(4))
    over = cycles(TIME, np.sin(2 * np.pi * phase), strikes(*starts), "left")
    assert over.values.shape == (3, 101)
    assert over.percent[[0, -1]].tolist() == [0, 100]
    exact = np.sin(2 * np.pi * over.percent / 100)
    assert over.values == pytest.approx(np.tile(exact, (3, 1)), abs=2e-3)
    assert over.mean == pytest.approx(exact, abs=2e-3)
    assert over.sd == pytest.approx(np.zeros(101), abs=2e-3)


def test_any_trailing_shape_goes_through_and_columns_do_not_mix():
    values = np.stack([TIME, TIME**2, -TIME], axis=1)
    over = cycles(TIME, values, strikes(1.0, 2.0), "Left")
    assert over.values.shape == (1, 101, 3)
    t = 1 + over.percent / 100
    assert over.values[0] == pytest.approx(np.stack([t, t**2, -t], axis=1), abs=1e-4)
    forces = cycles(TIME, np.ones((501, 2, 3)), strikes(1.0, 2.0), "left")
    assert forces.values.shape == (1, 101, 2, 3)


def test_nothing_overshoots_beside_a_step():
    step = np.where(TIME > 1.5, 700.0, 0.0)
    over = cycles(TIME, step, strikes(1.0, 2.0), "left")
    assert over.values.min() == 0
    assert over.values.max() == 700


def test_cycles_with_gaps_are_flagged_and_not_averaged():
    values = np.stack([np.sin(TIME), np.cos(TIME)], axis=1)
    values[150:160, 1] = np.nan
    over = cycles(TIME, values, strikes(0.0, 1.0, 2.0, 3.0), "left")
    assert over.complete.tolist() == [True, False, True]
    missing = np.isnan(over.values[1])
    assert not missing[:, 0].any()
    assert np.flatnonzero(missing[:, 1]).tolist() == list(range(50, 60))
    assert np.isfinite(over.mean).all()
    assert over.mean == pytest.approx(over.values[[0, 2]].mean(axis=0))
    assert "1 of 3 left cycles not averaged because of gaps" in over.notes[0]


def test_the_mean_of_nothing_is_refused():
    over = cycles(TIME, np.full(501, np.nan), strikes(0.0, 1.0), "left")
    assert not over.complete.any()
    with pytest.raises(CaptureError, match="cycles have gaps, so there is no mean"):
        over.mean  # noqa: B018
    empty = cycles(TIME, TIME, strikes(0.5), "left")
    assert empty.values.shape == (0, 101)
    assert "no left cycle" in empty.notes[0]


def test_strides_know_their_foot_off_and_skip_a_lost_strike():
    found = strides(strikes(0, 1, 2, 4.2, 5.2, offs=(0.6, 1.6, 4.8)), "left")
    assert [(s.start, s.end, s.foot_off) for s in found] == [
        (0, 1, 0.6),
        (1, 2, 1.6),
        (4.2, 5.2, 4.8),
    ]
    over = cycles(np.linspace(0, 6, 601), np.zeros(601), strikes(0, 1, offs=(0.6,)), "left")
    assert over.foot_off_percent == pytest.approx([60])


def test_the_other_side_and_wrong_sides():
    events = strikes(0, 1) + strikes(0.5, 1.5, side="Right")
    assert [s.start for s in strides(events, "Right")] == [0.5]
    with pytest.raises(CaptureError, match="accepted: left, right"):
        cycles(TIME, TIME, events, "up")


def test_a_series_of_another_length_is_refused():
    with pytest.raises(CaptureError, match="500 rows for 501 times"):
        cycles(TIME, TIME[1:], strikes(0, 1), "left")


@pytest.mark.parametrize("name", ["right knee flexion", "knee_angle_r"])
def test_a_coordinate_of_a_motion_is_cut_in_degrees(name):
    motion = strolls.fitted()
    events = find_events(motion)
    over = cycles(motion, name, events)
    exact = cycles(motion.time, np.rad2deg(motion[name].values), events, "right")
    np.testing.assert_array_equal(over.values, exact.values)
    assert (over.name, over.unit, over.side) == ("Right knee flexion", "deg", "right")
    assert "Right knee flexion (deg)" in repr(over).splitlines()[0]
    np.testing.assert_array_equal(cycles(motion, name).values, over.values)


def test_the_strides_of_a_coordinate_without_side_must_be_chosen():
    motion = strolls.fitted()
    with pytest.raises(CaptureError, match="side='left' or side='right'"):
        cycles(motion, "Pelvis_TX")
    over = cycles(motion, "Pelvis_TX", side="left")
    assert (over.side, over.unit) == ("left", "m")


def test_arrays_need_events_and_a_side():
    with pytest.raises(CaptureError, match="events and a side"):
        cycles(TIME, TIME)


def test_a_data_frame_has_cycles_mean_and_sd():
    pytest.importorskip("pandas")
    over = cycles(TIME, TIME, strikes(0.0, 1.0, 2.0), "left")
    frame = over.to_pandas()
    assert list(frame.columns) == ["cycle 1", "cycle 2", "mean", "sd"]
    assert frame.index.name == "gait cycle (%)"
    np.testing.assert_allclose(frame["mean"], over.mean)
    forces = cycles(TIME, np.ones((501, 3)), strikes(1.0, 2.0), "left").to_pandas()
    assert list(forces.columns)[:3] == ["cycle 1 0", "cycle 1 1", "cycle 1 2"]
    gaps = cycles(TIME, np.full(501, np.nan), strikes(0.0, 1.0), "left").to_pandas()
    assert list(gaps.columns) == ["cycle 1"]


def test_a_plot_has_the_mean_in_the_color_of_the_side():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    _, ax = pyplot.subplots()
    over = cycles(TIME, TIME, strikes(0.0, 1.0, 2.0, offs=(0.6, 1.6)), "left")
    assert over.plot(ax) is ax
    mean = next(line for line in ax.lines if line.get_label() == "left side")
    np.testing.assert_allclose(mean.get_ydata(), over.mean)
    assert mean.get_color() == Side.LEFT.color
    assert ax.get_xlabel() == "gait cycle (%)"
    with pytest.raises(CaptureError, match="no left cycle"):
        cycles(TIME, TIME, strikes(0.5), "left").plot(ax)
    pyplot.close(ax.figure)


def test_landings_of_both_feet_together_are_not_steps():
    walk = [*strikes(0.0, 1.0, 2.0), *strikes(0.5, 1.5, side="Right")]
    assert joint_landings(walk) == []
    assert step_events(walk) == tuple(walk)
    jump = [*strikes(1.0, 2.0, offs=(1.4,)), *strikes(1.02, 2.01, side="Right", offs=(1.41,))]
    assert joint_landings(jump) == [1.0, 1.02, 2.0, 2.01]
    assert step_events(jump) == ()
    assert strides(jump, "left") == strides(jump, "right") == []
    assert len(strides([*walk, *strikes(3.0), *strikes(3.01, side="Right")], "left")) == 2
