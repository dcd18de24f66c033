"""The lines that a newcomer sees first run as they stand."""

import matplotlib
import pytest

import homodyn as hd

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


def test_the_showcase_runs_as_it_stands(folder, monkeypatch):
    monkeypatch.chdir(folder)
    names: dict = {}
    exec(SHOWCASE, names)
    assert isinstance(names["motion"], hd.motion.Motion)
    assert isinstance(names["walk"], hd.motion.Motion)
    assert (folder / "report.html").stat().st_size > 10_000
    again = hd.capture.inverse_kinematics(names["scaled"], names["trial"])
    assert again.model == names["motion"].model
    speed = hd.gait.measures(names["walk"])
    assert "speed" in str(speed).lower()
