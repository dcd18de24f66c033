"""Gaits beside normative data: a walk whose angles are the norms, and feet that bounce."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import CaptureError
from homodyn.gait import compare_with_norms
from homodyn.gait.norm_comparison import COMPARED_ANGLES, merge_bounces
from homodyn.gait.norms import normative_curve
from homodyn.motion import FOOT_OFF, FOOT_STRIKE, Event, motion_from_poses
from homodyn.motion.clinical import resolve_coordinate

HUMAN = hd.catalog.winter_human()
PERIOD = 1.1


def walk(amplitude=1.0, noise=0.0):
    """Three strides whose angles are the normative ones, with their events."""
    time = np.arange(0.0, 3.3, 0.01)
    q = np.tile(HUMAN.neutral(), (len(time), 1))
    rng = np.random.default_rng(0)
    events = []
    for side, lag in (("right", 0.0), ("left", 0.5)):
        percent = 100 * ((time / PERIOD - lag) % 1)
        for name in COMPARED_ANGLES:
            found = resolve_coordinate(HUMAN, f"{side} {name}")
            curve = np.deg2rad(normative_curve(name).at(percent)) * amplitude
            curve = curve + noise * rng.standard_normal(len(time))
            q[:, HUMAN.coordinate_index(found.coordinate)] = found.sign * curve
        for k in range(4):
            strike = (k + lag) * PERIOD
            events.append(Event(strike, FOOT_STRIKE, side.title()))
            events.append(Event(strike + 0.6 * PERIOD, FOOT_OFF, side.title()))
    inside = [event for event in events if event.time <= time[-1]]
    return motion_from_poses(HUMAN, time, q), inside


def test_normative_angles_correlate_with_themselves():
    found = compare_with_norms(*walk())
    assert found.correlations == pytest.approx(dict.fromkeys(COMPARED_ANGLES, 1.0), abs=2e-3)
    assert found.swing_knee_flexion == pytest.approx(
        normative_curve("knee flexion").mean.max(), 0.02
    )
    assert found.stance_share == pytest.approx(0.6, abs=0.01)
    assert found.double_support_share == pytest.approx(0.2, abs=0.01)
    assert np.isnan(found.peak_force)  # the motion has no contact forces
    opposite = compare_with_norms(*walk(amplitude=-0.5))
    assert opposite.correlations["hip flexion"] == pytest.approx(-1.0, abs=2e-3)


def test_noise_lowers_the_correlation():
    clean, noisy = (compare_with_norms(*walk(noise=size)) for size in (0.0, 0.3))
    assert noisy.correlations["knee flexion"] < clean.correlations["knee flexion"] - 0.02


def test_bounces_are_part_of_the_stance():
    def at(time, label, side="Right"):
        return Event(time, label, side)

    bouncing = [
        at(0.0, FOOT_STRIKE),
        at(0.1, FOOT_OFF),
        at(0.2, FOOT_STRIKE),
        at(0.25, FOOT_STRIKE, "Left"),
        at(0.6, FOOT_OFF),
        at(1.1, FOOT_STRIKE),
    ]
    kept = merge_bounces(bouncing)
    assert [(e.time, e.label) for e in kept if e.context == "Right"] == [
        (0.0, FOOT_STRIKE),
        (0.6, FOOT_OFF),
        (1.1, FOOT_STRIKE),
    ]
    assert sum(e.context == "Left" for e in kept) == 1


def test_a_motion_without_cycles_is_refused():
    motion, _ = walk()
    with pytest.raises(CaptureError, match=r"cycle|stride|strike"):
        compare_with_norms(motion, [])
