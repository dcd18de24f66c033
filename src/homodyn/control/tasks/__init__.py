"""Tasks: one class a file, each an error with a Jacobian, a cost, a gain and a level."""

from homodyn.control.tasks.com_task import ComTask
from homodyn.control.tasks.contact_task import ContactTask
from homodyn.control.tasks.frame_task import FrameTask
from homodyn.control.tasks.function_task import FunctionTask
from homodyn.control.tasks.joint_coupling_task import JointCouplingTask
from homodyn.control.tasks.look_at_task import LookAtTask
from homodyn.control.tasks.momentum_task import MomentumTask
from homodyn.control.tasks.orientation_task import OrientationTask
from homodyn.control.tasks.position_task import PositionTask
from homodyn.control.tasks.posture_task import PostureTask
from homodyn.control.tasks.relative_frame_task import RelativeFrameTask
from homodyn.control.tasks.task import Task, TaskRows

__all__ = [
    "ComTask",
    "ContactTask",
    "FrameTask",
    "FunctionTask",
    "JointCouplingTask",
    "LookAtTask",
    "MomentumTask",
    "OrientationTask",
    "PositionTask",
    "PostureTask",
    "RelativeFrameTask",
    "Task",
    "TaskRows",
]
