"""Fair shares of one cluster: start-time fair queuing on the priorities Dask already has.

Studies share a virtual time that advances with the work done. A task of a study with priority w
that will take c seconds starts, virtually, when the study's last task ended or now, whichever is
later, and ends c / w after that. Tasks that start earlier go first (Goyal, Vin and Cheng 1996), so
that over any while studies get machine time in proportion to their priorities, however long their
tasks are, and a study that pauses does not save up a claim.
"""

from __future__ import annotations


class FairQueue:
    """The virtual clock of one study."""

    def __init__(self, priority: float = 1.0) -> None:
        self.priority = priority
        self._ended = 0.0

    def start(self, now: float, cost: float) -> float:
        """The virtual start of the next task, which takes ``cost`` seconds; less goes first."""
        started = max(now, self._ended)
        self._ended = started + cost / self.priority
        return started
