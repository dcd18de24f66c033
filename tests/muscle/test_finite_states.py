"""States that are not numbers are refused with their index."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, Body, joints
from homodyn.muscle.finite_states import check_positions, check_velocities
from support import muscled_leg


@pytest.fixture(scope="module")
def leg():
    return muscled_leg.build()


@pytest.mark.parametrize("function", [hd.muscle.lengths, hd.muscle.moment_arms])
def test_a_position_that_is_not_a_number_is_refused_with_its_index(leg, function):
    q = np.full((4, 5, 2), 0.1)
    expected = function(leg, q)
    assert np.isfinite(expected).all()
    q[2, 3, 1], q[3, 0, 0] = np.nan, np.inf
    with pytest.raises(hd.ModelError, match=r"q\[1\] of state 2, 3 \(knee\) is nan \(2 of 20"):
        function(leg, q)
    with pytest.raises(hd.ModelError, match=r"q\[0\] \(hip\) is inf; finite numbers are needed"):
        function(leg, q[3, 0])
    # Sums of large numbers may overflow; that is no fault of theirs.
    function(leg, np.full((3, 2), 1e308))


@pytest.mark.parametrize(
    "function",
    [
        hd.muscle.lengthening_speeds,
        lambda leg, q, v: hd.muscle.forces(leg, q, v, np.full(6, 0.2), tendon="rigid"),
        lambda leg, q, v: hd.muscle.equilibrium(leg, q, v, np.full(6, 0.2)),
        lambda leg, q, v: hd.muscle.metabolic_rates(
            leg, q, v, np.full(6, 0.2), np.full(6, 0.2), hd.muscle.Bhargava2004()
        ),
    ],
)
def test_a_velocity_that_is_not_a_number_is_refused_with_its_index(leg, function):
    q, v = np.full((3, 2), 0.1), np.zeros((3, 2))
    function(leg, q, v)
    v[1, 0] = np.nan
    with pytest.raises(hd.ModelError, match=r"v\[0\] of state 1 \(hip\) is nan \(1 of 3 states"):
        function(leg, q, v)
    with pytest.raises(hd.ModelError, match=r"q\[1\] of state 1 \(knee\)"):
        function(leg, np.where(np.eye(3, 2, -1)[:, ::-1] > 0, np.nan, q), 0 * q)


def test_symbols_and_other_sizes_are_left_to_the_kernel(leg):
    assert hd.muscle.lengths(leg, ca.SX.sym("q", 2)).shape == (6, 1)
    with pytest.raises(hd.KernelError):
        hd.muscle.lengths(leg, np.full(3, np.nan))
    check_positions(leg, np.full(3, np.nan))


def test_entries_of_a_quaternion_are_named_by_their_joint():
    body = Body("body", 1.0, [0, 0, 0], [1, 1, 1])
    model = Assembly("free").add(body, joints.free(), joint_name="root").model()
    q, v = model.neutral(), np.zeros(6)
    q[-1] = np.nan
    with pytest.raises(hd.ModelError, match="joint 'root'"):
        check_positions(model, q)
    check_velocities(model, v)
