"""One step of Bip by task-function control, with its observer and sampled motors."""

from homodyn.control.robot_step.bip_task import bip_task
from homodyn.control.robot_step.one_step import RobotStepOptions, simulate_step, step_trajectory
from homodyn.control.robot_step.step_result import RobotStepResult, RobotStepStatus

__all__ = [
    "RobotStepOptions",
    "RobotStepResult",
    "RobotStepStatus",
    "bip_task",
    "simulate_step",
    "step_trajectory",
]
