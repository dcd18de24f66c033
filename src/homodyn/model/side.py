"""Left and right, and the side that names of bodies, markers and coordinates contain."""

from __future__ import annotations

import re
from enum import StrEnum

_LETTER = re.compile(r"(?<![A-Za-z])([lLrR])(?![a-z]|[1-5](?!\d)|[XYZ]$)")
_CAMEL_END = re.compile(r"(?<=[a-z])([LR])$")


class Side(StrEnum):
    """Left or right; iterating gives the right side first, as clinical tables do."""

    RIGHT = "right"
    LEFT = "left"

    @property
    def other(self) -> Side:
        """The opposite side."""
        return Side.LEFT if self is Side.RIGHT else Side.RIGHT

    @property
    def sign(self) -> float:
        """+1 on the left and -1 on the right: the sign of y, which points to the left."""
        return 1.0 if self is Side.LEFT else -1.0

    @property
    def title(self) -> str:  # type: ignore[override]
        """``"Right"`` or ``"Left"``, as C3D events and HeiMan bodies write it."""
        return self.value.capitalize()

    @property
    def color(self) -> str:
        """Color in figures and drawings (``"#rrggbb"``): the right side is red, the left blue."""
        return "#c8553d" if self is Side.RIGHT else "#3b78b5"

    # Messages quote names by their repr: a side is 'left' there, like other names.
    __repr__ = str.__repr__


def side_of(name: str) -> Side | None:
    """The side that a name contains, or None.

    Known conventions: the whole word anywhere (``"ThighLeft"``, ``"left_foot"``), a separate
    letter (``"calcn_r"``, ``"L.Heel"``, ``"RKNE"``; but not the vertebrae ``"L1"`` to ``"L5"`` or
    axes as in ``"Neck_RX"``), and a capital letter at the end (``"footL"``).

    Args:
        name: Name of a body, joint, coordinate, marker or foot.

    Returns:
        The side, or None if the name contains none.
    """
    lowered = name.lower()
    for side in (Side.LEFT, Side.RIGHT):
        if side.value in lowered:
            return side
    letter = _LETTER.search(name) or _CAMEL_END.search(name)
    if letter is None:
        return None
    return Side.LEFT if letter.group(1) in "lL" else Side.RIGHT
