"""Which nodes of a cluster can be trusted: one that fails where others succeed is excluded."""

from __future__ import annotations

MAX_STRIKES = 3
"""Tasks in a row that failed on a node and succeeded on another before the node is excluded."""


class NodeHealth:
    """Failures per node; a failure that repeats on another node is due to the candidate."""

    def __init__(self) -> None:
        self._strikes: dict[str, int] = {}
        self.excluded: set[str] = set()

    def record_success(self, node: str) -> None:
        """Record that a task succeeded on a node."""
        self._strikes.pop(node, None)

    def record_failure(self, node: str) -> bool:
        """Record a task that failed on a node and succeeded on another.

        Returns whether the node is excluded by it.
        """
        self._strikes[node] = self._strikes.get(node, 0) + 1
        if self._strikes[node] < MAX_STRIKES or node in self.excluded:
            return False
        self.excluded.add(node)
        return True
