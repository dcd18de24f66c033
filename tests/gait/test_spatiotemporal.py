from dataclasses import replace
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import homodyn as hd
from homodyn import CaptureError
from homodyn.capture import inverse_kinematics, match_labels, read
from homodyn.gait import find_events, measures
from homodyn.motion import ContactForce, Event, Loads, Motion, motion_from_poses
from support import recordings
from support.walker import HIP, INDEX, MODEL, STEP, Walker, backward

LIMPING = Walker(lag=0.44)


def measured(walker, **options):
    motion = walker.motion()
    return measures(motion, find_events(motion), **options)


def same(first, second, sides=("left", "right"), signs=1.0, tolerance=1e-7):
    """Every row of one is a row of the other, with the same values."""
    exchanged = dict(zip(("left", "right"), sides, strict=True)) | {"both": "both"}
    assert len(first.rows) == len(second.rows) > 30
    for row in first.rows:
        sign = signs if row.name.startswith("symmetry") else 1.0
        other = second[row.name, exchanged[row.side]]
        assert other.unit == row.unit
        assert other.values == pytest.approx(sign * row.values, abs=tolerance)


def test_a_computed_walk_is_measured_exactly_with_its_events():
    # At 500 Hz every event falls on a frame, so that nothing is interpolated across a landing.
    walker = LIMPING.but(rate=500.0)
    found = measures(walker.motion(), walker.events())
    length, period = walker.stride_length, walker.period
    short, long = walker.lag, 1 - walker.lag
    for side, share in (("left", short), ("right", long)):
        expected = {
            "stride duration": period,
            "stride length": length,
            "stride velocity": walker.speed,
            "stance duration": walker.stance * period,
            "swing duration": (1 - walker.stance) * period,
            "stance share": 100 * walker.stance,
            "double support duration": (2 * walker.stance - 1) * period,
            "double support share": 100 * (2 * walker.stance - 1),
            "step duration": share * period,
            "step length": share * length,
            "step width": -2 * HIP[1],
            "cadence": 60 / (share * period),
            "toe step length": share * length,
            # From its own lift to that of the other foot, which is the other part of a stride.
            "toe step duration": (1 - share) * period,
            "toe step velocity": share / (1 - share) * walker.speed,
        }
        for name, value in expected.items():
            # When the left forefoot lifts, that of the right is still 1 mm from where it will be.
            tolerance = 2e-3 if name.startswith("toe") else 1e-6
            assert found[name, side].values == pytest.approx(value, rel=tolerance), name
    assert found["velocity"].mean == pytest.approx(walker.speed, rel=1e-4)
    asymmetry = 100 * (long - short) / 0.5
    assert found["symmetry index of step length"].mean == pytest.approx(asymmetry)
    assert found["symmetry index of stride length"].mean == pytest.approx(0, abs=1e-6)
    assert found.direction == pytest.approx([1, 0], abs=1e-9)
    assert not found.missing


def test_events_found_from_the_motion_change_little():
    # Double support has four events in it, each with an error of less than half a frame.
    exact = measures(LIMPING.motion(), LIMPING.events())
    found = measured(LIMPING)
    for row in exact.rows:
        if row.unit in ("m", "s"):
            assert found[row.name, row.side].mean == pytest.approx(row.mean, abs=0.016)


@settings(max_examples=4)
@given(
    heading=st.floats(-3.1, 3.1),
    x=st.floats(-20, 20),
    y=st.floats(-20, 20),
    start=st.floats(-50, 50),
)
def test_measures_do_not_depend_on_position_direction_and_time(heading, x, y, start):
    usual = measured(LIMPING)
    transformed = measured(
        LIMPING.but(heading=heading, shift=(x, y), start=start, first=start + LIMPING.first)
    )
    same(usual, transformed, tolerance=1e-6)
    assert transformed.direction == pytest.approx([np.cos(heading), np.sin(heading)], abs=1e-6)


def test_a_mirror_exchanges_the_sides():
    walker = LIMPING
    motion = walker.motion()

    def mirrored(q):
        return hd.catalog.mirror(MODEL, q)

    v = (mirrored(walker.pose(motion.time + STEP)) - mirrored(walker.pose(motion.time - STEP))) / (
        2 * STEP
    )
    image = replace(motion, q=mirrored(motion.q), v=v)
    same(
        measures(motion, find_events(motion)),
        measures(image, find_events(image)),
        sides=("right", "left"),
        signs=-1.0,
    )


def test_a_treadmill_gives_what_the_ground_gives():
    ground, belt = measured(LIMPING), measured(LIMPING.but(belt=True))
    assert belt.belt_speed == pytest.approx(1.25, abs=0.01)
    assert ground.belt_speed == 0
    for row in ground.rows:
        if row.unit in ("m", "s", "m/s"):
            assert belt[row.name, row.side].mean == pytest.approx(row.mean, abs=0.012)
    assert any("treadmill" in note for note in belt.notes)


def test_walking_backward_has_positive_lengths_and_a_sentence():
    motion = backward(Walker().motion())
    found = measures(motion, find_events(motion))
    assert found["stride length", "left"].mean == pytest.approx(1.375, abs=0.01)
    assert found["velocity"].mean == pytest.approx(1.25, abs=0.01)
    assert found["step width", "left"].mean < 0  # left of where it goes is right of the body
    assert any("backward" in note for note in found.notes)


def test_running_has_no_double_support_and_a_reason():
    runner = Walker(
        speed=2.6, period=0.72, stance=0.36, rise=0.15, roll=0.06, hip_height=0.84, duration=3.3
    )
    found = measured(runner)
    assert ("double support duration", "left") not in found
    with pytest.raises(CaptureError, match="there is no double support: running"):
        found["double support duration", "left"]
    assert found["stance share", "left"].mean == pytest.approx(36, abs=1)
    assert found["step length", "left"].mean == pytest.approx(2.6 * 0.36, abs=0.01)


def test_a_turn_is_measured_along_its_path():
    walker = Walker(duration=5.0)
    motion = walker.motion()
    radius = 4.0
    q = motion.q.copy()
    way = walker.speed * (motion.time - walker.first)
    q[:, INDEX["Pelvis_TX"]] = radius * np.sin(way / radius)
    q[:, INDEX["Pelvis_TY"]] = radius * (1 - np.cos(way / radius))
    q[:, INDEX["Pelvis_RZ"]] = way / radius
    turning = replace(motion, q=q, v=np.gradient(q, motion.time, axis=0))
    found = measures(turning, find_events(turning))
    assert any("turns by" in note for note in found.notes)
    assert found["velocity"].mean == pytest.approx(walker.speed, abs=0.05)
    assert found["stride length", "right"].mean == pytest.approx(1.375, abs=0.1)


@pytest.mark.parametrize("duration", [0.3, 0.6, 0.9])
def test_less_than_a_stride_has_reasons_instead_of_numbers(duration):
    found = measured(Walker(duration=duration))
    assert ("stride length", "left") not in found
    reasons = {measure.reason for measure in found.missing}
    assert any("follow each other" in reason for reason in reasons)
    assert all(np.isfinite(row.values).all() and row.values.size for row in found.rows)
    assert str(found)


def test_standing_has_no_measures_but_reasons():
    q = np.tile(MODEL.neutral(), (100, 1))
    motion = Motion(MODEL, np.arange(100) / 100, q, 0 * q, 0 * q)
    found = measures(motion, find_events(motion))
    assert not found.rows
    assert len(found.missing) > 30
    assert any("stands" in note for note in found.notes)
    assert any("no events" in note for note in found.notes)
    assert any("no walking direction" in note for note in found.notes)


def test_motions_with_gaps_or_too_few_frames_are_refused():
    motion = Walker(duration=0.5).motion()
    q = motion.q.copy()
    q[7] = np.nan
    with pytest.raises(CaptureError, match="not finite in frame 7"):
        measures(replace(motion, q=q), ())
    short = motion.take(np.arange(3))
    with pytest.raises(CaptureError, match="too short"):
        find_events(short)


def test_peaks_of_force_are_in_body_weights():
    walker = Walker()
    motion = walker.motion()
    zeros = np.zeros((len(motion.time), 3))
    force = zeros.copy()
    force[:, 2] = 1.1 * MODEL.mass * 9.81
    loads = Loads(
        motion,
        motion.v,
        (0,),
        zeros,
        zeros,
        (ContactForce("FootLeft", "left", force, zeros, zeros),),
    )
    found = measures(motion, walker.events(), loads=loads)
    assert found["peak vertical force", "left"].values == pytest.approx(1.1)
    assert ("peak vertical force", "right") not in found


@pytest.mark.parametrize(("name", "file"), [("gait10dof", "walk.trc")])
def test_a_treadmill_walk_agrees_with_its_markers(shared_data, name, file):
    motion, plates = recordings.walk(shared_data, name)
    events = find_events(motion, plates)
    found = measures(motion, events)
    trial = read(shared_data / name / file, up="y")
    for side, letter in (("left", "L"), ("right", "R")):
        heel, toe = (trial.marker(f"{letter}.{part}") for part in ("Heel", "Toe.Tip"))
        first, last = (
            e.time for e in events if e.label == "Foot Strike" and e.context.lower() == side
        )
        flat = (trial.time > first + 0.2) & (trial.time < first + 0.45)
        belt = -np.polyfit(trial.time[flat], toe[flat, 0], 1)[0]
        heel_path = np.interp([first, last], trial.time, heel[:, 0])
        length = heel_path[1] - heel_path[0] + belt * (last - first)
        assert found["stride duration", side].mean == pytest.approx(last - first)
        assert found["stride length", side].mean == pytest.approx(length, abs=0.03)
        assert found.belt_speed == pytest.approx(belt, abs=0.02)
    assert 90 < found["cadence"].mean < 110
    assert 60 < found["stance share", "left"].mean < 67
    assert found["velocity over the recording"].mean == pytest.approx(
        found["velocity"].mean, abs=0.03
    )


def test_an_overground_walk_agrees_with_its_markers(shared_data):
    motion, plates = recordings.walk(shared_data, "arnold2013/subject01")
    events = find_events(motion, plates)
    found = measures(motion, events)
    trial = read(shared_data / "arnold2013/subject01/markers.trc", up="y")
    strike = {e.context: e.time for e in events if e.label == "Foot Strike"}
    left, right = (
        [
            np.interp(strike[side], trial.time, trial.marker(f"{side[0]}CAL")[:, axis])
            for axis in (0, 1)
        ]
        for side in ("Left", "Right")
    )
    assert found.belt_speed == 0
    assert found["step length", "left"].mean == pytest.approx(left[0] - right[0], abs=0.02)
    assert found["step width", "left"].mean == pytest.approx(left[1] - right[1], abs=0.03)
    assert found["step duration", "left"].mean == pytest.approx(strike["Left"] - strike["Right"])
    assert ("stride length", "left") not in found
    waist = trial.marker("RASI")[:, 0]
    pace = (waist[-1] - waist[0]) / trial.duration
    assert found["velocity over the recording"].mean == pytest.approx(pace, abs=0.01)


def test_a_longer_treadmill_walk_is_plausible(shared_data):
    motion, plates = recordings.walk(shared_data, "opensim_id")
    found = measures(motion, find_events(motion, plates))
    assert found["velocity"].mean == pytest.approx(1.13, abs=0.02)
    assert found["velocity"].mean == pytest.approx(
        found["stride length", "left"].mean / found["stride duration", "left"].mean, rel=0.01
    )
    assert found["toe step velocity", "left"].mean == pytest.approx(1.1, abs=0.08)
    for side in ("left", "right"):
        assert 0.05 < found["step width", side].mean < 0.2
        assert 20 < found["double support share", side].mean < 30
        assert found["planarity of elevation angles", side].values.min() > 0.99
        assert found["margin of stability, sideways", side].mean > 0


def test_a_fitted_walk_without_forces_agrees_with_its_markers(shared_data):
    model = hd.catalog.hdm()
    trial = match_labels(model, read(shared_data / "hdm" / "walk.c3d")).trial
    motion = inverse_kinematics(model, trial)
    found = measures(motion, find_events(motion))
    for side, letter in (("left", "L"), ("right", "R")):
        heel = trial.marker(f"{letter}HEE")[:, :2]
        still = np.linalg.norm(np.gradient(heel, trial.time, axis=0), axis=1) < 0.1
        distances = [np.linalg.norm(b - a) for a, b in pairwise(_places(heel[still]))]
        assert found["stride length", side].mean == pytest.approx(np.mean(distances), abs=0.03)
    waist = np.mean([trial.marker(name) for name in ("LFWT", "RFWT", "LBWT", "RBWT")], axis=0)
    pace = np.linalg.norm((waist[-1] - waist[0])[:2]) / trial.duration
    assert found["velocity"].mean == pytest.approx(pace, abs=0.05)
    assert 100 < found["cadence"].mean < 115
    for side in ("left", "right"):
        assert 60 < found["stance share", side].mean < 65
        assert found["planarity of elevation angles", side].values.min() > 0.99


def _places(path):
    """Where a foot stands, one place a contact, from the points at which it is still."""
    groups = [[path[0]]]
    for point in path[1:]:
        if np.linalg.norm(point - groups[-1][-1]) < 0.3:
            groups[-1].append(point)
        else:
            groups.append([point])
    return [np.median(group, axis=0) for group in groups]


def test_a_body_that_falls_takes_no_steps():
    model = hd.catalog.heiman()
    time = np.arange(151) / 100
    q = np.tile(hd.simulate.place_on_ground(model, model.neutral()), (len(time), 1))
    q[:, model.coordinate_index("Pelvis_TX")] = 0.5 * time
    for side, sign in (("Right", 1.0), ("Left", -1.0)):
        q[:, model.coordinate_index(f"Hip{side}_RY")] = 0.2 * sign * np.sin(6 * time)
        q[:, model.coordinate_index(f"Knee{side}_RY")] = 0.1 + 0.1 * sign * np.cos(6 * time)
    strikes = [(0.2, "Left"), (0.7, "Right"), (1.2, "Left")]
    events = [Event(at, "Foot Strike", side) for at, side in strikes]
    upright = hd.gait.measures(motion_from_poses(model, time, q), events)
    assert ("step length", "right") in upright
    q[:, model.coordinate_index("Pelvis_RY")] = 1.4 * np.clip((time - 0.3) / 0.5, 0, 1)
    for side in ("Right", "Left"):
        q[:, model.coordinate_index(f"Hip{side}_RY")] += -1.4 * np.clip((time - 0.3) / 0.5, 0, 1)
    q[:, model.coordinate_index("Pelvis_TZ")] -= 0.6 * np.clip((time - 0.3) / 0.5, 0, 1)
    fallen = hd.gait.measures(motion_from_poses(model, time, q), events)
    assert not any("step" in row.name or row.name == "cadence" for row in fallen.rows)
    assert any("there are no steps from then on" in note for note in fallen.notes)
    assert all(np.isfinite(row.mean) for row in fallen.rows)
