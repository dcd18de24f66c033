"""Execution of plans: a motion plan tracked in simulation by whole-body control."""

from homodyn.plan.execution.execute import execute
from homodyn.plan.execution.execution_options import ExecutionOptions, TrackingWeights
from homodyn.plan.execution.plan_execution import (
    ExecutionStatus,
    PlanExecution,
    SupportHold,
)
from homodyn.plan.execution.support_inclusion import robust_scene

__all__ = [
    "ExecutionOptions",
    "ExecutionStatus",
    "PlanExecution",
    "SupportHold",
    "TrackingWeights",
    "execute",
    "robust_scene",
]
