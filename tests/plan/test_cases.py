"""Cases: their names, and that every support names a body of the manikin."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import FormatError
from homodyn.plan.cases import RECORDED_INSTANTS_S
from homodyn.plan.support_targets import support_bodies


def test_all_cases_load_and_fit_the_manikin():
    assert hd.plan.case_names() == ("board", "car")
    for name in hd.plan.case_names():
        scene = hd.plan.load_case(name)
        bodies = support_bodies(hd.catalog.manikin(1.75, scene.mass), scene)
        assert {"right_foot", "left_foot"} <= set(bodies)


def test_the_car_has_the_printed_dimensions():
    car = hd.plan.load_case("car")
    obstacles = {each.name: each for each in car.obstacles}
    assert car.ground.height == -0.485
    floor = obstacles["floor"]
    assert floor.position[2] + floor.size[2] / 2 == pytest.approx(-0.231, abs=1e-3)
    wheel = obstacles["steering wheel"]
    assert 2 * (wheel.radius + wheel.tube_radius) == pytest.approx(0.36)
    assert [len(step.supports) for step in car.steps] == [2, 1, 2, 1, 2, 3, 4]


def test_recorded_timing_of_the_car_has_an_instant_per_change_of_support():
    recorded = np.array(RECORDED_INSTANTS_S["car"])
    unseated = hd.plan.load_case("car").steps[:6]
    assert len(recorded) == len(unseated) + 1
    # Table 7.7: the double support before the right foot lifts lasted 0.05 s.
    np.testing.assert_allclose(np.diff(recorded), [0.72, 0.58, 0.05, 0.44, 0.63, 0.64])


def test_an_unknown_case_is_refused():
    with pytest.raises(FormatError, match="train"):
        hd.plan.load_case("train")
