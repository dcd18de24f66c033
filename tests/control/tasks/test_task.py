"""All tasks: Jacobians against differences of the error, and what they refuse."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.control import (
    ComTask,
    ContactTask,
    FrameTask,
    JointCouplingTask,
    LookAtTask,
    MomentumTask,
    OrientationTask,
    PositionTask,
    PostureTask,
    RelativeFrameTask,
    Task,
)
from homodyn.control.inputs import input_layout, pack_inputs, unpack_symbols
from homodyn.control.kinematic_point import KinematicPoint, rotation_vector
from homodyn.dynamics import center_of_mass_jacobian, momentum, orientation, position
from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.symbolic import kernel

EYE = np.eye(3)


@pytest.fixture(scope="module")
def human() -> Model:
    """A model with a quaternion root."""
    return hd.catalog.heiman(height=1.75, mass=70.0)


@pytest.fixture(scope="module")
def bip() -> Model:
    return hd.catalog.bip()


def evaluate(task: Task, model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Error and Jacobian of a task."""
    inputs = task.inputs(model)

    def rows(pose: ca.SX, numbers: ca.SX) -> tuple[ca.SX, ca.SX]:
        symbols, _ = unpack_symbols(numbers, 0, input_layout(inputs))
        found = task.rows(KinematicPoint(model, pose, None), symbols)
        return ca.densify(ca.SX(found.error)), ca.densify(ca.SX(found.jacobian))

    numbers = pack_inputs(list(inputs.values()))
    error, jacobian = kernel(rows, pose=model.nq, numbers=len(numbers))(q, numbers)
    return np.atleast_1d(error), np.atleast_2d(jacobian.reshape(-1, model.nv))


def near_targets(model: Model, q: np.ndarray) -> dict[str, Task]:
    """Tasks whose targets are reached at q, where their Jacobians are exact derivatives."""
    foot, shank = "foot_left" if "foot_left" in model.body_names else "left_foot", "pelvis"
    place, turn = position(model, q, foot), orientation(model, q, foot)
    base, axes = position(model, q, shank), orientation(model, q, shank)
    first, second = [model.coordinate_names[k] for k in model.actuated[:2]]
    places = [model.position_index[model.coordinate_index(name)] for name in (first, second)]
    value = float(2.0 * q[places[0]] - 0.5 * q[places[1]])
    return {
        "frame": FrameTask(foot, place, turn),
        "position": PositionTask(foot, place),
        "orientation": OrientationTask(foot, turn),
        "com": ComTask(hd.dynamics.center_of_mass(model, q)),
        "posture": PostureTask(q, cost=1.0),
        "relative": RelativeFrameTask(foot, shank, axes.T @ (place - base), axes.T @ turn),
        "look": LookAtTask(foot, place + 2.0 * turn[:, 0]),
        "coupling": JointCouplingTask({first: 2.0, second: -0.5}, value),
    }


NAMES = ("frame", "position", "orientation", "com", "posture", "relative", "look", "coupling")


@pytest.mark.parametrize("name", NAMES)
def test_jacobians_are_derivatives_of_the_error(bip: Model, name: str) -> None:
    rng = np.random.default_rng(1)
    q = bip.random(3)
    task = near_targets(bip, q)[name]
    error, jacobian = evaluate(task, bip, q)
    np.testing.assert_allclose(error, 0, atol=1e-12)
    for _ in range(3):
        step = 1e-6 * rng.normal(size=bip.nv)
        there = evaluate(task, bip, np.asarray(bip.integrate(q, step)))[0]
        back = evaluate(task, bip, np.asarray(bip.integrate(q, -step)))[0]
        np.testing.assert_allclose((there - back) / 2, -jacobian @ step, atol=1e-11)


def test_jacobians_of_quaternion_roots_are_derivatives(human: Model) -> None:
    rng = np.random.default_rng(2)
    q = human.random(4)
    frame = human.body_names[-1]
    task = FrameTask(frame, position(human, q, frame), orientation(human, q, frame))
    _, jacobian = evaluate(task, human, q)
    step = 1e-6 * rng.normal(size=human.nv)
    there = evaluate(task, human, np.asarray(human.integrate(q, step)))[0]
    np.testing.assert_allclose(there, -jacobian @ step, atol=1e-10)


def test_momentum_rows_are_the_momentum(bip: Model) -> None:
    rng = np.random.default_rng(3)
    q, v = bip.random(5), rng.normal(size=bip.nv)
    _, jacobian = evaluate(MomentumTask(), bip, q)
    np.testing.assert_allclose(jacobian @ v, momentum(bip, q, v), rtol=1e-9, atol=1e-9)


def test_contact_rows_are_velocities_of_the_frame(bip: Model) -> None:
    q = bip.random(6)
    error, jacobian = evaluate(ContactTask("left_foot"), bip, q)
    linear = hd.dynamics.jacobian(bip, q, "left_foot")
    angular = hd.dynamics.angular_jacobian(bip, q, "left_foot")
    np.testing.assert_allclose(jacobian, np.vstack([linear, angular]), atol=1e-12)
    np.testing.assert_array_equal(error, 0)


def test_the_jacobian_of_the_center_of_mass_is_the_mean_of_the_bodies(human: Model) -> None:
    q = human.random(7)
    _, jacobian = evaluate(ComTask(np.zeros(3)), human, q)
    np.testing.assert_allclose(jacobian, center_of_mass_jacobian(human, q), atol=1e-12)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 3.0, np.pi - 1e-7, np.pi])
def test_rotation_vectors_are_regular_up_to_half_a_turn(angle: float) -> None:
    axis = np.array([0.48, -0.6, 0.64])
    K = np.cross(np.eye(3), axis)
    R = EYE + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    found = kernel(lambda R: rotation_vector(R), R=(3, 3))(R)
    if angle == np.pi:
        np.testing.assert_allclose(np.abs(found @ axis), np.pi, atol=1e-9)
    else:
        np.testing.assert_allclose(found, angle * axis, atol=1e-7 if angle > 3.1 else 1e-12)


def test_the_look_at_error_is_the_angle_to_the_target(bip: Model) -> None:
    q = bip.neutral()
    place, turn = position(bip, q, "pelvis"), orientation(bip, q, "pelvis")
    target = place + 3.0 * (np.cos(0.4) * turn[:, 0] + np.sin(0.4) * turn[:, 1])
    error, _ = evaluate(LookAtTask("pelvis", target), bip, q)
    np.testing.assert_allclose(error, 0.4 * turn[:, 2], atol=1e-9)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (FrameTask("hand", np.zeros(3), EYE), "FrameTask of hand: .*hand"),
        (FrameTask("pelvis"), "position is not set"),
        (FrameTask("pelvis", np.zeros(3), 2 * EYE), "no rotation matrix"),
        (FrameTask("pelvis", np.zeros(2), EYE), "3 finite numbers"),
        (ComTask(np.array([0, np.nan, 0])), "finite"),
        (ComTask(np.zeros(3), cost=-1.0), "cost is one number from 0 up"),
        (PostureTask(cost={"knee": 1.0}), "no coordinate 'knee'|coordinate 'knee'"),
        (PostureTask(np.zeros(3)), "finite numbers"),
        (JointCouplingTask({}), "factors are needed"),
        (LookAtTask("pelvis", np.zeros(3), (0.0, 0.0, 0.0)), "axis is a direction"),
        (LookAtTask("pelvis"), "target is not set"),
    ],
)
def test_tasks_say_what_is_wrong(bip: Model, task: Task, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        hd.control.solve_ik(bip, bip.neutral(), [task], 0.01)


def test_gains_and_levels_are_checked() -> None:
    with pytest.raises(ModelError, match="gain is a number from 0 to 1"):
        ComTask(np.zeros(3), gain=1.5)
    with pytest.raises(ModelError, match="level"):
        ComTask(np.zeros(3), level=-1)
    with pytest.raises(ModelError, match="damping"):
        ComTask(np.zeros(3), damping=-1.0)


def test_tasks_keep_copies_of_their_targets(bip: Model) -> None:
    target = np.array([0.0, 0.0, 1.0])
    task = ComTask(target)
    target[2] = 5.0
    np.testing.assert_array_equal(task.inputs(bip)["position"], [0, 0, 1])
