"""The lines that a newcomer sees first run as they stand."""

import matplotlib
import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import ModelError

matplotlib.use("Agg")

SHOWCASE = """
import homodyn as hd

subject = hd.catalog.heiman(height=1.79, mass=76)              # Model
static  = hd.capture.read("static.c3d")                        # Trial
trial   = hd.capture.read("walk.c3d")
scaled  = hd.capture.scale(subject, static)                    # ScalingResult: .model, what changed, how sure
motion  = hd.capture.inverse_kinematics(scaled.model, trial)   # Motion; also takes the ScalingResult itself
loads   = hd.capture.inverse_dynamics(motion, trial.plates)    # Loads
motion["knee_angle_r"].plot(); loads.to_pandas()
hd.report.write("report.html", motion, loads)

walk = hd.gait.synthesize(subject, speed=1.3)                  # the same Motion record, whoever made it
hd.gait.measures(walk); hd.balance.margins(walk)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a standing and a walking trial of a person of that size."""
    found = tmp_path_factory.mktemp("showcase")
    hd.synthetic.write_trial(
        hd.synthetic.walking_trial(height=1.79, mass=76, strides=3), found / "t"
    )
    for name in ("static.c3d", "walk.c3d"):
        (found / "t" / name).rename(found / name)
    return found


@pytest.fixture(scope="module")
def names(folder):
    """The names of the showcase after it has run."""
    found: dict = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(SHOWCASE, found)
    return found


def test_the_recording_becomes_a_motion_with_loads_and_a_report(names, folder):
    motion, loads = names["motion"], names["loads"]
    assert motion.source == "recorded"
    assert 1000 * motion.rms < 10.0  # mm
    assert loads.motion.model == motion.model
    assert (folder / "report.html").stat().st_size > 10_000
    again = hd.capture.inverse_kinematics(names["scaled"], names["trial"])
    assert again.model == motion.model


def test_the_synthesized_walk_has_the_speed_that_was_asked_for(names):
    walk = names["walk"]
    assert walk.model is names["subject"]
    assert walk.result.solution.status.success, walk.result.explain()
    found = hd.gait.measures(walk)
    assert found["velocity"].mean == pytest.approx(1.3, rel=2e-3)
    assert found["step length", "left"].mean == pytest.approx(
        found["step length", "right"].mean, abs=2e-3
    )
    assert 0.6 < found["step length", "left"].mean < 0.9  # m
    assert 1.0 < found["peak vertical force", "right"].mean < 3.0  # body weights
    assert found["double support share", "left"].mean > 5.0  # %


def test_the_synthesized_walk_has_margins_of_balance(names):
    evaluation = hd.balance.margins(names["walk"])
    assert evaluation.evaluated.all()
    assert 0.0 < evaluation.balanced_share <= 1.0
    assert np.isfinite(evaluation.wrench).all()


def test_the_search_is_bounded_by_iterations_alone(names):
    synthesis = names["walk"].result
    assert hd.gait.SynthesisOptions().time_limit is None
    # Stages of the same problem take as many iterations on any machine, idle or busy.
    assert synthesis.iterations <= 100


def test_a_pose_has_margins_too():
    model = hd.catalog.heiman(height=1.79, mass=76)
    found = hd.balance.margins(model)
    (margin,) = found.force
    assert 10.0 < margin < 200.0  # N: a person at rest yields to a push of this size
    with pytest.raises(ModelError, match="a pose q goes with a model"):
        hd.balance.margins(hd.synthetic.walking_trial(strides=2).truth.motion, model.neutral())
