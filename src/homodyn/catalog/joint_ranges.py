"""Ranges of motion of healthy adults, for bodies whose own source has none."""

from __future__ import annotations

from math import radians

from homodyn.catalog.data_tables import table_document

LIMITS = "AAOS 1965; sternoclavicular: Neumann 2010"
"""Where the ranges come from, in a few words; the table tells it in full."""


def motion_range(movement: str) -> tuple[float, float]:
    """Least and most (rad) of a movement of ``range_of_motion.toml``, such as ``"hip.flexion"``.

    With a minus in front it is the range of a coordinate that counts the movement backwards.
    """
    joint, _, what = movement.removeprefix("-").partition(".")
    least, most = (radians(angle) for angle in table_document("range_of_motion")[joint][what])
    return (-most, -least) if movement.startswith("-") else (least, most)


def motion_ranges(*movements: str) -> dict[str, tuple[float, ...]]:
    """The ranges of several movements, as the ``lower`` and ``upper`` that a joint takes."""
    lower, upper = zip(*(motion_range(movement) for movement in movements), strict=True)
    return {"lower": lower, "upper": upper}
