"""Forces at the cuffs against the momentum of the whole robot, by own differences of positions."""

import numpy as np
import pytest

from homodyn.codesign.cuff_force import mean_cuff_force
from homodyn.codesign.design_solution import solve_design
from homodyn.codesign.walking import Walker
from homodyn.dynamics import position, velocity
from homodyn.model.side import Side


@pytest.fixture(scope="module")
def solution(study, candidates):
    values, groups = candidates
    name = study.designs.groups[int(groups[1, 0])].name
    parameters = dict(zip(study.space.names, values[1], strict=True))
    return solve_design(study, parameters, {"robot": name})


def test_all_cuffs_of_a_leg_carry_the_momentum_and_weight_of_its_robot(solution):
    result, model, cuffs = solution.result, solution.model, solution.cuffs
    for side in (Side.LEFT, Side.RIGHT):
        momentum, weight = 0.0, 0.0
        for body in model.bodies:
            if body.name.startswith(f"{side.value}_robot"):
                mass, com = float(body.mass), np.asarray(body.com, dtype=float)
                momentum = momentum + mass * velocity(model, result.q, result.v, body.name, com)
                weight += 9.81 * mass
        on_robot = np.diff(momentum, axis=0) / np.diff(result.time)[:, None]
        on_robot = on_robot[:, [0, 2]] + [0.0, weight]
        on_person = sum(force for (at, _), force in cuffs.force.items() if at is side)
        assert np.allclose(on_person, -on_robot, atol=1e-6 * np.abs(on_robot).max())


def test_a_cut_cuff_has_the_torque_balance_of_its_link(solution):
    """Link D of topology 2 hangs between joints 6 and 3: its moment about joint 6."""
    result, model = solution.result, solution.model
    frame = "left_robot_3_a"
    name = model.body_names[model.locate(frame)[0]]
    assert name == "left_robot_D"
    # Forces of the loop rows on the link are minus those on the shank.
    shank = solution.cuffs.force[Side.LEFT, "shank"]
    names = result.constraint_names
    rows = [names.index(f"left_robot_3_a-left_robot_3_b {axis}") for axis in "xz"]
    size = np.linalg.norm(result.constraint_forces[:-1, rows], axis=1)
    assert np.allclose(np.linalg.norm(shank, axis=1), size, rtol=1e-9, atol=1e-9)
    gap = position(model, result.q, "left_robot_3_a") - position(model, result.q, "left_robot_3_b")
    assert np.abs(gap[:, [0, 2]]).max() < 1e-3


def test_the_measure_in_the_program_is_the_mean_of_the_series(study, solution, candidates):
    walker = study.walker(study.topologies[0])
    measured = Walker(
        walker.model, walker.motors, walker.task, walker.loops,
        {"cuff_force": mean_cuff_force(solution.device)},
    )  # fmt: skip
    values, groups = (one[1:2] for one in candidates)
    topology = study.topologies[0]
    pairs, shares, places = study.designs.places(values, groups[:, 0], topology)
    outcome = measured.simulate(
        study.designs.batch(values, pairs),
        solution.device.parameter_values(pairs, shares, places),
    )
    kept = solution.result.time[:-1] + study.task.dt / 2 > study.task.second_half
    cuffs = solution.cuffs
    mean = sum(cuffs.size(*key)[kept] for key in cuffs.force).mean()
    # Programs of batches and of single runs round differently, and stiff motors amplify it.
    assert outcome.extra["cuff_force"][0] == pytest.approx(mean, rel=1e-4)
