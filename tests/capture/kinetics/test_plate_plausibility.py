"""Plates whose unit, place or clock is wrong are doubted; those of a standing person are not."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import inverse_dynamics
from homodyn.capture.kinetics import check_plates
from support.swaying import plates_for, sway
from support.walks import walk


@pytest.fixture(scope="module")
def swaying():
    return sway(hd.catalog.heiman(height=1.75, mass=70))


def checked(motion, plates):
    return check_plates(inverse_dynamics(motion, plates, cutoff=None), plates)


def times(plates, factor):
    return [replace(p, force=factor * p.force, torque=factor * p.torque) for p in plates]


def test_a_standing_person_is_not_doubted(swaying):
    found = checked(swaying, plates_for(swaying))
    assert found.doubt == "none"
    assert found.peak == pytest.approx(1.0, abs=0.15)
    assert found.discarded < 0.05


@pytest.mark.parametrize(("unit", "newtons"), [("kN", 1000.0), ("kgf", 9.80665)])
def test_units_of_force_are_named(swaying, unit, newtons):
    found = checked(swaying, times(plates_for(swaying), 1 / newtons))
    assert found.doubt == "wrong"
    assert f"if they are in {unit}, multiply them by {newtons:.4g}" in found.sentence


def test_pounds_may_be_support_elsewhere(swaying):
    found = checked(swaying, times(plates_for(swaying), 1 / 4.448))
    assert found.doubt == "partial"
    assert "never carry more than" in found.sentence


def test_plates_at_another_place_are_wrong(swaying):
    away = [replace(p, point=p.point + np.array([2.0, 0.0, 0.0])) for p in plates_for(swaying)]
    found = checked(swaying, away)
    assert found.doubt == "wrong"
    assert found.discarded == pytest.approx(1.0)
    assert "100 % of the impulse of the plates acts where no foot is" in found.sentence
    assert "frame rate" not in found.sentence


def with_inward_force(plates, share):
    """The ground pushes the feet towards each other with a share of the load."""
    left, right = plates
    return [
        replace(plate, force=plate.force + share * plate.force[:, 2:] * np.array([0.0, sign, 0.0]))
        for plate, sign in ((left, -1.0), (right, 1.0))
    ]


def test_exchanged_plates_push_the_feet_apart(swaying):
    good = with_inward_force(plates_for(swaying), 0.12)
    assert checked(swaying, good).doubt == "none"
    left, right = good
    exchanged = [replace(left, force=right.force), replace(right, force=left.force)]
    found = checked(swaying, exchanged)
    assert found.doubt == "wrong"
    assert "push the feet apart with 12 % of their load" in found.sentence
    assert checked(swaying, with_inward_force(plates_for(swaying), -0.04)).doubt == "none"


@pytest.mark.parametrize("name", ["gait10dof", "arnold2013"])
def test_a_wrong_sign_of_horizontal_forces_is_wrong(shared_data, name):
    found = walk(shared_data, name)
    turned = [replace(p, force=p.force * np.array([-1.0, -1.0, 1.0])) for p in found.plates]
    wrong = checked(found.motion, turned)
    assert wrong.doubt == "wrong"
    assert "plates are exchanged, or signs or axes of their horizontal forces" in wrong.sentence


@pytest.mark.parametrize("name", ["gait10dof", "arnold2013", "gait23"])
def test_recorded_walks_are_not_doubted(shared_data, name):
    found = walk(shared_data, name)
    assert checked(found.motion, found.plates).doubt == "none"


def test_a_wrong_frame_rate_is_named(shared_data):
    found = walk(shared_data, "arnold2013")
    start, time = found.motion.time[0], found.motion.time
    fast = replace(found.motion, time=start + (time - start) / 2)
    sentence = checked(fast, found.plates).sentence
    assert "is the frame rate right?" in sentence
