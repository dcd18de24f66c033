"""Verdicts on reconstructed and synthesized steps: solved, near the recording, possible."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis import overall_light
from homodyn.analysis.step_comparison import StepComparison
from homodyn.analysis.step_quality import (
    GOOD_FRICTION,
    MAX_FRICTION,
    quality_summary,
    reconstruction_verdicts,
    synthesis_verdicts,
)


@pytest.fixture(scope="module")
def compared():
    bundled = StepComparison.from_bundled_steps(hd.gait.walking_model())
    return StepComparison(
        bundled.model, bundled.steps[:2], bundled.statuses[:2], bundled.searches[:2]
    )


def test_each_step_has_a_verdict_on_solution_and_friction(compared):
    found = synthesis_verdicts(compared)
    for subject in ("solution", "friction", "impulses"):
        assert sum(v.subject == subject for v in found) == len(compared.steps)
    ranks = [v.light.rank for v in found]
    assert ranks == sorted(ranks, reverse=True)
    summary = quality_summary(found)
    assert summary["light"] == overall_light(found)
    assert len(summary["verdicts"]) == len(found)


def graded(compared, **changes):
    """Lights by subject of the first step, with its ground loads changed."""
    first = StepComparison(
        compared.model, compared.steps[:1], compared.statuses[:1], compared.searches[:1]
    )
    first.__dict__["ground_loads"] = [replace(compared.ground_loads[0], **changes)]
    return {v.subject: v.light for v in synthesis_verdicts(first)}


@pytest.mark.parametrize(
    ("demand", "light"), [(0.5, "good"), (0.81, "fair"), (1.2, "fair"), (1.21, "poor")]
)
def test_friction_is_graded_by_what_the_step_needs(compared, demand, light):
    assert GOOD_FRICTION == 0.8
    assert MAX_FRICTION == 1.2
    forces = {"right": 0.3, "left": demand}
    assert graded(compared, friction_demand=forces, impulse_demand=0.1)["friction"] == light
    forces = {"right": 0.3, "left": 0.3}
    assert graded(compared, friction_demand=forces, impulse_demand=demand)["friction"] == light


@pytest.mark.parametrize(("share", "light"), [(0.05, "good"), (0.15, "fair"), (0.3, "poor")])
def test_support_by_impulses_is_graded(compared, share, light):
    assert graded(compared, impulse_share=share)["impulses"] == light


@pytest.mark.parametrize(
    ("lowest", "light"), [(0.0, None), (-0.009, None), (-0.02, "fair"), (-0.05, "poor")]
)
def test_contacts_that_pull_are_graded(compared, lowest, light):
    weight = 9.81 * compared.model.mass
    pulled = replace(compared)
    pulled.__dict__["min_normal_forces"] = [{"HeelRight": lowest * weight}] * 2
    found = [v.light for v in synthesis_verdicts(pulled) if v.subject == "contact"]
    assert found == ([] if light is None else [light] * 2)


def test_a_search_that_failed_is_poor(compared):
    failed = replace(compared, statuses=("infeasible", "solved"))
    found = [v for v in synthesis_verdicts(failed) if v.subject == "solution"]
    assert sorted(v.light for v in found) == ["good", "poor"]


@pytest.fixture(scope="module")
def reconstructed():
    walk = hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=2, plates=2, variation=0.0, mass=70.0, plate_noise=0.0
    )
    truth = walk.truth
    return hd.gait.reconstruct(truth.motion, truth.loads, events=truth.events, step=0.03)


def lights(result, subject):
    return [v.light for v in reconstruction_verdicts(result) if v.subject == subject]


def test_a_reconstruction_near_its_recording_is_good(reconstructed):
    found = reconstruction_verdicts(reconstructed)
    assert overall_light(found) == "good"
    assert {v.subject for v in found} == {"solution", "tracking", "forces", "mass", "torques"}
    assert all("(tracked)" in v.sentence for v in found if v.subject == "forces")


@pytest.mark.parametrize(("offset", "light"), [(0.04, "fair"), (0.2, "poor")])
def test_a_step_far_from_the_recording_is_not_good(reconstructed, offset, light):
    recorded = reconstructed.recorded
    q = recorded.q.copy()
    q[:, recorded.model.coordinate_index("KneeRight_RY")] += offset
    far = replace(reconstructed, recorded=replace(recorded, q=q))
    assert light in lights(far, "tracking")
    (sentence,) = [v.sentence for v in reconstruction_verdicts(far) if "°" in v.sentence]
    assert "Right knee flexion" in sentence
    assert f"to {np.degrees(far.largest_errors['rad'][1]):.2g}°" in sentence


def test_coordinates_that_markers_hide_are_named_and_not_graded(reconstructed):
    recorded = reconstructed.recorded
    q = recorded.q.copy()
    q[:, recorded.model.coordinate_index("ElbowLeft_RY")] += 0.5
    hidden = replace(recorded, q=q, unobserved=("ElbowLeft_RY",))
    result = replace(reconstructed, recorded=hidden)
    assert result.hidden_coordinates == ("ElbowLeft_RY",)
    assert result.tracking_error["ElbowLeft_RY"] > 0.4
    found = [v for v in reconstruction_verdicts(result) if v.subject == "tracking"]
    assert [v.light for v in found] == ["good", "good", "note"]
    assert "Left elbow flexion (ElbowLeft_RY)" in found[-1].sentence


def test_a_belt_is_stated(reconstructed):
    (found,) = [
        v
        for v in reconstruction_verdicts(replace(reconstructed, belt_speed=1.14))
        if v.subject == "belt"
    ]
    assert found.light == "note"
    assert "1.14 m/s" in found.sentence


def test_torques_are_compared_with_inverse_dynamics(reconstructed):
    errors = reconstructed.torque_errors()
    assert set(errors) == set(reconstructed.recorded.model.coordinate_names) - set(
        reconstructed.recorded.model.coordinate_names[:6]
    )
    measured = reconstructed.measured
    knee = measured.motion.model.coordinate_index("KneeRight_RY")
    per_kg = np.interp(reconstructed.time, measured.motion.time, measured.tau[:, knee]) / 70.0
    expected = np.sqrt(np.mean((reconstructed.tau[:, knee] / 70.0 - per_kg) ** 2))
    assert errors["KneeRight_RY"] == pytest.approx(expected)
    (found,) = [v for v in reconstruction_verdicts(reconstructed) if v.subject == "torques"]
    assert f"{max(errors.values()):.2f} N m/kg" in found.sentence
    assert replace(reconstructed, measured=None).torque_errors() == {}


def test_forces_far_from_the_plates_are_poor_and_without_plates_not_green(reconstructed):
    loads = reconstructed.measured
    feet = tuple(replace(foot, force=1.6 * foot.force) for foot in loads.feet)
    wrong = replace(reconstructed, measured=replace(loads, feet=feet))
    assert "poor" in lights(wrong, "forces")
    unchecked = replace(reconstructed, measured=None)
    assert lights(unchecked, "forces") == ["fair"]
    assert overall_light(reconstruction_verdicts(unchecked)) == "fair"


@pytest.mark.parametrize(("error", "light"), [(0.0, "good"), (0.3, "fair"), (0.6, "poor")])
def test_torques_are_graded_by_their_error(reconstructed, error, light):
    loads = reconstructed.measured
    tau = np.array(loads.tau)
    tau[:, loads.motion.model.coordinate_index("KneeRight_RY")] += error * 70.0
    found = replace(reconstructed, measured=replace(loads, tau=tau))
    assert lights(found, "torques") == [light]


def test_friction_that_no_shoe_has_is_named_without_a_bound(reconstructed, monkeypatch):
    demands = {"right": 0.7, "left": 1.0}
    monkeypatch.setattr(type(reconstructed), "required_friction", property(lambda _: demands))
    assert lights(reconstructed, "friction") == ["note"]
    demands["left"] = 1.5
    assert lights(reconstructed, "friction") == ["fair"]
    demands["left"] = 0.8
    assert lights(reconstructed, "friction") == []
