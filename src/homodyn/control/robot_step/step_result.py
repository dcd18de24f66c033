"""The record of a step of a robot: its movement, the estimates of its observer, and its motors."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

import numpy as np

from homodyn.control.devices.motors import MotorState
from homodyn.control.observers.support_observer import RootEstimate
from homodyn.control.trajectory_file import TrajectoryPoints
from homodyn.dynamics import center_of_mass, position
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.motion import ContactForce, Motion, MotionSource, motion_from_states
from homodyn.simulate.simulation import Simulation

FALL_SHARE = 0.7
"""Share of the initial height of the center of mass below which the robot has fallen."""
CHECK_INTERVAL = 20
"""Steps between checks for a fall."""


class RobotStepStatus(StrEnum):
    """How a step ended."""

    STANDING = "standing"
    """The robot stands at the end of the trajectory."""
    FELL = "fell"
    """The center of mass fell below 70 % of its height."""
    FAILED = "failed"
    """The simulation could not be continued."""

    @property
    def success(self) -> bool:
        """Whether the robot stands."""
        return self is RobotStepStatus.STANDING


@record
class RobotStepResult(Record):
    """One step of a robot."""

    motion: Motion
    """The movement with torques and foot forces, at the steps of the simulation."""
    status: RobotStepStatus
    trajectory: TrajectoryPoints
    """The reference, in values of the task function."""
    call_times: np.ndarray
    """(calls,), s: when the control law was called."""
    values: np.ndarray
    """(calls, values): the task function at the true pose."""
    estimates: np.ndarray
    """(calls, nq): poses of the observer."""
    true_poses: np.ndarray
    """(calls, nq)."""
    observer_error: np.ndarray
    """(calls,), m: the error that the observer states."""
    supports: tuple[str, ...]
    """Support that the observer used, by call."""
    foot_forces: np.ndarray
    """(calls, 2), N: measured, right and left."""
    voltages: np.ndarray
    """(frames, motors), V: acting from the time of the previous frame on."""
    motor_state: MotorState
    """At the end."""
    relaxed_times: tuple[float, ...]
    """Times (s) at which the controller could not keep the contacts."""
    assumptions: tuple[str, ...]

    @property
    def tracking_error(self) -> np.ndarray:
        """(calls, values): reference less the true values of the task function."""
        return np.asarray(self.trajectory.interpolate(self.call_times)[0] - self.values)

    @property
    def root_error(self) -> np.ndarray:
        """(calls,), m: distance of the pelvis in the estimate from the true one."""
        model = self.motion.model
        gap = position(model, self.estimates, "pelvis") - position(model, self.true_poses, "pelvis")
        return np.asarray(np.linalg.norm(gap, axis=-1))

    @property
    def measures(self) -> dict[str, float]:
        """Lengths, errors and largest values (SI units)."""
        model, q = self.motion.model, self.motion.q
        right = position(model, q[[0, -1]], "right_foot")
        left = position(model, q[[0, -1]], "left_foot")
        com = center_of_mass(model, q[[0, -1]])
        return {
            "step_length_m": float(right[1, 0] - right[0, 0]),
            "swing_height_m": float(np.ptp(position(model, q, "right_foot")[:, 2])),
            "standing_foot_slip_m": float(np.linalg.norm(left[1] - left[0])),
            "center_of_mass_advance_m": float(com[1, 0] - com[0, 0]),
            "task_error_rms": float(np.sqrt(np.mean(self.tracking_error**2))),
            "task_error_max": float(np.abs(self.tracking_error).max()),
            "observer_error_max_m": float(self.root_error.max()),
            "torque_max_n_m": float(np.abs(self.motion.tau).max()),
            "voltage_max_v": float(np.abs(self.voltages).max()),
            "relaxed_calls": float(len(self.relaxed_times)),
        }

    @property
    def sentence(self) -> str:
        """The outcome in one sentence."""
        found = self.measures
        if self.status is not RobotStepStatus.STANDING:
            what = (
                "fell" if self.status is RobotStepStatus.FELL else "could not be simulated further"
            )
            return f"The robot {what} at {self.motion.time[-1]:.2f} s."
        length = abs(100 * found["step_length_m"])
        return (
            f"The robot stepped {length:.1f} cm and stands; its observer was "
            f"at most {1000 * found['observer_error_max_m']:.2g} mm from the true pose, and the "
            f"standing foot slipped {1000 * found['standing_foot_slip_m']:.2g} mm."
        )

    def headline(self) -> str:
        """The outcome in one sentence."""
        return f"RobotStepResult: {self.sentence}"


class RobotStepRecorder:
    """Collects the record of a step.

    Args:
        model: The robot.
        contact_names: Names of its contacts.
    """

    def __init__(self, model: Model, contact_names: tuple[str, ...]) -> None:
        self._model, self._names = model, contact_names
        self._frames: list[tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
        self._voltages: list[np.ndarray] = []
        self._calls: list[tuple[float, np.ndarray, RootEstimate, list[float], np.ndarray]] = []
        self._height = 0.0
        self._running = True

    def add_call(
        self,
        t: float,
        q: np.ndarray,
        estimate: RootEstimate,
        forces: dict[str, float],
        values: np.ndarray,
    ) -> None:
        """Add a call of the control law."""
        self._calls.append((t, q, estimate, [forces["right"], forces["left"]], values))

    def add_step(self, simulation: Simulation, torque: np.ndarray, voltage: np.ndarray) -> None:
        """Add a step of the simulation."""
        q, v = np.array(simulation.q), np.array(simulation.v)
        forces = np.array(simulation.quantities["forces"])
        self._frames.append((float(simulation.time), q, v, torque, forces))
        self._voltages.append(voltage)
        self._running = bool(simulation.running.all())
        if len(self._frames) == 1:
            self._height = float(center_of_mass(self._model, q)[2])

    @property
    def has_fallen(self) -> bool:
        """Whether the center of mass is too low."""
        if len(self._frames) % CHECK_INTERVAL:
            return False
        height = float(center_of_mass(self._model, self._frames[-1][1])[2])
        return not height > FALL_SHARE * self._height

    def result(
        self,
        trajectory: TrajectoryPoints,
        motor_state: MotorState,
        relaxed_times: tuple[float, ...],
        assumptions: tuple[str, ...],
    ) -> RobotStepResult:
        """The whole record."""
        columns = [np.array(column) for column in zip(*self._frames, strict=True)]
        time, q, v, torque, forces = columns
        height = float(center_of_mass(self._model, q[-1])[2])
        status = (
            RobotStepStatus.STANDING if height > FALL_SHARE * self._height else RobotStepStatus.FELL
        )
        if not self._running:
            status = RobotStepStatus.FAILED
        motion = motion_from_states(
            self._model,
            time,
            q,
            v,
            tau=torque,
            method="task-function control with an observer in simulation",
            source=MotionSource.SIMULATED,
        )
        motion = replace(motion, contact_forces=self._foot_forces(q, forces))
        calls = self._calls
        return RobotStepResult(
            motion=motion,
            status=status,
            trajectory=trajectory,
            call_times=np.array([call[0] for call in calls]),
            values=np.array([call[4] for call in calls]),
            estimates=np.array([call[2].q for call in calls]),
            true_poses=np.array([call[1] for call in calls]),
            observer_error=np.array([call[2].error for call in calls]),
            supports=tuple(call[2].support for call in calls),
            foot_forces=np.array([call[3] for call in calls]),
            voltages=np.array(self._voltages),
            motor_state=motor_state,
            relaxed_times=relaxed_times,
            assumptions=assumptions,
        )

    def _foot_forces(self, q: np.ndarray, forces: np.ndarray) -> tuple[ContactForce, ...]:
        found = []
        for side in ("right", "left"):
            own = [k for k, name in enumerate(self._names) if name.startswith(f"{side}_")]
            points = np.stack([position(self._model, q, self._names[k]) for k in own], axis=1)
            up = np.array([0.0, 0.0, 1.0])
            found.append(ContactForce.from_points(f"{side}_foot", forces[:, own], points, up))
        return tuple(found)
