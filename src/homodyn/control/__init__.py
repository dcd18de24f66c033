"""Control: tasks, limits, inverse kinematics, postures, whole-body control and observers."""

from homodyn.control.devices.motors import GearedMotors, MotorState, SampledMotors
from homodyn.control.devices.sensors import InertialSensor, JointEncoders, SupportForceSensors
from homodyn.control.ik_step import IkResult, IkStatus, InfeasibleProgram
from homodyn.control.kinematic_point import KinematicPoint
from homodyn.control.limits import (
    AccelerationLimit,
    CollisionLimit,
    ConfigurationLimit,
    Limit,
    LimitRows,
    TorqueLimit,
    VelocityLimit,
)
from homodyn.control.observers.inertial_estimator import (
    InertialEstimate,
    InertialEstimator,
    InertialNoise,
)
from homodyn.control.observers.support_observer import RootEstimate, SupportObserver
from homodyn.control.posture_result import PostureResult, PostureStatus
from homodyn.control.programs.quadratic_program import QuadraticProgram, RowKind
from homodyn.control.solve_ik import build_ik, compile_ik, solve_ik
from homodyn.control.solve_posture import PostureOptions, solve_posture
from homodyn.control.task_function import InverseResult, InverseStatus, TaskFunction
from homodyn.control.tasks import (
    ComTask,
    ContactTask,
    FrameTask,
    FunctionTask,
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
from homodyn.control.trajectory_file import (
    ContactCode,
    TrajectoryPoints,
    read_trajectory,
    write_trajectory,
)
from homodyn.control.whole_body.body_contact import BodyContact
from homodyn.control.whole_body.tracking_task import TrackingTask
from homodyn.control.whole_body.whole_body_controller import WholeBodyController
from homodyn.control.whole_body.whole_body_solution import WholeBodySolution, WholeBodyStatus

__all__ = [
    "AccelerationLimit",
    "BodyContact",
    "CollisionLimit",
    "ComTask",
    "ConfigurationLimit",
    "ContactCode",
    "ContactTask",
    "FrameTask",
    "FunctionTask",
    "GearedMotors",
    "IkResult",
    "IkStatus",
    "InertialEstimate",
    "InertialEstimator",
    "InertialNoise",
    "InertialSensor",
    "InfeasibleProgram",
    "InverseResult",
    "InverseStatus",
    "JointCouplingTask",
    "JointEncoders",
    "KinematicPoint",
    "Limit",
    "LimitRows",
    "LookAtTask",
    "MomentumTask",
    "MotorState",
    "OrientationTask",
    "PositionTask",
    "PostureOptions",
    "PostureResult",
    "PostureStatus",
    "PostureTask",
    "QuadraticProgram",
    "RelativeFrameTask",
    "RootEstimate",
    "RowKind",
    "SampledMotors",
    "SupportForceSensors",
    "SupportObserver",
    "Task",
    "TaskFunction",
    "TaskRows",
    "TorqueLimit",
    "TrackingTask",
    "TrajectoryPoints",
    "VelocityLimit",
    "WholeBodyController",
    "WholeBodySolution",
    "WholeBodyStatus",
    "build_ik",
    "compile_ik",
    "read_trajectory",
    "solve_ik",
    "solve_posture",
    "write_trajectory",
]
