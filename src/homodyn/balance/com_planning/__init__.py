"""Planning of the center of mass over a sequence of supports."""

from homodyn.balance.com_planning.com_plan import ComPlan
from homodyn.balance.com_planning.keyframes import KeyFrames
from homodyn.balance.com_planning.margin_objective import MarginKind, MarginObjective
from homodyn.balance.com_planning.plan import plan_com, wrench_sets
from homodyn.balance.com_planning.plan_check import PlanCheck
from homodyn.balance.com_planning.plan_options import PlanOptions, PlanWeights
from homodyn.motion.bspline import ComSpline
from homodyn.motion.scene import ComPlanRequest, HeightRamp

__all__ = [
    "ComPlan",
    "ComPlanRequest",
    "ComSpline",
    "HeightRamp",
    "KeyFrames",
    "MarginKind",
    "MarginObjective",
    "PlanCheck",
    "PlanOptions",
    "PlanWeights",
    "plan_com",
    "wrench_sets",
]
