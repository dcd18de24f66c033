"""Analysis by tracking with physics, beside inverse kinematics and dynamics."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis import Settings, analyze
from homodyn.analysis.physics_method import compare_methods, comparison_summary
from homodyn.capture.kinetics.newton_euler import newton_euler_loads
from homodyn.report import analysis_page
from support.small_figure import small_figure
from support.standing_block import RATE, trial_of


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    """A figure that swings its arms; without plates."""
    figure = small_figure()
    place = tmp_path_factory.mktemp("model") / "figure.toml"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOMODYN_TIER", "interpreted")
        hd.save(figure, place)
        poses = np.tile(hd.simulate.place_on_ground(figure, figure.neutral()), (90, 1))
        phase = np.sin(2 * np.pi * np.arange(90) / RATE)
        for name, size in {"right_swing": 0.5, "left_swing": -0.5}.items():
            poses[:, figure.position_index[figure.coordinate_index(name)]] += size * phase
        settings = Settings(model=str(place), scale="none", method="physics")
        return analyze(trial_of(figure, poses), settings)


def test_motion_and_loads_are_those_of_the_tracked_body(analysis):
    assert analysis.tracking.status == "finished"
    assert analysis.motion.q is analysis.tracking.motion.q
    assert analysis.loads is analysis.tracking.loads
    assert "kinetics" not in analysis.missing
    weight = analysis.model.mass * 9.81
    assert analysis.loads.ground_force[20:-5, 2].mean() == pytest.approx(weight, rel=0.02)
    assert any("tracking by physics" in note for note in analysis.notes)


def test_torques_agree_with_inverse_dynamics_of_known_ground_forces(analysis):
    """The oracle takes the ground forces of the tracked body, and knows nothing of its motors."""
    loads = analysis.loads
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOMODYN_TIER", "interpreted")
        inverse = newton_euler_loads(loads.motion, loads.feet)
    comparison = compare_methods(loads.motion, inverse, analysis.tracking)
    names = list(comparison.coordinates)
    k = names.index("right_swing")
    assert comparison.inverse_torque[k] > 1.0
    assert comparison.torque_difference[k] < 0.1 * comparison.inverse_torque[k]
    assert comparison.inverse_work.total_absolute == pytest.approx(
        comparison.physics_work.total_absolute, rel=0.15
    )


def test_the_page_and_the_summary_compare_the_methods(analysis):
    page = analysis_page(analysis)
    assert "Comparison of methods" in page
    assert "Work of all joints over the trial" in page
    summary = comparison_summary(analysis.comparison)
    assert summary["work_j"]["physics"]["positive"] > 0
    # Without plates, inverse dynamics predicts the ground forces: they are no reference.
    assert set(summary["work_j"]) == {"inverse", "physics"}
    assert np.isnan(summary["ground_force_difference"])
    assert "deg rms" in analysis.comparison.sentences()[0]


def test_an_unknown_method_is_refused():
    with pytest.raises(hd.CaptureError, match="inverse, physics"):
        Settings(method="magic")
