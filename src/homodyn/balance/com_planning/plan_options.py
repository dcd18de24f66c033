"""Options of plans of the center of mass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from homodyn.balance.com_planning.margin_objective import MarginKind
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name


@record(eq=True)
class PlanWeights(Record):
    """Weights of the objective terms."""

    margin: float = 1.0
    """Weight of 1 N m (or 1 N) of the smallest margin."""
    velocity: float = 0.1
    """Weight of 1 m2/s: the integral of the squared speed."""
    jerk: float = 1e-4
    """Weight of 1 m2/s5: the integral of the squared jerk."""
    height: float = 15.0
    """Weight of 1 m2/s: the integral of the squared vertical velocity. Without it the margin alone
    determines how far the knees bend, possibly more than legs can."""
    time: float = 1.0
    """Weight of 1 s of duration."""


@record
class PlanOptions(Record):
    """Margin, weights and resolution of `plan_com`.

    Raises:
        ModelError: The margin is unknown.
    """

    margin: str | None = None
    """``"wrench"`` (M_s3, N m) or ``"force"`` (M_s1, N); None for the one in the scene."""
    about: Sequence[float] | None = (0.0, 0.0, 0.0)
    """Fixed point (3,), m, about which moments are taken for M_s3; None for the center of mass."""
    unit: float = 1.0
    """Length (m) that relates forces to moments: 1 N counts as ``unit`` N m."""
    min_margin: float = 0.0
    """Minimum margin on the dense grid, N m or N."""
    weights: PlanWeights | None = None
    """Weights of the objective terms; None: the defaults, with the height weight of the scene."""
    pieces: int | None = None
    """Spline spans per phase (timing-free plans); None for the number in the scene."""
    samples: int | None = None
    """Instants per span at which the solver imposes constraints, both ends included (timing-free
    plans); None for 6 with one span per phase, else 3."""
    rounds: int = 3
    """Maximum number of solver rounds (timing-free plans); a few more follow while the dense grid
    violates constraints."""

    def __post_init__(self) -> None:
        if self.margin is not None and self.margin not in tuple(MarginKind):
            raise ModelError(unknown_name("margin", self.margin, tuple(MarginKind)))


class PlanKeywords(TypedDict, total=False):
    """The fields of `PlanOptions` as keywords of `plan_com`."""

    margin: str | None
    about: Sequence[float] | None
    unit: float
    min_margin: float
    weights: PlanWeights | None
    pieces: int | None
    samples: int | None
    rounds: int
