"""The frame rate that balances a walk over its feet is the true one, whatever the file states."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.kinetics import check_frame_rate, filter_motion
from support.swaying import sway

CUTOFF_HZ = 6.0


@pytest.fixture(scope="module")
def walk():
    made = hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=2, plates=0, variation=0.0, mass=70, speed=1.25
    )
    return made.truth.motion


def played_at(motion, factor):
    """The motion as a file with another frame rate gives it."""
    time = motion.time[0] + (motion.time - motion.time[0]) / factor
    return filter_motion(replace(motion, time=time), cutoff=CUTOFF_HZ)


@pytest.mark.parametrize("factor", [0.5, 0.833, 1.0, 1.2, 2.0])
def test_the_estimate_undoes_a_wrong_rate(walk, factor):
    found = check_frame_rate(played_at(walk, factor))
    assert found.stated == pytest.approx(factor * walk.rate)
    # Stance is found by the speed of the feet, which a wrong rate changes too.
    assert found.factor == pytest.approx(1 / factor, rel=0.12)
    assert found.sides[0] <= found.factor <= found.sides[1]


@pytest.mark.parametrize(
    ("factor", "plausible", "possible"),
    [(1.0, True, True), (0.5, False, False), (2.0, False, False)],
)
def test_rates_that_are_wrong_by_two_are_impossible(walk, factor, plausible, possible):
    found = check_frame_rate(played_at(walk, factor))
    assert (found.plausible, found.possible) == (plausible, possible)
    text = "over the feet; it would also at" if plausible else "check the frame rate"
    assert text in found.sentence


def test_mass_and_gravity_axis_do_not_matter(walk):
    motion = played_at(walk, 1.0)
    heavier = replace(motion, model=hd.catalog.heiman(height=1.75, mass=140))
    lighter = replace(motion, model=hd.catalog.heiman(height=1.75, mass=70))
    assert check_frame_rate(heavier).factor == pytest.approx(
        check_frame_rate(lighter).factor, rel=1e-6
    )


def test_standing_and_slow_movement_decide_nothing(walk):
    swaying = sway(hd.catalog.heiman(height=1.75, mass=70))
    assert check_frame_rate(filter_motion(swaying, cutoff=CUTOFF_HZ)) is None
    # In slow motion the inertia does not shift the center of pressure.
    slow = replace(walk, time=walk.time[0] + 8 * (walk.time - walk.time[0]))
    assert check_frame_rate(filter_motion(slow, cutoff=None)) is None


def test_a_model_that_does_not_stand_over_its_feet_decides_nothing(walk):
    motion = played_at(walk, 1.0)
    q = np.array(motion.q)
    q[:, motion.model.coordinate_index("Pelvis_RY")] += 0.7
    assert check_frame_rate(replace(motion, q=q)) is None
