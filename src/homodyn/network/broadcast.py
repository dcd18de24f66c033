"""Distribution of lists of values over the objects that one statement creates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from homodyn.network.source import SourceLocation


@dataclass(frozen=True)
class Broadcast:
    """The position of an object among those that one statement creates."""

    index: int = 0
    """Index of the object."""
    count: int = 1
    """Number of objects."""
    reverse: int | None = None
    """For bidirectional edges: 0 for the forward edge, 1 for the backward edge."""
    outer: Broadcast | None = None
    """Position of the object that encloses this one."""

    def _own(self) -> list[tuple[int, int]]:
        """Index and count of the sets of objects over which a list can be distributed."""
        if self.reverse is None:
            return [(self.index, self.count)]
        pairs = self.count // 2
        return [(self.reverse, 2), (self.index // 2, pairs), (self.index, self.count)]

    def pick(self, value: Any, place: SourceLocation, name: int = 0, names: int = 1) -> Any:
        """The element of a list for this object, or the value itself if it is not a list.

        Enclosing objects come last, so a list inside a block can be for those.

        Args:
            value: A list or a value.
            place: Its place, for messages.
            name: Index among the variables that the statement creates.
            names: Number of these variables.

        Returns:
            The value of this object.

        Raises:
            NetworkError: The length of the list matches no set of objects.
        """
        if not isinstance(value, list):
            return value
        choices = [*self._own(), (name, names)]
        enclosing = self.outer
        while enclosing is not None:
            choices += enclosing._own()
            enclosing = enclosing.outer
        for index, count in choices:
            if len(value) == count:
                return value[index]
        counts = " or ".join(str(n) for n in sorted({count for _, count in choices}))
        raise place.error(f"the list has {len(value)} values for {counts} objects")
