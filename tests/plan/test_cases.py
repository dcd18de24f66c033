"""Cases: their names, and that every support names a body of the manikin."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import FormatError
from homodyn.plan.cases import RECORDED_INSTANTS_S
from homodyn.plan.support_targets import support_bodies


def test_all_cases_load_and_fit_the_manikin():
    names = ("beam-h1", "beam-h2", "beam-h3", "board", "car", "car-all", "egress")
    assert hd.plan.case_names() == names
    model = hd.catalog.manikin(1.75, 60.0)
    for name in names:
        bodies = support_bodies(model, hd.plan.load_case(name))
        assert {"right_foot", "left_foot"} <= set(bodies)


def test_the_car_has_the_printed_dimensions():
    car = hd.plan.load_case("car")
    obstacles = {each.name: each for each in car.obstacles}
    assert car.ground.height == -0.485
    floor = obstacles["floor"]
    assert floor.position[2] + floor.size[2] / 2 == pytest.approx(-0.231, abs=1e-3)
    wheel = obstacles["steering wheel"]
    assert 2 * (wheel.radius + wheel.tube_radius) == pytest.approx(0.36)


def test_the_car_has_the_supports_of_table_7_4():
    car = hd.plan.load_case("car-all")
    assert hd.plan.load_case("car").steps == car.steps[:7]
    table = {
        "left_foot": (1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1),
        "right_foot": (1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1),
        "left_hand": (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
        "right_hand": (0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1),
        "pelvis": (0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1),
    }
    for body, used in table.items():
        found = [
            sum(car.supports[name].body == body for name in step.supports) for step in car.steps
        ]
        assert tuple(found) == used, body


def test_recorded_timing_of_the_car_has_an_instant_per_change_of_support():
    recorded = np.array(RECORDED_INSTANTS_S["car"])
    unseated = hd.plan.load_case("car").steps[:6]
    assert len(recorded) == len(unseated) + 1
    # Table 7.7: the double support before the right foot lifts lasted 0.05 s.
    np.testing.assert_allclose(np.diff(recorded), [0.72, 0.58, 0.05, 0.44, 0.63, 0.64])


def test_an_unknown_case_is_refused():
    with pytest.raises(FormatError, match="train"):
        hd.plan.load_case("train")
