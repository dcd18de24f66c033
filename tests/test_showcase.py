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


def test_the_showcase_runs_as_it_stands(folder, monkeypatch):
    monkeypatch.chdir(folder)
    names: dict = {}
    exec(SHOWCASE, names)
    assert isinstance(names["motion"], hd.motion.Motion)
    assert (folder / "report.html").stat().st_size > 10_000
    again = hd.capture.inverse_kinematics(names["scaled"], names["trial"])
    assert again.model == names["motion"].model


def test_measures_and_margins_accept_a_synthesized_walk():
    model = hd.gait.walking_model()
    step = hd.gait.stored_steps()["mixed free"]
    walk = hd.gait.stride_motion(model, step)
    found = hd.gait.measures(walk, hd.gait.stride_events(step))
    assert len(found.rows) > 0
    evaluation = hd.balance.margins(walk)
    assert 0.0 <= evaluation.balanced_share <= 1.0
    assert np.isfinite(evaluation.wrench[evaluation.evaluated]).any()


def test_a_pose_has_margins_too():
    model = hd.catalog.heiman(height=1.79, mass=76)
    found = hd.balance.margins(model)
    (margin,) = found.force
    assert 10.0 < margin < 200.0  # N: a person at rest yields to a push of this size
    with pytest.raises(ModelError, match="a pose q goes with a model"):
        hd.balance.margins(hd.synthetic.walking_trial(strides=2).truth.motion, model.neutral())
