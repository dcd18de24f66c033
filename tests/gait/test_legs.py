import numpy as np
import pytest

import homodyn as hd
from homodyn.dynamics import position
from homodyn.gait import find_legs
from homodyn.model import Assembly, joints, rod

BODIES = ("heiman", "human36", "hdm", "manikin", "coman", "winter_human", "bip", "khr1")


@pytest.mark.parametrize("name", BODIES)
def test_legs_of_every_body_of_the_catalog_are_found(name):
    model = getattr(hd.catalog, name)()
    q = model.neutral()
    for leg, side in zip(find_legs(model), ("left", "right"), strict=True):
        assert leg.side == side
        assert side in leg.ankle.lower()
        assert leg.source == "contacts"
        hip, knee, ankle = (position(model, q, b) for b in (leg.hip, leg.knee, leg.ankle))
        heel = position(model, q, leg.heel.body, leg.heel.point)
        toe = position(model, q, leg.toe.body, leg.toe.point)
        assert hip[2] > knee[2] > ankle[2] > min(heel[2], toe[2])
        thigh, shank = np.linalg.norm(hip - knee), np.linalg.norm(knee - ankle)
        assert 0.5 < thigh / shank < 2
        assert 0.1 < (toe - heel)[0] / (thigh + shank) < 0.6


def test_felis_measures_at_the_hallux_and_rolls_on_the_heel():
    left, right = find_legs(hd.catalog.heiman())
    assert (left.toe.name, right.toe.name) == ("HalluxLeft", "HalluxRight")
    assert left.heel.name == "HeelLeft"
    assert left.heel.point[2] == pytest.approx(-0.083772)


@pytest.mark.parametrize(
    ("file", "source", "toe"),
    [
        ("gait10dof/subject01.osim", "markers", "R.Toe.Tip"),
        ("arnold2013/subject01/subject01.osim", "contacts", "medialToe_r"),
        ("urdf/humanSubject01_48dof.urdf", "contacts", "toe"),
        ("urdf/simple_humanoid.urdf", "foot mass", "foot tip"),
    ],
)
def test_legs_of_models_from_files_are_found(shared_data, file, source, toe):
    left, right = find_legs(hd.load(shared_data / file))
    assert (left.side, right.side) == ("left", "right")
    assert right.source == source
    assert right.toe.name == toe


def test_feet_without_words_are_the_lowest_ends():
    legs = Assembly("strange").add(rod("a", 5.0, (0, 0, 0), (0, 0, 0.5)), joints.euler_free())
    for name, y in (("b", 0.1), ("c", -0.1)):
        legs = (
            legs.add(
                rod(f"{name}1", 2.0, (0, 0, 0), (0, 0, -0.4)),
                joints.revolute("y"),
                "a",
                at=(0, y, 0),
            )
            .add(
                rod(f"{name}2", 2.0, (0, 0, 0), (0, 0, -0.4)),
                joints.revolute("y"),
                f"{name}1",
                at=(0, 0, -0.4),
            )
            .add(
                rod(f"{name}3", 1.0, (0, 0, 0), (0.2, 0, 0)),
                joints.revolute("y"),
                f"{name}2",
                at=(0, 0, -0.4),
            )
        )
    left, right = find_legs(legs.model())
    assert (left.hip, left.knee, left.ankle) == ("b1", "b2", "b3")
    assert right.ankle == "c3"
    assert right.toe.point == pytest.approx([0.2, 0, 0])


def test_a_body_without_legs_is_refused_with_its_bodies():
    pendulum = (
        Assembly("pendulum")
        .add(rod("arm", 1.0, (0, 0, 0), (0, 0, -1)), joints.revolute("y"))
        .model()
    )
    with pytest.raises(
        hd.CaptureError, match="recognizable left and right foot: its bodies are arm"
    ):
        find_legs(pendulum)
