"""How tangent points are placed on a surface."""

from __future__ import annotations

from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name

OPENSIM = "opensim"
"""Tangent points as in OpenSim, some of which are approximations of the geodesic."""
GEODESIC = "geodesic"
"""Tangent points of the shortest path."""
TANGENT_RULES = (OPENSIM, GEODESIC)


def check_tangent_rule(rule: str) -> None:
    """Refuse an unknown rule.

    Args:
        rule: Name of the rule.

    Raises:
        ModelError: There is no such rule.
    """
    if rule not in TANGENT_RULES:
        raise ModelError(unknown_name("wrapping", rule, TANGENT_RULES))
