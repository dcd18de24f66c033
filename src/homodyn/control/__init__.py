"""Control: tasks, limits, inverse kinematics, postures, whole-body control and observers."""

from homodyn.control.limits import AccelerationLimit, ConfigurationLimit, Limit, VelocityLimit
from homodyn.control.programs.quadratic_program import QuadraticProgram, RowKind
from homodyn.control.ik_step import IkResult, IkStatus, InfeasibleProgram
from homodyn.control.posture_result import PostureResult, PostureStatus
from homodyn.control.solve_ik import build_ik, compile_ik, solve_ik
from homodyn.control.solve_posture import PostureOptions, solve_posture
from homodyn.control.tasks import (
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
    TaskRows,
)
