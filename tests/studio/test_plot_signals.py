"""Signals have clinical names and signs, and the color of their side."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn import load
from homodyn.motion import (
    Motion,
)
from homodyn.report.colors import SIDE_COLORS, rgb_from_hex
from homodyn.studio import Actor, StudioDocument
from homodyn.studio.plot_signals import (
    SIGNAL_KINDS,
    PlotCurve,
    line_dash,
    plot_signals,
    signal_curves,
    thin_curve,
)
from support.studio_bodies import knee_bender


def test_every_kind_of_curve_has_its_values_and_unit():
    document = StudioDocument().with_actor(knee_bender())
    expected = {
        "Angle: Left knee flexion (KneeLeft_RY)": ("deg", np.degrees(1.0)),
        "Position: Pelvis_TX": ("m", 0.0),
        "Torque: Left knee flexion (KneeLeft_RY)": ("N m", 3.0),
        "Torque: Pelvis_TX": ("N", 3.0),
        "Ground force: Left foot, upward (FootLeft z)": ("N", 400.0),
        "Ground force: Left foot, magnitude (FootLeft magnitude)": ("N", 400.0),
        "Power: Left knee flexion (KneeLeft_RY)": ("W", 6.0),
        "Marker error: RKNE": ("mm", 4.0),
        "Marker error: all markers, rms": ("mm", np.sqrt(12.5)),
    }
    signals = {signal.label: signal for signal in plot_signals(document)}
    assert {signals[label].kind for label in expected} == set(SIGNAL_KINDS)
    for label, (unit, last) in expected.items():
        (curve,) = signal_curves(document, signals[label])
        assert curve.values[-1] == pytest.approx(last)
        assert signals[label].unit == unit


def test_a_signal_is_positive_in_the_direction_of_its_clinical_name():
    document = StudioDocument().with_actor(knee_bender())
    signals = {signal.name: signal for signal in plot_signals(document) if signal.kind == "torque"}
    # The model turns its thigh forward in the negative direction of the coordinate.
    assert signals["Left hip flexion"].coordinates == ("−HipLeft_RY",)
    (curve,) = signal_curves(document, signals["Left hip flexion"])
    np.testing.assert_allclose(curve.values, -3.0)


def test_right_is_red_left_is_blue_and_dashes_distinguish_bodies():
    document = StudioDocument().with_actor(knee_bender()).with_actor(knee_bender())
    signals = {signal.label: signal for signal in plot_signals(document)}
    right = signal_curves(document, signals["Angle: Right knee flexion (KneeRight_RY)"])
    left = signal_curves(document, signals["Ground force: Left foot, to the left (FootLeft y)"])
    middle = signal_curves(document, signals["Position: Pelvis_TX"])
    assert {curve.color for curve in right} == {rgb_from_hex(SIDE_COLORS["right"])}
    assert {curve.color for curve in left} == {rgb_from_hex(SIDE_COLORS["left"])}
    assert [curve.color for curve in middle] == [actor.color for actor in document.actors]
    for curves in (right, left, middle):
        assert [curve.dash for curve in curves] == [line_dash(0), line_dash(1)]


@pytest.mark.parametrize(
    ("gravity", "upward"), [((0, 0, -9.81), 400.0), ((0, -9.81, 0), 30.0), ((0, 0, 0), 400.0)]
)
def test_upward_forces_are_against_gravity(gravity, upward):
    actor = knee_bender()
    (foot,) = actor.loads.feet
    force = np.tile([0.0, 30.0, 400.0], (len(foot.force), 1))
    loads = replace(actor.loads, feet=(replace(foot, force=force),))
    model = replace(actor.model, gravity=gravity)
    document = StudioDocument().with_actor(replace(actor, model=model, loads=loads))
    signal = next(s for s in plot_signals(document) if s.name == "Left foot, upward")
    (curve,) = signal_curves(document, signal)
    np.testing.assert_allclose(curve.values, upward)


def test_bodies_of_different_models_share_a_signal_by_its_clinical_name(shared_data):
    model = load(shared_data / "gait10dof" / "subject01.osim", as_measured=True)
    frames = 5
    still = np.zeros((frames, model.nv))
    q = np.tile(model.neutral(), (frames, 1))
    motion = Motion(model, np.arange(frames) / 100, q, still, still)
    document = (
        StudioDocument().with_actor(knee_bender()).with_actor(Actor("osim", model, q[0], motion))
    )
    signal = next(s for s in plot_signals(document) if s.name == "Right knee flexion")
    assert signal.coordinates == ("KneeRight_RY", "−knee_angle_r")
    assert [curve.owner for curve in signal_curves(document, signal)] == ["walker", "osim"]


def test_a_thinned_curve_keeps_its_peaks():
    time = np.linspace(0, 10, 10_001)
    values = np.sin(time)
    values[4321] = 9.0
    values[100:200] = np.nan
    thin = thin_curve(PlotCurve("x", (0, 0, 0), time, values))
    assert len(thin.time) <= 610
    assert np.nanmax(thin.values) == 9.0
    assert (thin.time[0], thin.time[-1]) == (0.0, 10.0)
    assert (np.diff(thin.time) > 0).all()
