"""Wording that messages share: unknown names, long lists, plurals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

MAX_LISTED_NAMES = 60
"""Names listed in a message; the rest is counted."""
MAX_COMPARED_NAMES = 3000
"""Names that are searched for a similar one: comparing takes long on more."""


def unknown_name(what: str, name: object, names: Iterable[str]) -> str:
    """The sentence for a name that does not exist, with what would have been accepted.

    ``no body 'tigh'; did you mean 'thigh'? Accepted: hip, thigh``

    Args:
        what: Kind of the thing: ``"body"``.
        name: The name that was given.
        names: The names that exist.

    Returns:
        A sentence without a full stop.
    """
    known = list(dict.fromkeys(names))
    text = f"no {what} {name!r}"
    listed = enumerate_names(known, MAX_LISTED_NAMES) or "none"
    close = get_close_matches(str(name), known[:MAX_COMPARED_NAMES], n=1)
    if close:
        text += f"; did you mean {close[0]!r}?"
        return f"{text} Accepted: {listed}" if len(known) > 1 else text
    return f"{text}; accepted: {listed}"


def duplicate_names(names: Iterable[str]) -> list[str]:
    """Names that occur more than once.

    Args:
        names: The names.

    Returns:
        Each duplicated name once, in the order in which the duplicates appear.
    """
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for name in names:
        if name in seen:
            twice[name] = None
        seen.add(name)
    return list(twice)


def enumerate_names(names: Sequence[str], limit: int = 6) -> str:
    """Names separated by commas, a long list abbreviated: ``a, b and 3 more``.

    Args:
        names: The names.
        limit: Names to list; the number of further names is appended.

    Returns:
        The text; empty if there are no names.
    """
    shown = ", ".join(names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown


def count_of(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: ``1 event``, ``3 events``.

    Args:
        count: The number.
        noun: The noun in the singular.
        plural: The plural of the noun; ``noun`` with an appended ``s`` if left out.

    Returns:
        Number and noun, separated by a space.
    """
    return f"{count} {noun if count == 1 else plural or noun + 's'}"
