"""Paths of the centre of mass over a sequence of supports."""

from homodyn.balance.com_planning.bspline import ComSpline
from homodyn.balance.com_planning.keyframes import KeyFrames
from homodyn.balance.com_planning.margin_objective import MarginKind, MarginObjective
from homodyn.balance.com_planning.plan import ComPlan, plan_com, wrench_sets
from homodyn.balance.com_planning.plan_check import PlanCheck
from homodyn.balance.com_planning.timing_problem import PlanWeights

__all__ = [
    "ComPlan",
    "ComSpline",
    "KeyFrames",
    "MarginKind",
    "MarginObjective",
    "PlanCheck",
    "PlanWeights",
    "plan_com",
    "wrench_sets",
]
