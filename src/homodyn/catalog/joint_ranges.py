"""Ranges of motion of healthy adults, for bodies whose own source has none."""

from __future__ import annotations

from math import radians

from homodyn.catalog.data_tables import table_document

LIMITS = "AAOS 1965; sternoclavicular: Neumann 2010"
"""Short source of the ranges; the table has the details."""


def motion_range(movement: str) -> tuple[float, float]:
    """Lower and upper limit (rad) of a movement of ``range_of_motion.toml``.

    Args:
        movement: Such as ``"hip.flexion"``; with a minus for a coordinate of the opposite sign.

    Returns:
        Lower and upper limit.
    """
    joint, _, what = movement.removeprefix("-").partition(".")
    lower, upper = (radians(angle) for angle in table_document("range_of_motion")[joint][what])
    return (-upper, -lower) if movement.startswith("-") else (lower, upper)


def motion_ranges(*movements: str) -> dict[str, tuple[float, ...]]:
    """The ranges (rad) of several movements, as ``lower`` and ``upper`` of a joint."""
    lower, upper = zip(*(motion_range(movement) for movement in movements), strict=True)
    return {"lower": lower, "upper": upper}
