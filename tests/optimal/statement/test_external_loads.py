"""Known loads act like any other force, in all transcriptions."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
import homodyn.optimal as oc
from homodyn.dynamics import inverse_dynamics, position
from homodyn.errors import HomodynError
from homodyn.optimal.statement.external_loads import generalized_load_force
from support.optimal import block_move

BEST = 36 - 84 + 196 / 3
"""N2 s: the total force falls from 6 to -6 N; the motor adds what 2 N/s of wind leave out."""


def wind(part):
    """2 N along x at the end of the phase, none at its begin."""
    none = np.zeros(len(part))
    return np.column_stack([none, none, none, 2 * part, none, none])


@pytest.mark.parametrize(
    ("transcription", "near"),
    [("midpoint", 0.2), ("collocation", 1e-6), ("multiple_shooting", 0.4), ("felis2015", 0.4)],
)
def test_a_block_in_growing_wind_is_moved_at_the_known_cost(transcription, near):
    problem = block_move(10, external_loads=[oc.ExternalLoad("box", wind)])
    solution = problem.solve(transcription, defect_tolerance=1e-3)
    assert solution.status is oc.SolveStatus.SOLVED
    assert abs(solution.objective - BEST) < near
    still = block_move(10).solve(transcription, defect_tolerance=1e-3)
    assert solution.objective - still.objective > 5


def test_rates_of_change_see_the_load_of_their_own_interval():
    problem = block_move(20, external_loads=[oc.ExternalLoad("box", wind)])
    calm = oc.ObjectiveTerm("jerk", lambda i: i.generalized_load, when="change")
    (move,) = problem.phases
    smooth = oc.Phase(**{**vars(move), "terms": [1e-6 * oc.torque(), calm]})
    # Wind that grows by 2 N/s: 4 N2/s2 over the 19 of 20 intervals between middles.
    found = oc.Problem(problem.model, [smooth]).solve().terms["move: jerk"]
    np.testing.assert_allclose(found, 4 * 19 / 20)


def test_a_load_about_the_origin_is_the_wrench_that_inverse_dynamics_takes():
    model = hd.catalog.heiman()
    rng = np.random.default_rng(5)
    q = model.neutral() + 0.3 * rng.normal(size=model.nq)
    v, a = rng.normal(size=(2, model.nv))
    force, point, torque = rng.normal(size=(3, 3)) * [[300.0], [1.0], [10.0]]
    loads = [oc.ExternalLoad("HeelRight", oc.wrench_of_force(force, point, torque))]
    wrench = loads[0].sample(np.array([0.4]))[0]
    acting = np.array(ca.evalf(generalized_load_force(loads, model, ca.SX(q), ca.SX(wrench))))[:, 0]
    moment = np.cross(point - np.asarray(position(model, q, "HeelRight")), force) + torque
    external = {"HeelRight": np.concatenate([moment, force])}
    without = np.asarray(inverse_dynamics(model, q, v, a))
    under = np.asarray(inverse_dynamics(model, q, v, a, external))
    np.testing.assert_allclose(without - acting, under, atol=1e-9)


def test_the_description_lists_external_loads():
    assert (
        "external loads: box"
        in block_move(external_loads=[oc.ExternalLoad("box", wind)]).describe()
    )
    assert "external loads" not in block_move().describe()


def test_loads_of_other_shapes_or_without_numbers_are_refused_by_name():
    with pytest.raises(HomodynError, match=r"load on 'box': .*6 finite columns.*got 3"):
        block_move(external_loads=[oc.ExternalLoad("box", np.zeros((2, 3)))]).transcribe()
    with pytest.raises(HomodynError, match="not finite"):
        block_move(external_loads=[oc.ExternalLoad("box", np.full((2, 6), np.nan))]).transcribe()
