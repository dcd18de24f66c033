"""Equilibrium of fibers and compliant tendons."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle.equilibrium import FOUND, residual, solve_equilibrium
from homodyn.muscle.forces import model_of
from homodyn.muscle.models.bounded_fibers import BoundedFibers
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace
from support.muscle_kinds import SETTINGS, load_kind, random_motion, strengths

FORCE_TOLERANCE = 1e-7
"""Of the maximum isometric force; OpenSim stops at 1e-8 of it."""
FILES = (
    "arnold2013/subject01/subject01.osim",
    "gait10dof/subject01.osim",
    "opensim_id/arm26.osim",
    "opensim_id/subject01.osim",
    "rajagopal_walk/Rajagopal2016.osim",
)


def make_solver(model):
    """Forces, lengths along the tendon and status from lengths, speeds and activations."""
    count, laws = len(model.muscles), model_of(model, None)

    def solve(length, speed, activation):
        columns = ([c[k] for k in range(count)] for c in (activation, length, speed))
        found = solve_equilibrium(model.muscles, laws, *columns)
        return tuple(ca.vertcat(*x) for x in (found.forces, found.along, found.status))

    inputs = dict.fromkeys(("length", "speed", "activation"), (count,))
    outputs = dict.fromkeys(("forces", "along", "status"), (count,))
    return Kernel(trace(solve, inputs, outputs, "equilibrium"))


def check_against_opensim(model, path, ask, count, moving):
    q, v, activation = random_motion(model, count, speed=1.0 if moving else 0.0)
    # OpenSim's models of Thelen and Millard do not keep activations below 0.01.
    activation = np.maximum(activation, 0.03)
    expected = ask(path, model, q, v, activation, tendon="compliant")
    forces, along, status = make_solver(model)(expected["length"], expected["speed"], activation)
    error = np.abs(forces - expected["force"]) / strengths(model)
    width = [m.optimal_fiber_length * np.sin(m.pennation_angle) for m in model.muscles]
    # OpenSim gives up on the shortest fibers, or goes on with fibers that point backwards; its
    # model of De Groote and Fregly looks for forces from 0 to 5 only.
    shared = (status == FOUND) & (forces < 5 * strengths(model))
    assert error[shared].max() < FORCE_TOLERANCE
    assert shared.mean() > 0.8
    reached = expected["fiber_length"][shared]
    np.testing.assert_allclose(np.hypot(along, width)[shared], reached, 1e-6)


@pytest.mark.parametrize("kind", SETTINGS)
def test_forces_in_equilibrium_agree_with_opensim(kind, wraps_file, tmp_path, opensim_muscles):
    path, model = load_kind(wraps_file, tmp_path, kind)
    # Only its model of De Groote and Fregly keeps the tendon at its length while the path moves.
    moving = kind == "DeGrooteFregly2016Muscle"
    check_against_opensim(model, path, opensim_muscles, 40, moving)


@pytest.mark.parametrize("file", FILES)
def test_models_of_the_data_folder_agree_with_opensim(shared_data, opensim_muscles, file):
    model = hd.load(shared_data / file)
    moving = model.muscles[0].kind == "DeGrooteFregly2016Muscle"
    check_against_opensim(model, shared_data / file, opensim_muscles, 10, moving)


@pytest.mark.parametrize("kind", SETTINGS)
def test_every_state_has_an_equilibrium_or_a_reason(kind, wraps_file, tmp_path):
    _, model = load_kind(wraps_file, tmp_path, kind)
    muscle, law = model.muscles[0], model_of(model, None)[0]
    model = replace(model, muscles=(muscle,))
    generator = np.random.default_rng(1)
    rest = muscle.tendon_slack_length + muscle.optimal_fiber_length
    length = generator.uniform(0.0, 2.0, (3000, 1)) * rest
    speed = generator.normal(size=length.shape) * muscle.optimal_fiber_length * 10
    activation = generator.uniform(0, 1, length.shape)
    forces, along, status = make_solver(model)(length, speed, activation)
    assert np.isfinite(forces).all()
    assert set(np.unique(status)) == {0, 1, 2}
    assert (forces[status == 2] == 0).all()
    x = ca.SX.sym("x", 4)
    error = ca.Function("error", [x], [residual(muscle, law, *(x[k] for k in range(4)))])
    columns = np.hstack([along, activation, length, speed])
    errors = np.asarray(error.map(len(columns))(columns.T)).ravel()
    found = (status == FOUND).ravel()
    # Beyond ten maximal forces the last bit of a length is more than that.
    loaded = (forces < 10 * muscle.max_isometric_force).ravel()
    assert np.abs(errors[found & loaded]).max() < 1e-9
    assert (errors[(status == 2).ravel()] <= 0).all()


def test_forces_of_a_model_are_those_of_its_equilibrium(wraps_file, tmp_path):
    _, model = load_kind(wraps_file, tmp_path, "Millard2012EquilibriumMuscle")
    model = replace(model, muscles=model.muscles[:3])
    q, v, activation = random_motion(model, 6)
    found = hd.muscle.equilibrium(model, q, v, activation)
    force = hd.muscle.forces(model, q, v, activation)
    np.testing.assert_array_equal(found.forces, force)
    rigid = hd.muscle.forces(model, q, v, activation, tendon="rigid")
    assert (np.abs(rigid - force) > 1).any()
    at_rest = hd.muscle.equilibrium(model, q, v, activation, tendon="rigid")
    width = [m.optimal_fiber_length * np.sin(m.pennation_angle) for m in model.muscles]
    slack = [m.tendon_slack_length for m in model.muscles]
    expected = np.hypot(hd.muscle.lengths(model, q) - slack, width)
    np.testing.assert_allclose(at_rest.fiber_length, expected)
    assert isinstance(model_of(model, None)[0], BoundedFibers)


def test_native_code_finds_the_same_equilibrium(wraps_file, tmp_path):
    _, model = load_kind(wraps_file, tmp_path, "Thelen2003Muscle")
    model = replace(model, muscles=model.muscles[:2])
    q, v, activation = random_motion(model, 20)
    kernel = hd.muscle.forces.kernel(model, q, v, activation)
    expected = kernel.as_interpreted()(q, v, activation)
    kernel.compile()
    np.testing.assert_allclose(kernel(q, v, activation), expected, atol=1e-7)
