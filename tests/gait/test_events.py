from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import find_peaks

import homodyn as hd
from homodyn.capture.kinematics import world_axes
from homodyn.dynamics import center_of_mass, position
from homodyn.gait import GaitEvents, find_events, measures
from homodyn.motion import (
    ContactForce,
    Event,
    FitStatus,
    ForcePlate,
    Loads,
    Motion,
)
from support import recordings
from support.walker import INDEX, MODEL, Walker, backward


def errors(found, truth):
    """Delay (s) of the nearest found event of the same kind and side, for each true event."""
    late = []
    for event in truth:
        same = [f for f in found if (f.label, f.context) == (event.label, event.context)]
        late.append(min((f.time - event.time for f in same), key=abs, default=np.inf))
    return np.array(late)


WALKS = {
    "usual": Walker(),
    "slow": Walker(speed=0.8, period=1.3),
    "quick": Walker(speed=1.6, period=1.0),
    "twice the rate": Walker(rate=200.0),
    "half the rate": Walker(rate=50.0),
    "limping": Walker(lag=0.42),
    "treadmill": Walker(belt=True),
    "elsewhere": Walker(heading=2.2, shift=(3.0, -7.0), start=10.0, first=10.07),
    "running": Walker(
        speed=2.6, period=0.72, stance=0.36, rise=0.15, roll=0.06, hip_height=0.84, duration=3.3
    ),
}


@pytest.mark.parametrize("name", WALKS)
def test_kinematic_events_of_a_computed_walk_are_within_a_frame(name):
    walker = WALKS[name]
    found, truth = find_events(walker.motion()), walker.events()
    assert len(found) == len(truth)
    assert np.abs(errors(found, truth)).max() <= 1 / walker.rate
    assert all(event.description.startswith("kinematics") for event in found)


def test_feet_that_land_and_leave_without_speed_are_detected_within_20_ms():
    walker = Walker(landing=(0, 0), leaving=(0, 0))
    late = errors(find_events(walker.motion()), walker.events())
    assert np.abs(late).max() < 0.02


def test_noise_of_a_fit_shifts_events_by_less_than_two_frames():
    walker = Walker()
    motion = walker.motion()
    rng = np.random.default_rng(3)
    noisy = replace(motion, q=motion.q + rng.normal(0, 0.002, motion.q.shape))
    found = find_events(noisy)
    assert len(found) == len(walker.events())
    assert np.abs(errors(found, walker.events())).max() <= 2 / walker.rate


def test_forces_are_preferred_and_exact():
    walker = Walker()
    found = find_events(walker.motion(), walker.plates())
    truth = walker.events()
    assert len(found) == len(truth)
    assert all(event.description.startswith("forces: plate") for event in found)
    # The half sine reaches 20 N of its 800 N after 0.4 ms.
    assert np.abs(errors(found, truth)).max() < 0.001


def test_steps_beside_the_plates_follow_from_kinematics():
    walker = Walker()
    one = [p for p in walker.plates() if p.name == "left"]
    found = find_events(walker.motion(), one)
    source = {event.context: event.description.split(":")[0] for event in found}
    assert source == {"Left": "forces", "Right": "kinematics"}


def late_plate(walker, name, delays):
    """The plate of one foot, whose force begins later than the contacts by the delays (s)."""
    plate = next(p for p in walker.plates() if p.name == name)
    force = plate.force.copy()
    for k, delay in enumerate(delays):
        start = walker.contact(name, k)[0]
        force[(plate.time >= start - 1e-9) & (plate.time < start + delay)] = 0.0
    return replace(plate, force=force)


def test_kinematic_events_are_shifted_by_their_difference_from_forces_of_other_steps():
    walker = Walker()
    plate = late_plate(walker, "left", [0.04] * 8)
    found = find_events(walker.motion(), [plate])
    delay = errors(found, walker.events())
    strikes = np.array([event.label == "Foot Strike" for event in walker.events()])
    # Kinematics is exact here, so that the delay of the plate appears in the strikes of both feet.
    assert np.abs(delay[strikes] - 0.04).max() <= 1.5 / walker.rate
    assert np.abs(delay[~strikes]).max() <= 1.5 / walker.rate
    (note,) = [note for note in found.notes if note.startswith("Foot Strike: ")]
    assert "from forces" in note
    assert "from kinematics" in note
    assert "the kinematic events are shifted by it" in note
    assert note in measures(walker.motion(), found).notes


def test_a_difference_that_varies_from_step_to_step_is_noted_and_not_corrected():
    walker = Walker()
    plate = late_plate(walker, "left", [0.0, 0.06, 0.0, 0.06, 0.0, 0.06])
    found = find_events(walker.motion(), [plate])
    right = [event for event in walker.events() if event.context == "Right"]
    assert np.abs(errors(found, right)).max() <= 1.5 / walker.rate
    (note,) = [note for note in found.notes if note.startswith("Foot Strike: ")]
    assert "not corrected" in note


def test_a_foot_half_beside_the_plate_gives_no_strike_by_force():
    walker = Walker()
    plates = walker.plates()
    late = [
        replace(
            p,
            force=np.where(
                ((p.time - walker.contact(p.name, 1)[0]) % walker.period < 0.3)[:, None], 0, p.force
            ),
        )
        for p in plates
    ]
    found = find_events(walker.motion(), late)
    assert np.abs(errors(found, walker.events())).max() <= 1 / walker.rate
    assert any("partly off the plate" in note for note in found.notes)


def test_a_plate_under_both_feet_is_discarded_with_a_note():
    walker = Walker()
    left, right = walker.plates()
    load = left.force[:, 2:] + right.force[:, 2:]
    share = left.force[:, 2:] / np.maximum(load, 1e-9)
    both = replace(
        left,
        name="both",
        force=left.force + right.force,
        point=share * left.point + (1 - share) * right.point,
    )
    found = find_events(walker.motion(), [both])
    assert all(event.description.startswith("kinematics") for event in found)
    assert any("both feet" in note for note in found.notes)


def test_plates_far_from_the_feet_are_discarded_with_a_note():
    walker = Walker()
    away = [replace(p, point=p.point + np.array([0, 2.0, 0])) for p in walker.plates()]
    found = find_events(walker.motion(), away)
    assert all(event.description.startswith("kinematics") for event in found)
    assert any("m away" in note for note in found.notes)


def test_the_offset_of_a_plate_is_removed():
    walker = Walker()
    rng = np.random.default_rng(2)
    crooked = [
        replace(p, force=p.force + np.array([0, 0, 25]) + rng.normal(0, 4, p.force.shape))
        for p in walker.plates()
    ]
    found = find_events(walker.motion(), crooked)
    assert len(found) == len(walker.events())
    assert np.abs(errors(found, walker.events())).max() < 0.003
    assert all(event.description.startswith("forces") for event in found)
    assert any("reads 25 N while unloaded" in note for note in found.notes)


def test_loads_give_events_by_side_unless_they_were_predicted():
    walker = Walker(rate=200.0)
    motion = walker.motion()
    feet = []
    for plate in walker.plates():
        force = np.zeros((len(motion.time), 3))
        force[:, 2] = np.interp(motion.time, plate.time, plate.force[:, 2])
        still = np.zeros_like(force)
        feet.append(ContactForce(f"Foot{plate.name.capitalize()}", plate.name, force, still, still))
    zeros = np.zeros((len(motion.time), 3))
    loads = Loads(motion, motion.v, tuple(range(6)), zeros, zeros, tuple(feet))
    found = find_events(motion, loads)
    assert all(event.description.startswith("forces: load") for event in found)
    assert np.abs(errors(found, walker.events())).max() < 1 / 200
    guessed = replace(loads, feet=tuple(replace(foot, predicted=True) for foot in feet))
    found = find_events(motion, guessed)
    assert all(event.description.startswith("kinematics") for event in found)
    assert any("predicted" in note for note in found.notes)


def test_recorded_events_are_used_where_there_is_no_force_and_are_compared():
    walker = Walker()
    said = [
        Event(e.time + 0.02, {"Foot Strike": "HS", "Foot Off": "TO"}[e.label], e.context)
        for e in walker.events()
    ]
    found = find_events(walker.motion(), recorded=said)
    assert len(found) == len(said)
    assert all(event.description.startswith("recorded") for event in found)
    assert errors(found, walker.events()) == pytest.approx(0.02)
    assert any("median difference from kinematics 24 ms" in note for note in found.notes)
    measured = find_events(walker.motion(), walker.plates(), recorded=said)
    assert np.abs(errors(measured, walker.events())).max() < 0.001


@pytest.mark.parametrize(
    ("label", "context"), [("LHS", ""), ("Left Foot Strike", ""), ("heel strike", "Left")]
)
def test_recorded_events_are_recognized_by_several_labels(label, context):
    found = find_events(Walker().motion(), recorded=[Event(0.66, label, context)])
    assert [e.time for e in found if e.description.startswith("recorded")] == [0.66]


def test_a_person_who_stands_has_no_events():
    time = np.arange(200) / 100
    q = np.tile(MODEL.neutral(), (200, 1))
    q[:, INDEX["Pelvis_TX"]] += 0.01 * np.sin(time)
    found = find_events(Motion(MODEL, time, q, np.zeros_like(q), np.zeros_like(q)))
    assert not found
    assert any("stands" in note for note in found.notes)


def test_half_a_step_has_what_is_in_it():
    walker = Walker(first=0.0, duration=0.5)
    found = find_events(walker.motion())
    assert len(found) == len(walker.events()) == 1
    assert found[0].label == "Foot Off"


def test_walking_backward_exchanges_strikes_and_offs():
    walker = Walker()
    found = find_events(backward(walker.motion()))
    swapped = {"Foot Strike": "Foot Off", "Foot Off": "Foot Strike"}
    truth = [replace(e, time=3.5 - e.time, label=swapped[e.label]) for e in walker.events()]
    assert len(found) == len(truth)
    assert np.abs(errors(found, truth)).max() < 0.02


def test_running_and_treadmill_are_noted():
    running = find_events(WALKS["running"].motion())
    assert any("a run or jumps" in note for note in running.notes)
    belt = find_events(Walker(belt=True).motion())
    assert any("1.25 m/s" in note and "treadmill" in note for note in belt.notes)
    assert not find_events(Walker().motion()).notes


def test_frames_without_markers_at_the_ends_are_left_out():
    walker = Walker()
    motion = walker.motion()
    status = np.full(len(motion.time), FitStatus.CONVERGED, dtype=object)
    status[:60] = status[-40:] = FitStatus.UNSEEN
    q = motion.q.copy()
    q[:60], q[-40:] = q[60], q[-41]
    found = find_events(replace(motion, q=q, status=status))
    inside = [e for e in walker.events() if 0.63 < e.time < 3.07]
    assert len(found) == len(inside)
    assert np.abs(errors(found, inside)).max() <= 1 / walker.rate
    assert "100 frames without markers at the ends" in found.notes[0]
    with pytest.raises(hd.CaptureError, match="only 0 of 351 frames"):
        find_events(replace(motion, status=np.full(351, FitStatus.UNSEEN, dtype=object)))


def test_feet_that_slide_while_the_person_walks_are_noted():
    walker = Walker()
    motion = walker.motion()
    q = motion.q.copy()
    q[:, INDEX["Pelvis_TX"]] += 0.6 * motion.time
    found = find_events(replace(motion, q=q))
    assert any("slide at 0.6" in note and "doubtful" in note for note in found.notes)
    assert not any("treadmill" in note for note in found.notes)


@pytest.mark.parametrize("name", recordings.WALKS)
def test_kinematic_events_of_real_walks_agree_with_forces(shared_data, name):
    motion, plates = recordings.walk(shared_data, name)
    by_force, by_motion = find_events(motion, plates), find_events(motion)
    assert {"gait10dof": 8, "arnold2013/subject01": 4, "opensim_id": 12}[name] == len(by_force)
    assert all(event.description.startswith("forces") for event in by_force)
    strikes = [event for event in by_force if event.label == "Foot Strike"]
    offs = [event for event in by_force if event.label == "Foot Off"]
    assert np.abs(errors(by_motion, strikes)).max() < 0.015
    assert np.abs(errors(by_motion, offs)).max() < 0.005
    for side, plate in zip(("Right", "Left"), plates, strict=True):
        loaded = np.interp(
            [e.time for e in strikes if e.context == side], plate.time, plate.force[:, 2]
        )
        assert loaded == pytest.approx(20, abs=1)


def test_the_coordinate_method_has_larger_errors(shared_data):
    ours, zeni = [], []
    for name in ("gait10dof", "opensim_id"):
        motion, plates = recordings.walk(shared_data, name)
        axes = world_axes(motion.model)
        com = (center_of_mass(motion.model, motion.q) @ axes.T)[:, 0]
        by_force, by_motion = find_events(motion, plates), find_events(motion)
        ours.append(errors(by_motion, by_force))
        turning = []
        for side in ("Left", "Right"):
            for label, marker, sign in (("Foot Strike", "Heel", 1), ("Foot Off", "Toe.Tip", -1)):
                path = position(motion.model, motion.q, f"{side[0]}.{marker}") @ axes.T
                peaks = find_peaks(sign * (path[:, 0] - com), distance=30)[0]
                turning += [Event(motion.time[k], label, side) for k in peaks]
        zeni.append(errors(turning, by_force))
    ours, zeni = np.concatenate(ours), np.concatenate(zeni)
    assert np.abs(ours).mean() < 0.2 * np.abs(zeni).mean()


def test_a_planar_model_with_smoothed_forces_finds_its_feet(shared_data):
    folder = shared_data / "rbdl_planar"
    model = hd.load(folder / "gait912.lua", as_measured=True)
    table = np.loadtxt(folder / "qIK.csv", delimiter=",")
    forces = np.loadtxt(folder / "grf.ff", delimiter=",")
    time, q = table[:, 0], table[:, 1:]
    v = np.gradient(q, time, axis=0)
    motion = Motion(model, time, q, v, 0 * v)
    plates = [
        ForcePlate(name, 50.0, forces[:, k + 3 : k + 6], forces[:, k : k + 3], np.zeros((74, 3)))
        for name, k in (("first", 1), ("second", 10))
    ]
    by_force = find_events(motion, plates)
    found = [(e.context, e.label, e.description.split(":")[0]) for e in by_force]
    assert found == [
        ("Left", "Foot Strike", "forces"),
        ("Right", "Foot Off", "forces"),
        ("Right", "Foot Strike", "kinematics"),
        ("Left", "Foot Off", "forces"),
    ]
    # These forces rise over 0.2 s: their filter shifts the crossing of 20 N ahead of the contact.
    assert np.abs(errors(find_events(motion), by_force)).max() < 0.045
    found = measures(motion, by_force)
    assert ("step width", "right") not in found
    assert any("planar" in measure.reason for measure in found.missing)
    assert 0.6 < found["step length", "right"].mean < 0.75


def test_events_print_in_ten_lines_at_most():
    events = GaitEvents([Event(0.1 * k, "Foot Strike", "Left") for k in range(20)], ["A note."])
    lines = repr(events).splitlines()
    assert len(lines) <= 10
    assert lines[0] == "GaitEvents: 20 events"
    assert lines[1].split() == ["0.000", "s", "Left", "Foot", "Strike"]
    assert lines[-2:] == ["  ... and 13 more events", "  A note."]
    assert repr(GaitEvents([])) == "GaitEvents: 0 events"
