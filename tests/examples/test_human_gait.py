"""The gait of the example is like that of people, by the evidence of its own numbers."""

import importlib.util
from pathlib import Path

import pytest

from homodyn.simulate import SimulationStatus

SPEC = importlib.util.spec_from_file_location(
    "human_gait", Path(__file__).resolve().parents[2] / "examples" / "human_gait.py"
)
human_gait = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(human_gait)


def test_the_gait_of_the_long_search_is_human():
    gait = human_gait.load_found()
    found = gait.comparison
    assert gait.result.status is SimulationStatus.FINISHED
    assert gait.objectives["speed_match"] >= 0.95  # 1.3 m/s within 5 %
    assert 0.55 <= found.stance_share <= 0.65
    assert found.double_support_share > 0.1
    assert 1.0 <= found.peak_force <= 1.3
    assert found.force_peaks == 2
    assert 40 < found.swing_knee_flexion < 75
    expected = {"hip flexion": 0.9, "knee flexion": 0.8, "ankle dorsiflexion": 0.5}
    for name, least in expected.items():
        assert found.correlations[name] >= least
    # Nobody is held: the pitch of the trunk stays in the neutral zone of the assistance.
    second_half = gait.result.time > 5.0
    pitch = gait.result.q[second_half, 2]
    assert abs(pitch).max() < gait.study.assistance.neutral_zone


@pytest.mark.parametrize("generations", [2])
def test_a_short_search_walks(generations):
    gait = human_gait.search(generations, duration=1.0)
    assert gait.objectives["time"] > 0.9
