"""Which nodes of a cluster can be trusted: one that fails what others do is set aside."""

from __future__ import annotations

STRIKES = 3
"""Tasks in a row that failed on a node and succeeded on another, before it is set aside."""


class Nodes:
    """Strikes against nodes; a failure that repeats elsewhere is the candidate's own."""

    def __init__(self) -> None:
        self._strikes: dict[str, int] = {}
        self.aside: set[str] = set()

    def succeeded(self, node: str) -> None:
        """A task went well there."""
        self._strikes.pop(node, None)

    def failed_alone(self, node: str) -> bool:
        """A task that failed there went well elsewhere; whether the node is now set aside."""
        self._strikes[node] = self._strikes.get(node, 0) + 1
        if self._strikes[node] < STRIKES or node in self.aside:
            return False
        self.aside.add(node)
        return True
