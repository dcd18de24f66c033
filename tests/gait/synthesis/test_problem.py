"""The problem of a step as the thesis states it: size, weights, bounds."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.catalog.heiman_tables import typical_torques
from homodyn.dynamics.constraints import row_names
from homodyn.errors import HomodynError
from homodyn.gait import synthesis


def printed_size(problem):
    """Unknowns, equations and inequalities as section 5.2 of the thesis counts them.

    A state at each node and two torques for each interval, with a stage of one interval for each
    touchdown; bounds of all unknowns from both sides; conditions at the nodes they stand for.
    """
    states, motors = 2 * problem.model.nv, len(typical_torques())
    touchdowns = sum(phase.transition == "impact" for phase in problem.phases)
    m = sum(phase.intervals for phase in problem.phases) + touchdowns
    unknowns = states * (m + 1) + 2 * motors * m + motors + len(problem.parameters)
    equal = unequal = 0
    for before, phase in zip([None, *problem.phases[:-1]], problem.phases, strict=True):
        nodes = {"start": 1, "inside": phase.intervals - 1, "end": 1}
        for condition in phase.constraints:
            rows = nodes[condition.when] * len(condition.labels)
            fixed = np.all(np.equal(condition.lower, condition.upper))
            equal, unequal = equal + fixed * rows, unequal + (not fixed) * rows
        if before is not None and before.transition == "impact":
            known = row_names(before.contacts)
            fresh = [r for r in phase.contacts.rows if r.name not in known]
            equal += sum(row.slide == (0.0, 0.0, 1.0) for row in fresh)
    links = sum(
        len(link.labels(problem.model) if callable(link.labels) else link.labels)
        for link in problem.boundary_constraints
    )
    equations = (states + motors) * m + 2 * motors * touchdowns // 2 + equal + links
    return unknowns, equations, 2 * unknowns + unequal


@pytest.mark.parametrize(("speed", "size"), [(None, (2381, 1887, 4885)), (1.5, (2380, 1887, 4883))])
def test_the_problem_has_the_size_that_the_thesis_prints(model, speed, size):
    problem = synthesis.synthesis_problem(
        model,
        objective=synthesis.WALKING_OBJECTIVES["mixed"],
        speed=speed,
        intervals=(10, 2, 2, 2),
        friction=None,
    )
    assert printed_size(problem) == size


def test_weights_are_those_of_the_thesis():
    weights = {
        name: tuple(goal.weights.values()) for name, goal in synthesis.WALKING_OBJECTIVES.items()
    }
    assert weights == {
        "torque": (1.0, 0, 0, 0),
        "angular-momentum": (0.01, 1.0, 0, 0),
        "head": (0.01, 0, 10.0, 0),
        "time": (0.01, 0, 0, 10.0),
        "mixed": (1.0, 1.0, 3.0, 0),
    }
    own = synthesis.walking_objective("2*torque+head")
    assert (own.torque, own.head, own.time) == (2.0, 1.0, 0.0)
    with pytest.raises(HomodynError, match="no objective 'comfort'"):
        synthesis.walking_objective("comfort")
    with pytest.raises(HomodynError, match="'x' is not a weight"):
        synthesis.walking_objective("x*head")


def test_the_head_may_turn_to_both_sides(model):
    phase = synthesis.synthesis_problem(
        model, objective=synthesis.WALKING_OBJECTIVES["head"]
    ).phases[0]
    assert phase.bounds["q"]["Neck_RX"] == (-0.16, 0.16)


def test_another_model_is_refused_with_advice():
    with pytest.raises(HomodynError, match=r"has no coordinate Pelvis_TX.*hd.catalog.heiman"):
        synthesis.synthesis_problem(
            hd.catalog.human36(), objective=synthesis.WALKING_OBJECTIVES["mixed"]
        )
