"""Values in lists, shared out among the objects that one statement makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from homodyn.network.source import SourceLocation


@dataclass(frozen=True)
class Broadcast:
    """Which of several objects made by one statement this is: values in lists go one to each."""

    index: int = 0
    count: int = 1
    reverse: int | None = None
    """For edges both ways: 0 for the way there, 1 for the way back."""
    outer: Broadcast | None = None
    """The same of the statement around this one, for lists in blocks inside."""

    def _own(self) -> list[tuple[int, int]]:
        """Index and count of what a list may be shared out among."""
        if self.reverse is None:
            return [(self.index, self.count)]
        pairs = self.count // 2
        return [(self.reverse, 2), (self.index // 2, pairs), (self.index, self.count)]

    def pick(self, value: Any, place: SourceLocation, name: int = 0, names: int = 1) -> Any:
        """The element of a list that belongs to this object, or the value that is no list.

        ``name`` of ``names`` is the place among the variables that the statement makes. Objects
        around are asked last, so a list inside a block can be meant for those.
        """
        if not isinstance(value, list):
            return value
        choices = [*self._own(), (name, names)]
        around = self.outer
        while around is not None:
            choices += around._own()
            around = around.outer
        for index, count in choices:
            if len(value) == count:
                return value[index]
        counts = " or ".join(str(n) for n in sorted({count for _, count in choices}))
        raise place.error(f"the list has {len(value)} values for {counts} objects")
