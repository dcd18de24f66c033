"""Steps of inverse kinematics: against daqp, Pink, limits, levels and what cannot hold."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.control import (
    AccelerationLimit,
    ComTask,
    ConfigurationLimit,
    ContactTask,
    FrameTask,
    IkStatus,
    InfeasibleProgram,
    Limit,
    MomentumTask,
    PositionTask,
    PostureTask,
    Task,
    TorqueLimit,
    VelocityLimit,
    build_ik,
    solve_ik,
)
from homodyn.control.programs.dense_solver import solve_by_daqp
from homodyn.dynamics import center_of_mass, momentum, orientation, position
from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.model.configuration import clamp, within_limits

DT = 0.01
LIMITS: tuple[Limit, ...] = (ConfigurationLimit(), VelocityLimit(2.0))


@pytest.fixture(scope="module")
def bip() -> Model:
    return hd.catalog.bip()


@pytest.fixture(scope="module")
def poses(bip: Model) -> np.ndarray:
    """Poses within the limits."""
    rng = np.random.default_rng(1)
    steps = 0.2 * rng.normal(size=(20, bip.nv))
    return clamp(bip, np.array([bip.integrate(bip.neutral(), step) for step in steps]))


@pytest.fixture(scope="module")
def tasks(bip: Model, poses: np.ndarray) -> list[Task]:
    target = poses[-1]
    feet: list[Task] = [
        FrameTask(name, position(bip, target, name), orientation(bip, target, name), gain=0.5)
        for name in ("left_foot", "right_foot")
    ]
    return [*feet, ComTask(center_of_mass(bip, target)), PostureTask(cost=0.05)]


def test_velocities_minimize_the_program(bip: Model, poses: np.ndarray, tasks: list[Task]) -> None:
    result = solve_ik(bip, poses, tasks, DT, limits=LIMITS)
    assert result.status is IkStatus.SOLVED
    program = build_ik(bip, poses, tasks, DT, limits=LIMITS)
    for v, solution in zip(result.v, solve_by_daqp(program), strict=True):
        assert solution.solved
        np.testing.assert_allclose(v * DT, solution.x, atol=1e-8)
    assert (result.active != 0).any(), "the test is about active limits"


def test_batches_are_their_states(bip: Model, poses: np.ndarray, tasks: list[Task]) -> None:
    batch = solve_ik(bip, poses.reshape(4, 5, -1), tasks, DT, limits=LIMITS)
    assert batch.v.shape == (4, 5, bip.nv)
    single = solve_ik(bip, poses[7], tasks, DT, limits=LIMITS)
    np.testing.assert_allclose(single.v, batch.v[1, 2], atol=1e-12)


def test_targets_can_be_batches(bip: Model, poses: np.ndarray) -> None:
    targets = center_of_mass(bip, poses)
    tasks = [ComTask(targets), PostureTask()]
    result = solve_ik(bip, bip.neutral(), tasks, DT, limits=())
    one = solve_ik(bip, bip.neutral(), [ComTask(targets[3]), PostureTask()], DT, limits=())
    np.testing.assert_allclose(result.v[3], one.v, atol=1e-10)


def test_steps_converge_to_the_targets(bip: Model, poses: np.ndarray, tasks: list[Task]) -> None:
    q = poses[0]
    soft = [*tasks[:-1], PostureTask(cost=1e-3)]
    for _ in range(60):
        q = np.asarray(bip.integrate(q, solve_ik(bip, q, soft, 0.1).v * 0.1))
    goal: FrameTask = tasks[0]  # type: ignore[assignment]
    np.testing.assert_allclose(position(bip, q, goal.frame), goal.position, atol=2e-3)
    assert within_limits(bip, q, tolerance=1e-9)


def test_velocities_agree_with_pink(bip: Model) -> None:
    """The error of a frame in Pink is a twist: both agree to first order in the error."""
    pin = pytest.importorskip("pinocchio")
    pink = pytest.importorskip("pink")
    pytest.importorskip("daqp")
    from homodyn.bench.pinocchio_tree import pinocchio_tree

    peer = pinocchio_tree(bip)
    peer.lowerPositionLimit, peer.upperPositionLimit = np.array(bip.lower), np.array(bip.upper)
    peer.velocityLimit = np.full(bip.nv, np.inf)
    rng = np.random.default_rng(5)
    q = np.array(clamp(bip, bip.integrate(bip.neutral(), 0.2 * rng.normal(size=bip.nv))))
    differences = []
    for size in (0.02, 0.005):
        target = np.asarray(bip.integrate(q, size * np.sin(np.arange(bip.nv))))
        ours: list[Task] = [PostureTask(q, cost=dict.fromkeys(bip.coordinate_names, 0.1))]
        theirs = [pink.tasks.PostureTask(cost=0.1)]
        theirs[0].set_target(q)
        for name in ("left_foot", "right_foot"):
            place, turn = position(bip, target, name), orientation(bip, target, name)
            ours.append(FrameTask(name, place, turn, gain=0.5))
            frame = pink.tasks.FrameTask(name, position_cost=1.0, orientation_cost=1.0, gain=0.5)
            frame.set_target(pin.SE3(turn, place))
            theirs.append(frame)
        configuration = pink.Configuration(peer, peer.createData(), q)
        expected = pink.solve_ik(
            configuration,
            theirs,
            DT,
            solver="daqp",
            damping=1e-8,
            limits=[pink.limits.ConfigurationLimit(peer)],
        )
        found = solve_ik(bip, q, ours, DT, limits=(ConfigurationLimit(),), damping=1e-8)
        differences.append(np.abs(found.v - expected).max() / np.abs(expected).max())
    assert differences[0] < 0.05
    assert differences[1] < differences[0] / 2


def test_strict_levels_come_first(bip: Model, poses: np.ndarray) -> None:
    q = poses[2]
    foot = position(bip, q, "left_foot") + np.array([0.3, 0.0, 0.1])
    first = PositionTask("left_foot", foot)
    rival = PositionTask("left_foot", foot + np.array([0.0, 1.0, 0.0]), cost=100.0, level=1)
    alone = solve_ik(bip, q, [first], DT, limits=(), damping=1e-8)
    both = solve_ik(bip, q, [first, rival], DT, limits=(), damping=1e-8)
    J = hd.dynamics.jacobian(bip, q, "left_foot")
    np.testing.assert_allclose(J @ both.v, J @ alone.v, atol=1e-4)
    weighted = solve_ik(bip, q, [first, PositionTask("left_foot", rival.position, cost=100.0)], DT)
    assert np.abs(J @ weighted.v - J @ alone.v).max() > 1.0


def test_higher_levels_use_what_is_free(bip: Model, poses: np.ndarray) -> None:
    q = poses[3]
    com = center_of_mass(bip, q) + np.array([0.01, 0.0, -0.01])
    tasks = [ContactTask("left_foot"), ComTask(com, level=1), PostureTask(level=2)]
    v = solve_ik(bip, q, tasks, DT, limits=()).v
    rows = hd.dynamics.jacobian(bip, q, "left_foot")
    np.testing.assert_allclose(rows @ v, 0, atol=1e-6)
    shift = hd.dynamics.center_of_mass_jacobian(bip, q) @ v * DT
    np.testing.assert_allclose(shift, [0.01, 0.0, -0.01], atol=1e-6)
    lazy = solve_ik(bip, q, tasks[:2], DT, limits=()).v
    posture = np.array(bip.neutral() - q)[list(bip.actuated)]
    left = [np.linalg.norm(posture - one[list(bip.actuated)] * DT) for one in (v, lazy)]
    assert left[0] < 0.9 * left[1], "the posture uses what the others leave free"


def test_rates_are_reached_within_a_step(bip: Model, poses: np.ndarray) -> None:
    target = np.array([0.3, -0.2, 0.1])
    task = MomentumTask(target, linear_cost=1.0)
    v = solve_ik(bip, poses[4], [task, PostureTask(cost=1e-4)], DT, limits=()).v
    np.testing.assert_allclose(momentum(bip, poses[4], v), [*target, 0, 0, 0], atol=1e-3)


@pytest.mark.parametrize("speed", [0.5, 3.0])
def test_coordinates_outside_their_range_return_at_the_velocity_limit(
    bip: Model, speed: float
) -> None:
    """A configuration outside its limits must not make the program infeasible."""
    q = bip.neutral()
    k = bip.actuated[3]
    place = bip.position_index[k]
    q[place] = bip.upper[k] + 0.4
    limits = (ConfigurationLimit(), VelocityLimit(speed))
    steps = 0
    while q[place] > bip.upper[k] + 1e-6 and steps < 400:
        result = solve_ik(bip, q, [PostureTask(q)], DT, limits=limits)
        assert result.status.success
        assert np.abs(result.v[list(bip.actuated)]).max() <= speed + 1e-9
        if steps == 0:
            assert result.v[k] == pytest.approx(-speed)
            assert bip.coordinate_names[k] in result.at_limit
        q = np.asarray(bip.integrate(q, result.v * DT))
        steps += 1
    assert steps >= 0.4 / (speed * DT)
    assert q[place] <= bip.upper[k] + 1e-6


def test_accelerations_are_limited_and_leave_room_to_brake(bip: Model) -> None:
    q, v = bip.neutral(), np.zeros(bip.nv)
    k = bip.actuated[3]
    place = bip.position_index[k]
    name, most = bip.coordinate_names[k], 4.0
    target = q.copy()
    target[place] = bip.upper[k] + 2.0
    for _ in range(400):
        limits = (ConfigurationLimit(gain=1.0), AccelerationLimit({name: most}, v))
        new = solve_ik(bip, q, [PostureTask(target, cost={name: 1.0})], DT, limits=limits).v
        assert abs(new[k] - v[k]) <= most * DT + 1e-9
        q, v = np.asarray(bip.integrate(q, new * DT)), new
        assert q[place] <= bip.upper[k] + 1e-9
    assert q[place] == pytest.approx(bip.upper[k], abs=1e-2)


def test_strict_tasks_that_contradict_limits_are_named(bip: Model) -> None:
    """Levels below are kept exactly, so a limit that moves away from them cannot hold."""

    class Push(VelocityLimit):
        """Demands a motion that the level below forbids."""

        precedence = 5

        def rows(self, point, inputs, dt):  # type: ignore[no-untyped-def]
            import casadi as ca

            from homodyn.control import LimitRows

            J = point.jacobians("left_foot")[1]
            return LimitRows(jacobian=J, lower=0.1 * ca.SX.ones(3), upper=ca.SX.ones(3))

    tasks = [
        PositionTask("left_foot", position(bip, bip.neutral(), "left_foot")),
        PostureTask(level=1),
    ]
    limits = (Push(), VelocityLimit(0.01))
    with pytest.raises(InfeasibleProgram, match="cannot hold together") as caught:
        solve_ik(bip, bip.neutral(), tasks, DT, limits=(*limits, VelocityLimit(np.full(21, 0.01))))
    assert set(caught.value.conflict) == {"Push", "the bounds of coordinates"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tasks": []}, "at least one task"),
        ({"dt": 0.0}, "dt and damping"),
        ({"damping": 0.0}, "dt and damping"),
        ({"q": np.zeros(3)}, "has 21 entries"),
        ({"limits": (VelocityLimit({"nose": 1.0}),)}, "nose"),
        ({"limits": (VelocityLimit(-1.0),)}, "from 0 up"),
        ({"limits": (TorqueLimit(1.0),)}, "limit of WholeBodyController"),
    ],
)
def test_wrong_arguments_are_refused(bip: Model, change: dict, message: str) -> None:
    arguments = {"q": bip.neutral(), "tasks": [PostureTask()], "dt": DT, **change}
    q, tasks, dt = (arguments.pop(name) for name in ("q", "tasks", "dt"))
    with pytest.raises(ModelError, match=message):
        solve_ik(bip, q, tasks, dt, **arguments)


def test_positions_that_are_not_finite_are_refused(bip: Model) -> None:
    q = bip.neutral()
    q[bip.position_index[bip.actuated[0]]] = np.nan  # type: ignore[index]
    with pytest.raises(ModelError, match="not finite"):
        solve_ik(bip, q, [PostureTask()], DT)


def test_levels_have_no_single_program(bip: Model) -> None:
    with pytest.raises(ModelError, match="several programs"):
        build_ik(bip, bip.neutral(), [PostureTask(), ComTask(np.zeros(3), level=1)], DT)
