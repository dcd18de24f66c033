"""Options of the support planner."""

from __future__ import annotations

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record


@record(eq=True)
class SupportSearchOptions(Record):
    """Steps that are tried, their costs, and the effort of the search.

    Raises:
        ModelError: A number is not positive.
    """

    forward: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6)
    """m: places of a foot ahead of the other one."""
    sideways: tuple[float, ...] = (0.2, 0.35, 0.5)
    """m: places of a foot beside the other one."""
    turns: tuple[float, ...] = (0.0, 0.5236)
    """rad: turns of a foot relative to the other one, outwards positive."""
    greed: float = 2.5
    """Factor of the estimated cost that remains: 1 finds the cheapest sequence, more finds one
    sooner whose cost is at most this factor above it."""
    max_height_change: float = 0.45
    """m: of one step."""
    max_step: float = 0.85
    """m: horizontal distance between the feet."""
    goal_distance: float = 0.1
    """m: horizontal distance of the middle of the feet from the finish."""
    length_cost: float = 0.5
    """Cost of 1 m between the feet; a step costs 1."""
    height_cost: float = 1.0
    """Cost of 1 m of height between the feet."""
    turn_cost: float = 0.3
    """Cost of 1 rad between the feet."""
    min_margin: float = 5.0
    """N m: least balance margin at rest on one foot alone."""
    clearance: float = 0.01
    """m: of soles and postures from obstacles."""
    max_nodes: int = 4000
    """Stances that one search may open."""
    max_searches: int = 40
    """Searches; each leaves out the stance without a posture that the one before found."""

    def __post_init__(self) -> None:
        for name in (
            "max_height_change",
            "max_step",
            "goal_distance",
            "greed",
            "max_nodes",
            "max_searches",
        ):
            if not getattr(self, name) > 0:
                raise ModelError(f"{name} is a number above 0, got {getattr(self, name)!r}")
