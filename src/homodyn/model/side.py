"""Left and right, and the side that names of bodies, markers and coordinates contain."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

_WORD = re.compile(
    r"(?<!up)(?<!\b[bfw])(?<!_[bfw])(?<!copy)(?<!out)(?<!\bal)(?<!_al)(right)(?!ness)"
    r"|(?<!c)(left)(?!over)",
    re.IGNORECASE,
)
"""The whole word, but not in upright, bright, fright, alright, copyright, cleft or leftover."""
_LETTER = re.compile(
    r"(?<![A-Za-z])(?!L(?:UMB|OWER|OIN|EG|INK|ATERAL)|R(?:OOT|IB|ADI|OLL|OT|EF|IGID))"
    r"([lLrR])(?![a-z]|[1-5](?!\d)|[XYZ]$)"
)
"""A separate letter, or the first of a label in capitals that is no word such as LUMBAR or ROOT."""
_PREFIX = re.compile(
    r"(?<![A-Za-z])([lLrR])(?=(?:upper|lower|u|f)?(?:arm|leg)|hand|foot|feet|toe|heel|ankle|shank"
    r"|shin|calf|calc|knee|thigh|hip|wrist|elbow|fore|shoulder|femur|tibia|humer|clav|asis|psis)"
)
"""A letter that is written together with a segment or a landmark in small letters."""
_CAMEL_END = re.compile(r"(?<=[a-z])([LR])(?=$|[_.\- ])")


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
    axes as in ``"Neck_RX"``), a letter before a segment (``"rfoot"``, ``"Larm"``), and a capital
    letter at the end of a word (``"footL"``). Words that only contain the letters, such as
    ``"upright"`` or ``"LUMBAR"``, have no side.

    Args:
        name: Name of a body, joint, coordinate, marker or foot.

    Returns:
        The side, or None if the name contains none.
    """
    return _find_side(name)


@lru_cache(maxsize=4096)
def _find_side(name: str) -> Side | None:
    """The side of a name; building a model asks for the same names again and again."""
    for pattern in (_WORD, _LETTER, _PREFIX, _CAMEL_END):
        found = pattern.search(name)
        if found:
            return Side.LEFT if found.group().lower().startswith("l") else Side.RIGHT
    return None
