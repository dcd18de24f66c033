"""The result of a search for a posture."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.foundation.text import enumerate_names

MAX_NAMED_LIMITS = 3
"""Limits that the sentence of a result names."""

OPPOSING_SHARE = 0.5
"""Share of the largest error from which the error of another task is named too."""


class PostureStatus(StrEnum):
    """How the search for a posture ended."""

    SOLVED = "solved"
    """All tasks are reached within the tolerance."""
    HELD_BY_LIMITS = "held by limits"
    """No small change brings the tasks closer; joint limits or obstacles stop the movement."""
    OUT_OF_REACH = "out of reach"
    """No small change brings the tasks closer, and no limit is active: a target is too far away,
    or tasks contradict each other."""
    ITERATION_LIMIT = "iteration limit"
    """The iterations were used up; the best posture found is returned."""

    @property
    def success(self) -> bool:
        """Whether all tasks are reached."""
        return self is PostureStatus.SOLVED


@record
class PostureResult(Record):
    """A posture with the errors that remain and what stops the tasks."""

    q: np.ndarray
    """(nq,), within the limits."""
    status: PostureStatus
    tasks: tuple[str, ...]
    """The tasks that were to be reached."""
    errors: np.ndarray
    """(tasks,): largest error of each, in its unit (m, rad)."""
    held_by: tuple[str, ...]
    """Limits that stop the tasks, the most important first."""
    iterations: int
    starts: int
    """Number of starts that were tried."""

    @property
    def solved(self) -> bool:
        """Whether all tasks are reached."""
        return self.status.success

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        if not len(self.tasks):
            return "There was no task to reach; the posture follows the preferences."
        worst = int(np.argmax(self.errors))
        size = f"{self.errors[worst]:.3g}"
        if self.solved:
            return f"All tasks are reached; the largest error is {size} (m, rad)."
        text = f"{self.tasks[worst]} stays {size} (m, rad) from its target"
        shared = [
            f"{self.tasks[k]} {self.errors[k]:.3g}"
            for k in np.argsort(-self.errors)[1:]
            if self.errors[k] > OPPOSING_SHARE * self.errors[worst]
        ]
        if shared:
            text += f" ({enumerate_names(shared)})"
        starts = f" after {self.starts} starts" if self.starts > 1 else ""
        if self.status is PostureStatus.ITERATION_LIMIT:
            return f"{text}{starts}; more iterations may bring it closer."
        if self.status is PostureStatus.OUT_OF_REACH:
            return f"{text}{starts}: it is out of reach, or other tasks oppose it."
        limits = enumerate_names(self.held_by[:MAX_NAMED_LIMITS])
        return f"{text}{starts}, held back by {limits}."

    def headline(self) -> str:
        """The result in one sentence."""
        return f"PostureResult: {self.sentence}"
