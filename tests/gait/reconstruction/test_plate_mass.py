"""The mass that plates carry, from the motion of the center of mass."""

from dataclasses import replace

import pytest

import homodyn as hd
from homodyn.gait.reconstruction import plate_mass
from homodyn.gait.reconstruction.pooled_problem import with_mass

MASS = 70.0


@pytest.fixture(scope="module")
def loads():
    """Forces under a walk, in the frames of its plates."""
    walk = hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=2, plates=2, variation=0.0, mass=MASS
    )
    return walk.truth.loads


def test_the_mass_is_that_of_the_person(loads):
    assert plate_mass([loads]) == pytest.approx(MASS, rel=0.005)
    assert plate_mass([loads, loads]) == pytest.approx(plate_mass([loads]))


def test_the_mass_of_the_model_does_not_matter(loads):
    heavy = replace(loads.motion, model=with_mass(loads.motion.model, 90.0))
    assert plate_mass([replace(loads, motion=heavy)]) == pytest.approx(plate_mass([loads]))


def test_too_few_measured_frames_decide_nothing(loads):
    assert plate_mass([]) is None
    covered = loads.motion.time[loads.covered]
    assert plate_mass([loads], (covered[0], covered[0])) is None
    middle = (covered[0], covered[len(covered) // 2])
    assert plate_mass([loads], middle) == pytest.approx(MASS, rel=0.05)
