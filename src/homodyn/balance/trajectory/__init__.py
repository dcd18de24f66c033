"""Paths of the centre of mass over a sequence of supports."""

from homodyn.balance.trajectory.bspline import Spline
from homodyn.balance.trajectory.check import Check
from homodyn.balance.trajectory.keyframes import KeyFrames
from homodyn.balance.trajectory.measure import Margin, Measure
from homodyn.balance.trajectory.plan import ComPlan, plan_com, wrench_sets
from homodyn.balance.trajectory.timing_free import Weights

__all__ = [
    "Check",
    "ComPlan",
    "KeyFrames",
    "Margin",
    "Measure",
    "Spline",
    "Weights",
    "plan_com",
    "wrench_sets",
]
