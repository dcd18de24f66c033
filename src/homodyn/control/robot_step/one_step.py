"""BipOneStep: one step of Bip by task-function control, with its observer in the loop.

The application of HuMAnS (INRIA 2006) of which the document leaves the control law, the trajectory
and the motors out. What completes it is stated in `ASSUMPTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homodyn.catalog import bip
from homodyn.control.devices.motors import GearedMotors, SampledMotors
from homodyn.control.devices.sensors import JointEncoders, SupportForceSensors
from homodyn.control.limits import ConfigurationLimit
from homodyn.control.observers.support_observer import (
    DEFAULT_THRESHOLD_N,
    SupportChoice,
    SupportObserver,
    VelocityRule,
)
from homodyn.control.robot_step.bip_task import bip_task
from homodyn.control.robot_step.step_result import RobotStepRecorder, RobotStepResult
from homodyn.control.solve_posture import solve_posture
from homodyn.control.task_function import TaskFunction
from homodyn.control.tasks import ComTask, FrameTask, FunctionTask, OrientationTask, PostureTask
from homodyn.control.trajectory_file import ContactCode, TrajectoryPoints
from homodyn.control.whole_body.body_contact import BodyContact
from homodyn.control.whole_body.tracking_task import TrackingTask
from homodyn.control.whole_body.whole_body_controller import WholeBodyController
from homodyn.dynamics import center_of_mass, position
from homodyn.errors import ModelError, NoSolution
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.simulate.rigid import TimeStepping
from homodyn.simulate.simulation import start

SUPPORTS = ("right", "left")
FOOT_CORNERS = ("front_right", "front_left", "rear_right", "rear_left")
HOOKS = ("hook_back_right", "hook_back_left", "hook_front_left")
SIMULATION_STEP_S = 1e-3
MIN_DURATION_S = 0.02
CONTACT_RAMP_S = 0.05
"""Time in which a foot is loaded and unloaded."""
CONTROL_FRICTION = 0.6
"""Friction that the controller reckons with; that of the ground is larger."""
GROUND_FRICTION = 0.8
BENT_BY_M = 0.03
"""How much lower than upright the center of mass is: upright knees make the task singular."""
COM_AHEAD_M = 0.02
"""Center of mass before the ankle of the foot that stands."""
TASK_COST = 100.0
STIFFNESS, DAMPING = 100.0, 30.0
"""1/s2 and 1/s: gains of the task function in INRIA's later code."""
MOTOR_RATIO, MOTOR_CONSTANT, MOTOR_RESISTANCE, MOTOR_VOLTAGE = 80.0, 0.03, 0.5, 60.0
"""Gear ratio, N m/A, ohm and V of all motors."""
ASSUMPTIONS = (
    "The document prints the task function and leaves the control law out. Accelerations are those "
    "of INRIA's later code, acceleration + 100 error + 30 (rate of the reference - rate), found "
    "with torques and foot forces in one quadratic program with friction pyramids.",
    "OneStep.traj3 is lost. The step is 0.14 m long and 0.05 m high: the weight moves to the left "
    "foot, the right foot steps, the weight moves to the middle.",
    "Motors are surrogates: gear ratio 80, 0.03 N m/A, 0.5 ohm, 60 V for all joints.",
    "Contacts are rigid with friction 0.8 and inelastic impacts, by time stepping of 1 ms.",
    "At the first call the observer knows the pose of the robot, as the robot that hangs in its "
    "suspension does.",
)


@record(eq=True)
class RobotStepOptions(Record):
    """The step, its control and its sensors.

    Raises:
        ModelError: A number is out of its range.
    """

    length: float = 0.14
    """m."""
    height: float = 0.05
    """m: of the foot in the middle of the swing."""
    phase: float = 1.0
    """s: duration of each of the three phases."""
    period: float = 0.005
    """s: between calls of the control law, a multiple of 1 ms."""
    delay: float = 0.002
    """s: from a call until its voltages act, a multiple of 1 ms."""
    threshold: float = DEFAULT_THRESHOLD_N
    """N: force from which a foot counts as loaded."""
    encoder_resolution: float = 5e-6
    """rad."""
    force_noise: float = 2.0
    """N: standard deviation of the force sensors."""
    seed: int = 0
    """Of the noise."""
    observer: bool = True
    """Whether the control law has the pose of the observer; otherwise it has the true one."""

    def __post_init__(self) -> None:
        if not (0 < self.length <= 0.2 and 0 < self.height <= 0.08):
            raise ModelError(
                "a step of Bip is up to 0.2 m long and 0.08 m high, above 0, got "
                f"{self.length!r} and {self.height!r}"
            )
        if not 0.5 <= self.phase <= 10:
            raise ModelError(f"a phase takes 0.5 to 10 s, got {self.phase!r}")
        for name in ("period", "delay"):
            steps = getattr(self, name) / SIMULATION_STEP_S
            if abs(steps - round(steps)) > 1e-6:
                raise ModelError(f"{name} is a multiple of 1 ms, got {getattr(self, name)!r} s")
        if not (self.threshold >= 0 and self.force_noise >= 0 and self.encoder_resolution >= 0):
            raise ModelError("threshold, force_noise and encoder_resolution are numbers from 0 up")


def step_poses(model: Model, options: RobotStepOptions) -> list[np.ndarray]:
    """Poses of the step: both feet, over the left one, in the swing, landed, in the middle.

    Args:
        model: Bip.
        options: Length and height.

    Returns:
        Five poses (nq,).

    Raises:
        NoSolution: A pose is out of reach.
    """
    q = model.neutral()
    right, left = (position(model, q, f"{side}_foot") for side in SUPPORTS)
    height = center_of_mass(model, q)[2] - BENT_BY_M
    over_left = np.array([left[0] + COM_AHEAD_M, left[1], height])
    ahead = right + np.array([options.length, 0.0, 0.0])
    swing = right + np.array([options.length / 2, 0.0, options.height])
    between = np.array([COM_AHEAD_M, 0.0, height])
    places = (
        (right, between),
        (right, over_left),
        (swing, over_left),
        (ahead, over_left),
        (ahead, between + np.array([options.length / 2, 0.0, 0.0])),
    )
    poses: list[np.ndarray] = []
    for foot, com in places:
        tasks = [
            FrameTask("right_foot", foot, np.eye(3)),
            FrameTask("left_foot", left, np.eye(3)),
            OrientationTask("cabinet", np.eye(3)),
            OrientationTask("pelvis", np.eye(3)),
            # The height of the center of mass is a wish: ankles limit how low it can be.
            ComTask(com, cost=(1.0, 1.0, 0.0)),
            ComTask(com, cost=(0.0, 0.0, 1e-2), level=1),
            PostureTask(cost=1e-3),
        ]
        found = solve_posture(model, tasks, poses[-1] if poses else q)
        if not found.solved:
            raise NoSolution(f"a pose of the step is out of reach: {found.sentence}")
        poses.append(np.array(found.q))
    return poses


def step_trajectory(model: Model, options: RobotStepOptions) -> TrajectoryPoints:
    """The step in the values of the task function, as ``OneStep.traj3`` stores it.

    Args:
        model: Bip.
        options: Length, height and duration.

    Returns:
        Four stable and three intermediate positions.

    Raises:
        NoSolution: A pose is out of reach.
    """
    both, over_left, swing, landed, end = TaskFunction(model, bip_task).value(
        np.array(step_poses(model, options))
    )
    points = [both, (both + over_left) / 2, over_left, swing, landed, (landed + end) / 2, end]
    times = 0.1 + options.phase * np.arange(4)
    contacts = (ContactCode.DOUBLE, ContactCode.LEFT, ContactCode.DOUBLE)
    return TrajectoryPoints(np.array(points), times, contacts)


def foot_contacts(trajectory: TrajectoryPoints) -> list[BodyContact]:
    """Contacts of both feet with the schedule of the contact codes.

    Args:
        trajectory: The step.

    Returns:
        The right foot, then the left foot.
    """
    acting = {
        "right": (ContactCode.RIGHT, ContactCode.DOUBLE),
        "left": (ContactCode.LEFT, ContactCode.DOUBLE),
    }
    contacts = []
    for side in SUPPORTS:
        schedule: list[tuple[float, float]] = []
        for k, code in enumerate(trajectory.contacts):
            if code not in acting[side]:
                continue
            first = -np.inf if k == 0 else float(trajectory.times[k])
            last = k == len(trajectory.contacts) - 1
            end = np.inf if last else float(trajectory.times[k + 1])
            if schedule and schedule[-1][1] == first:
                schedule[-1] = (schedule[-1][0], end)
            else:
                schedule.append((first, end))
        contacts.append(
            BodyContact(
                f"{side}_foot",
                tuple(f"{side}_{corner}" for corner in FOOT_CORNERS),
                friction=CONTROL_FRICTION,
                schedule=tuple(schedule),
                ramp=CONTACT_RAMP_S,
            )
        )
    return contacts


def surrogate_motors(count: int) -> GearedMotors:
    """Motors of all joints, as `ASSUMPTIONS` states.

    Args:
        count: Number of motors.

    Returns:
        The motors.
    """
    return GearedMotors(
        np.full(count, MOTOR_RATIO),
        np.full(count, MOTOR_CONSTANT),
        np.full(count, MOTOR_RESISTANCE),
        np.full(count, MOTOR_VOLTAGE),
    )


def simulate_step(
    options: RobotStepOptions | None = None,
    *,
    trajectory: TrajectoryPoints | None = None,
    duration: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> RobotStepResult:
    """Simulate one step of Bip.

    Args:
        options: The step, its control and its sensors.
        trajectory: Values of the task function over time; None: that of the options. The robot
            starts in the pose of its first position.
        duration: s; None: until half a second after the end of the trajectory.
        progress: Called with the share that is done.

    Returns:
        The movement with the estimates, forces and voltages.

    Raises:
        NoSolution: A pose of the step is out of reach.
        ModelError: The trajectory has another number of values, or the duration is too short.
    """
    if duration is not None and not duration >= MIN_DURATION_S:
        raise ModelError(f"duration is from {MIN_DURATION_S:g} s up, got {duration!r}")
    options = options or RobotStepOptions()
    model = bip()
    function = TaskFunction(model, bip_task)
    trajectory = step_trajectory(model, options) if trajectory is None else trajectory
    if trajectory.positions.shape[1] != model.nv:
        raise ModelError(
            f"positions of the trajectory are {model.nv} values of the task function, got "
            f"{trajectory.positions.shape[1]}"
        )
    first = function.inverse(trajectory.positions[0], step_poses(model, options)[0], 1e-9)
    if first.error > 1e-6:
        raise NoSolution(
            f"no pose of Bip has the first position of the trajectory: {first.error:.3g} remains"
        )
    loop = _ControlLoop(model, options, trajectory, function, first.q)
    end = float(trajectory.times[-1]) + 0.5 if duration is None else duration
    return loop.run(end, progress)


class _ControlLoop:
    """The robot, its sensors, its control law and its motors."""

    def __init__(
        self,
        model: Model,
        options: RobotStepOptions,
        trajectory: TrajectoryPoints,
        function: TaskFunction,
        q: np.ndarray,
    ) -> None:
        self.model, self.options, self.trajectory = model, options, trajectory
        self.function = function
        self.rng = np.random.default_rng(options.seed)
        self.encoders = JointEncoders(resolution=options.encoder_resolution)
        feet = {s: [f"{s}_{corner}_contact" for corner in FOOT_CORNERS] for s in SUPPORTS}
        self.scales = SupportForceSensors(feet, noise=options.force_noise)
        self.observer = SupportObserver(
            model,
            {side: [f"{side}_{corner}" for corner in FOOT_CORNERS] for side in SUPPORTS},
            HOOKS,
            start=q,
            threshold=options.threshold,
            velocity=VelocityRule.SUPPORT,
            choice=SupportChoice.CURRENT,
        )
        self.controller = WholeBodyController(
            model,
            self._references,
            foot_contacts(trajectory),
            limits=(ConfigurationLimit(),),
            period=options.period,
        )
        self.driven = list(model.actuated)
        self.motors = surrogate_motors(len(self.driven))
        self.simulation = start(
            model, q, dt=SIMULATION_STEP_S, contact=TimeStepping(friction=GROUND_FRICTION)
        )
        self.contact_names = tuple(shape.name for shape in model.contacts)
        self.record = RobotStepRecorder(model, self.contact_names)

    def _references(self, t: float) -> list[TrackingTask]:
        value, rate, acceleration = self.trajectory.interpolate(t)
        return [
            TrackingTask(
                FunctionTask(bip_task, value, cost=TASK_COST),
                stiffness=STIFFNESS,
                damping=DAMPING,
                velocity=rate,
                acceleration=acceleration,
            )
        ]

    def law(self, t: float) -> np.ndarray:
        """Voltages from what the sensors have."""
        q, v = np.array(self.simulation.q), np.array(self.simulation.v)
        forces = self.scales.measure(
            self.contact_names, self.simulation.quantities["forces"], self.rng
        )
        joints = self.encoders.measure(self.model, q, self.rng)
        estimate = self.observer.update(joints, forces, self.options.period)
        self.record.add_call(t, q, estimate, forces, self.function.value(q))
        if self.options.observer:
            q, v = np.array(estimate.q), np.array(estimate.v)
        found = self.controller.solve(t, q, v)
        return self.motors.voltage(found.tau[self.driven], v[self.driven])

    def run(self, end: float, progress: Callable[[float], None] | None) -> RobotStepResult:
        """Advance to the end, or to a fall."""
        simulation, options = self.simulation, self.options
        motors = SampledMotors(self.law, options.period, options.delay, simulation.q)
        count = round(end / SIMULATION_STEP_S)
        for k in range(count):
            t = k * SIMULATION_STEP_S
            voltage = motors.advance(t)
            torque = np.zeros(self.model.nv)
            torque[self.driven] = self.motors.torque(voltage, simulation.v[self.driven])
            simulation.step(torque)
            self.record.add_step(simulation, torque, voltage)
            if progress is not None and k % 100 == 0:
                progress(k / count)
            if not simulation.running.all() or self.record.has_fallen:
                break
        return self.record.result(
            self.trajectory, motors.state, tuple(self.controller.relaxed_times), ASSUMPTIONS
        )
