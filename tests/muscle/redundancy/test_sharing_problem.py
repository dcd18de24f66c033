"""The arrays of the convex program."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle import EmgTargets, StaticOptimizationOptions
from homodyn.muscle.redundancy.sharing_problem import (
    activation_bounds,
    effort_weights,
    emg_costs,
    hidden_coordinates,
    reserve_strengths,
    select_coordinates,
)
from support import muscled_leg

MUSCLES = ("soleus", "tibialis")


def test_bounds_and_reserves_by_name():
    options = StaticOptimizationOptions(lower={"soleus": 0.2}, upper=0.9)
    lower, upper = activation_bounds(MUSCLES, options)
    np.testing.assert_array_equal(lower, [0.2, 0.01])
    np.testing.assert_array_equal(upper, [0.9, 0.9])
    np.testing.assert_array_equal(reserve_strengths(("hip", "knee"), {"knee": 3.0}), [0, 3])
    with pytest.raises(hd.HomodynError, match="no muscle 'gluteus'"):
        activation_bounds(MUSCLES, StaticOptimizationOptions(lower={"gluteus": 0.2}))


def test_volumes_are_percent_of_all():
    leg = muscled_leg.build()
    volumes = effort_weights(leg, [0, 1, 2], "volume")
    assert volumes.sum() == pytest.approx(100)
    sizes = np.array([m.max_isometric_force * m.optimal_fiber_length for m in leg.muscles[:3]])
    np.testing.assert_allclose(volumes / sizes, volumes[0] / sizes[0])


def test_targets_apply_where_they_are_measured():
    measured = np.array([[0.3], [np.nan]])
    weight = np.array([1.0, 2.0])
    emg = EmgTargets(("tibialis",), measured, weight=5.0, mode="tracking")
    effort, pull, target = emg_costs(emg, MUSCLES, weight, 2)
    np.testing.assert_array_equal(effort, [[1, 0], [1, 2]])
    np.testing.assert_array_equal(pull, [[0, 5], [0, 0]])
    np.testing.assert_array_equal(target, [[0, 0.3], [0, 0]])
    effort, _, _ = emg_costs(EmgTargets(("tibialis",), measured), MUSCLES, weight, 2)
    np.testing.assert_array_equal(effort, [[1, 2], [1, 2]])


def test_coordinates_are_those_that_muscles_move():
    leg = muscled_leg.build()
    loads = muscled_leg.loads(muscled_leg.swing(leg))
    arms = hd.muscle.moment_arms(leg, loads.motion.q)
    options = StaticOptimizationOptions()
    assert select_coordinates(leg, loads, arms, options) == ([0, 1], ())
    assert select_coordinates(leg, loads, arms[:, :2], options) == ([0], ("knee",))
    with pytest.raises(hd.ModelError, match="no muscle of model"):
        select_coordinates(leg, loads, 0 * arms, options)
    assert hidden_coordinates(loads.motion) == set()
