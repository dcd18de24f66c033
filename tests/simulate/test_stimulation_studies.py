"""Studies of stimulation with Human36."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.simulate import SimulationStatus
from homodyn.simulate.stimulation_studies import STUDIES, stand_up, swing_up_knee


def test_a_knee_swings_up_to_its_stop():
    study = swing_up_knee(1.2)
    assert study.result.status is SimulationStatus.FINISHED
    assert 0.5 < study.measures["stop_reached_s"] < 1.2
    # The stop is a spring-damper.
    assert 0 <= study.measures["largest_extension_rad"] < 0.02
    assert study.measures["smallest_uniqueness_margin_n"] > 0
    assert study.measures["energy_error_j"] < 1e-3
    assert study.measures["largest_muscle_force_n"] < 500
    assert not study.stimulation.phases[study.result.time < 0.0495].any()
    assert "reaches its stop" in study.headline()


def test_a_weak_impulse_does_not_reach_the_stop():
    study = swing_up_knee(1.2, charge=0.45)
    assert "stop_reached_s" not in study.measures
    assert study.measures["largest_extension_rad"] < -0.3


def test_a_controller_holds_the_knee_before_its_stop():
    study = swing_up_knee(3.0, mode="closed")
    late = study.result.time > 2
    assert np.abs(study.result.q[late, 0] + 0.35).max() < 0.12
    assert study.stimulation.recruitment[late].max() < 0.99


def test_a_body_rises_by_its_stimulated_knees():
    study = stand_up(1.6)
    hips = study.measures["hip_height_end_m"] - study.measures["hip_height_start_m"]
    assert hips > 0.2
    assert study.measures["smallest_uniqueness_margin_n"] > 0
    assert study.result.status is SimulationStatus.FINISHED
    knees = [study.result.model.coordinate_index(name) for name in study.knees]
    # Nothing but the muscles acts at the knees.
    arms = hd.muscle.moment_arms(study.result.model, study.result.q, "geodesic")
    muscles = np.einsum("sm,smc->sc", study.stimulation.forces, arms)
    np.testing.assert_allclose(study.result.torques[:, knees], muscles[:, knees], atol=1e-6)
    assert study.measures["largest_knee_torque_n_m"] > 40


def test_refusals():
    assert set(STUDIES) == {"knee-swing", "sit-to-stand"}
    with pytest.raises(hd.ModelError, match="no mode 'loop'; accepted: open, closed"):
        swing_up_knee(mode="loop")
    with pytest.raises(hd.ModelError, match=r"a charge from 0 to 1 is needed, got 1\.2"):
        stand_up(charge=1.2)
    with pytest.raises(hd.ModelError, match=r"a duration of at least 0\.01 s is needed, got nan"):
        swing_up_knee(np.nan)
