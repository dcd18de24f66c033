"""Fair shares of one cluster: start-time fair queuing on the task priorities of its scheduler.

Clients share a virtual time that advances with the work done. A task of a client with priority w
that takes c seconds starts, in virtual time, when the last task of the client ended or now,
whichever is later, and ends c / w after that. Tasks with an earlier start go first (Goyal, Vin and
Cheng 1996). Over any period, clients receive machine time in proportion to their priorities,
however long their tasks are, and a client that pauses does not accumulate a claim.
"""

from __future__ import annotations


class FairQueue:
    """The virtual clock of one client.

    Args:
        priority: Share of the cluster relative to other clients.
    """

    def __init__(self, priority: float = 1.0) -> None:
        self.priority = priority
        self._last_end = 0.0

    def start(self, now: float, cost: float) -> float:
        """Virtual start of the next task; tasks with a smaller one go first.

        Args:
            now: Virtual time of the cluster.
            cost: Duration of the task (s).

        Returns:
            The virtual start.
        """
        start = max(now, self._last_end)
        self._last_end = start + cost / self.priority
        return start
