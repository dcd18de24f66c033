"""Recorded walks made ready for reconstruction, and what their reconstruction reaches."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis import Settings, read_motion
from homodyn.analysis.step_quality import reconstruction_verdicts
from homodyn.errors import CaptureError
from homodyn.gait.events import find_events
from homodyn.gait.reconstruction import prepare_step
from homodyn.gait.reconstruction.recorded_step import first_steps
from homodyn.motion import Event


@pytest.fixture(scope="module")
def treadmill(shared_data):
    """A person of 72.6 kg on a treadmill, with a planar model of OpenSim."""
    folder = shared_data / "gait10dof"
    settings = Settings(
        model=str(folder / "subject01.osim"),
        forces=str(folder / "walk_grf.mot"),
        external_loads=str(folder / "walk_grf.xml"),
        tasks=str(folder / "setup_ik.xml"),
        scale="none",
    )
    return read_motion(folder / "walk.trc", settings)


@pytest.fixture(scope="module")
def step(treadmill):
    """Prepared without the times of the plates."""
    return prepare_step(treadmill.motion, treadmill.loads, events=find_events(treadmill.motion))


def force_shares(result):
    return {e.side: e.rms / result.weight for e in result.force_errors()}


def test_the_belt_is_found_and_feet_get_contacts_on_its_floor(step):
    assert step.belt_speed == pytest.approx(1.14, abs=0.03)
    model = step.motion.model
    np.testing.assert_allclose(model.gravity, (0, 0, -9.80665), atol=1e-9)
    assert {"HeelRight", "HalluxLeft", "Meta5Right"} <= {c.name for c in model.contacts}
    assert "forefoot" in step.phases[1].name
    assert all(phase.confidence > 0.4 for phase in step.phases)


def test_forces_on_a_treadmill_are_found_without_plates(step):
    result = hd.gait.reconstruct(
        step.motion, step.loads, phases=step.phases, step=0.03, preset="recorded", force=0.0
    )
    assert result.status == "solved"
    plain = {e.side: e.rms / result.weight for e in result.plain_force_errors()}
    for side in ("Right", "Left"):
        forward, _, up = force_shares(result)[side]
        assert up < 0.08
        assert forward < 0.05
        assert forward < 0.6 * plain[side][0]
        assert up < plain[side][2]


def test_friction_without_plates_converges(step):
    """An unloaded foot is at the tip of its friction cone, where a solver used to stall."""
    result = hd.gait.reconstruct(
        step.motion,
        step.loads,
        phases=step.phases,
        step=0.03,
        preset="recorded",
        force=0.0,
        friction=0.15,
    )
    assert result.solution.status.success
    assert result.solution.iterations < 60
    assert max(result.required_friction.values()) == pytest.approx(0.15, abs=0.005)
    for side in ("Right", "Left"):
        assert force_shares(result)[side][2] < 0.08
    # The model is planar: what is sideways has no limit.
    sentences = [v.sentence for v in reconstruction_verdicts(result) if v.subject == "forces"]
    assert all("upward" in s and "sideways" not in s for s in sentences)


def test_with_plates_as_data_forces_follow_them(treadmill):
    step = prepare_step(treadmill.motion, treadmill.loads, events=treadmill.events)
    result = hd.gait.reconstruct(
        step.motion, step.loads, phases=step.phases, step=0.03, preset="recorded"
    )
    assert result.status == "solved"
    for side in ("Right", "Left"):
        assert force_shares(result)[side].max() < 0.03


def test_a_double_step_is_one_problem(treadmill):
    step = prepare_step(treadmill.motion, treadmill.loads, events=treadmill.events, steps=2)
    assert len(step.phases) >= 6
    assert step.phases[-1].end - step.phases[0].begin == pytest.approx(1.25, abs=0.05)
    result = hd.gait.reconstruct(
        step.motion, step.loads, phases=step.phases, step=0.02, preset="recorded", force=0.0
    )
    assert result.status == "solved"
    for side in ("Right", "Left"):
        assert force_shares(result)[side][2] < 0.08


def test_steps_are_consecutive_or_refused():
    labels = [("Off", "Left"), ("Strike", "Left"), ("Off", "Right"), ("Strike", "Right")]
    events = [Event(0.3 * k, f"Foot {labels[k % 4][0]}", labels[k % 4][1]) for k in range(9)]
    assert first_steps(events, steps=1) == pytest.approx((0.0, 0.6))
    assert first_steps(events, steps=3) == pytest.approx((0.0, 1.8))
    with pytest.raises(CaptureError, match="4 complete steps in the motion, not 5"):
        first_steps(events, steps=5)
    with pytest.raises(CaptureError, match="there is no complete step in the motion: a step"):
        first_steps(events[:2])
