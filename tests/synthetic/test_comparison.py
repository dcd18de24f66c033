from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import CaptureError
from homodyn.motion import Event
from homodyn.synthetic import compare_with_truth


def test_the_truth_is_close_to_itself(synthetic):
    truth = synthetic.truth
    same = compare_with_truth(truth, loads=truth.loads, events=truth.events)
    for errors in (
        same.angles,
        same.positions,
        same.lengths,
        same.torques,
        same.forces,
        same.events,
    ):
        assert errors
        assert max(abs(error) for error in errors.values()) == 0
    assert same.residual < 1e-8
    assert (same.missed_events, same.spurious_events) == (0, 0)


def test_errors_have_their_units(synthetic):
    truth = synthetic.truth
    index = truth.model.coordinate_index
    q = truth.motion.q.copy()
    q[:, index("KneeRight_RY")] += np.deg2rad(2.0)
    q[:, index("Pelvis_TY")] += 0.003
    tau = truth.loads.tau.copy()
    peak = np.abs(tau[:, index("HipLeft_RY")]).max()
    tau[:, index("HipLeft_RY")] += 0.1 * peak
    motion = replace(truth.motion, q=q)
    errors = compare_with_truth(truth, loads=replace(truth.loads, motion=motion, tau=tau))
    assert errors.angles["KneeRight_RY"] == pytest.approx(2.0)
    assert errors.angles["KneeLeft_RY"] == 0
    assert errors.positions["Pelvis_TY"] == pytest.approx(3.0)
    assert errors.torques["HipLeft_RY"] == pytest.approx(10.0)
    assert errors.torque_errors["HipLeft_RY"] == pytest.approx(0.1 * peak)
    text = str(errors)
    assert "joint angles: rms error" in text
    assert "worst 2.00 deg (KneeRight_RY)" in text
    assert "worst 10.0 % (HipLeft_RY)" in text


def test_lengths_of_another_model_are_compared(synthetic):
    generic = hd.catalog.heiman(height=1.75, mass=70)
    lengths = compare_with_truth(synthetic.truth, model=generic).lengths
    true, usual = (
        np.linalg.norm(next(j for j in m.joints if j.name == "KneeRight").placement.r)
        for m in (synthetic.model, generic)
    )
    assert lengths["KneeRight"] == pytest.approx(1e3 * (usual - true))
    assert max(abs(error) for error in lengths.values()) > 3


def test_feet_without_a_plate_do_not_count_as_wrong(synthetic):
    truth = synthetic.truth
    blind = []
    for foot in truth.loads.feet:
        force = foot.force.copy()
        force[: len(force) // 2] = 0.0
        blind.append(replace(foot, force=force))
    errors = compare_with_truth(truth, loads=replace(truth.loads, feet=tuple(blind)))
    assert max(errors.forces.values()) == 0


def test_events_are_matched_missed_and_invented(synthetic):
    true = synthetic.truth.events
    late = [replace(event, time=event.time + 0.01) for event in true if event is not true[4]]
    late.append(Event(true[2].time + 0.3, "Foot Strike", true[2].context))
    errors = compare_with_truth(synthetic.truth, events=late)
    assert errors.events["Foot Strike"] == pytest.approx(10)
    assert errors.missed_events == 1
    assert errors.spurious_events == 1


def test_an_analysis_of_another_time_is_refused(synthetic):
    later = replace(synthetic.truth.motion, time=synthetic.truth.motion.time + 100)
    with pytest.raises(CaptureError, match="no frame between"):
        compare_with_truth(synthetic.truth, motion=later)


def test_inverse_kinematics_of_exact_markers_finds_the_motion(synthetic):
    exact = replace(synthetic.trial, positions=synthetic.truth.markers).crop(1.0, 1.1)
    motion = hd.capture.inverse_kinematics(synthetic.model, exact)
    found = compare_with_truth(synthetic.truth, motion=motion)
    assert max(found.angles.values()) < 0.01
    assert max(found.positions.values()) < 0.01


def test_inverse_dynamics_with_the_plates_finds_the_torques(synthetic):
    """Filters and noise of the plates are all that is between the analysis and the truth."""
    loads = hd.capture.inverse_dynamics(synthetic.truth.motion, synthetic.trial.plates)
    found = compare_with_truth(synthetic.truth, loads=loads)
    assert found.torques["AnkleRight_RY"] < 5
    assert found.torques["KneeRight_RY"] < 12
    assert max(found.forces.values()) < 40
    assert found.residual < 40


def test_events_are_found_in_the_plates(synthetic):
    events = hd.gait.find_events(synthetic.truth.motion, synthetic.trial.plates)
    found = compare_with_truth(synthetic.truth, events=tuple(events))
    assert found.spurious_events == 0
    assert max(found.events.values()) < 40
