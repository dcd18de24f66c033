"""Exclusion of cluster nodes that fail on candidates which other nodes evaluate."""

from __future__ import annotations

MAX_STRIKES = 3
"""Consecutive tasks that fail on a node and succeed on another before the node is excluded."""


class NodeHealth:
    """Failures per node. A failure that repeats on another node is due to the candidate."""

    def __init__(self) -> None:
        self._strikes: dict[str, int] = {}
        self.excluded: set[str] = set()

    def record_success(self, node: str) -> None:
        """Record that a task succeeded on a node."""
        self._strikes.pop(node, None)

    def record_failure(self, node: str) -> bool:
        """Record a task that failed on a node and succeeded on another.

        Args:
            node: Name of the node.

        Returns:
            Whether this failure excludes the node.
        """
        self._strikes[node] = self._strikes.get(node, 0) + 1
        if self._strikes[node] < MAX_STRIKES or node in self.excluded:
            return False
        self.excluded.add(node)
        return True
