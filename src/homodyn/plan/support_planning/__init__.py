"""Support planner: where feet and hands go, and in which order."""

from homodyn.plan.support_planning.plan_supports import SupportPlan, plan_supports
from homodyn.plan.support_planning.support_search_options import SupportSearchOptions

__all__ = ["SupportPlan", "SupportSearchOptions", "plan_supports"]
