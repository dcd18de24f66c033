"""Tasks at the level of accelerations: a spring and a damper toward a moving reference."""

from __future__ import annotations

from numpy.typing import ArrayLike

from homodyn.control.tasks.task import Task
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record


@record
class TrackingTask(Record):
    """A task that `WholeBodyController` tracks, with the motion of its reference.

    The wanted acceleration is ``acceleration + damping (velocity - J v) + stiffness error``. Tasks
    about rates (momentum, contact) have no stiffness: ``acceleration + damping (target - J v)``.

    Raises:
        ModelError: A gain is negative.
    """

    task: Task
    """What is tracked, with its target; the square of its cost is its weight."""
    stiffness: float = 100.0
    """1/s2."""
    damping: float = 20.0
    """1/s; ``2 sqrt(stiffness)`` is critical."""
    velocity: ArrayLike | None = None
    """(rows,): velocity of the reference, in the units of the error per second; None: zero."""
    acceleration: ArrayLike | None = None
    """(rows,): acceleration of the reference; None: zero."""

    def __post_init__(self) -> None:
        if not (self.stiffness >= 0 and self.damping >= 0):
            raise ModelError(
                f"tracking of {self.task.title}: stiffness and damping are numbers from 0 up, got "
                f"{self.stiffness!r} and {self.damping!r}"
            )

    def headline(self) -> str:
        """The task."""
        return f"TrackingTask of {self.task.title}"
