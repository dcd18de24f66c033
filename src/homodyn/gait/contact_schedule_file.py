"""Phases of a walk as a table: when each begins and ends, and how both feet stand.

begin (s),end (s),right,left
0.409,0.701,flat,swing
0.701,0.822,forefoot,swing
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from homodyn.errors import FormatError
from homodyn.gait.contact_schedule import Footing, Standing

HEADS = ("begin (s)", "end (s)", "right", "left")
APART = 1e-6
"""s: how far the end of a phase may be from the begin of the next."""


def read_phases(path: str | Path) -> tuple[Footing, ...]:
    """Read phases; refuses gaps, other orders, and words that are no way to stand."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise FormatError(f"phases cannot be read: {reason}", str(path)) from error
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.startswith("#")
    ]
    head = [word.split("(")[0].strip() for word in lines[0][1].split(",")] if lines else []
    if head != [word.split("(")[0].strip() for word in HEADS]:
        raise FormatError(f"the heading must be {','.join(HEADS)}", str(path), "line 1")
    found: list[Footing] = []
    for number, line in lines[1:]:
        place = f"line {number}"
        footing = _footing(next(csv.reader([line])), str(path), place)
        if found and abs(footing.begin - found[-1].end) > APART:
            raise FormatError(
                f"the phase begins at {footing.begin:g} s, but the one before ends at "
                f"{found[-1].end:g} s",
                str(path),
                place,
            )
        found.append(footing)
    if not found:
        raise FormatError("there are no phases in it", str(path))
    return tuple(found)


def write_phases(footings: Sequence[Footing], path: str | Path) -> None:
    """Write phases so that `read_phases` reads the same."""
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(HEADS)
        writer.writerows(
            [f"{f.begin:.9g}", f"{f.end:.9g}", str(f.right), str(f.left)] for f in footings
        )


def _footing(words: Sequence[str], path: str, place: str) -> Footing:
    if len(words) != len(HEADS):
        raise FormatError(f"{len(words)} words under {len(HEADS)} headings", path, place)
    try:
        begin, end = float(words[0]), float(words[1])
    except ValueError as error:
        raise FormatError(f"times are numbers: {error}", path, place) from error
    if not 0 <= begin < end < float("inf"):
        raise FormatError(f"a phase cannot last from {words[0]} to {words[1]} s", path, place)
    standing = []
    for word in words[2:]:
        if word.strip() not in set(Standing):
            raise FormatError(
                f"no foot stands {word.strip()!r}; accepted: {', '.join(Standing)}", path, place
            )
        standing.append(Standing(word.strip()))
    return Footing(begin, end, *standing)
