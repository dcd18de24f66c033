"""Parts of messages: unknown names, long lists, plurals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
"""Words of a name such as ``HandRight``, ``hand_right`` or ``knee_RY``."""
MAX_LISTED_NAMES = 60
"""Names listed in a message; the rest is counted."""
MAX_NAMES_AFTER_SUGGESTION = 12
"""Longest list of names that follows a suggestion; a longer one hides the suggestion."""
MIN_CASELESS_SIMILARITY = 0.85
"""Similarity, from 0 to 1, of names that are compared without case."""
MAX_COMPARED_NAMES = 3000
"""Names that are searched for a similar one: comparing takes long on more."""


def unknown_name(what: str, name: object, names: Iterable[str]) -> str:
    """Sentence for a name that does not exist, with a similar one or the accepted names.

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
    similar = closest_name(str(name), known)
    if similar is not None:
        text += f"; did you mean {similar!r}?"
        few = 1 < len(known) <= MAX_NAMES_AFTER_SUGGESTION
        return f"{text} Accepted: {listed}" if few else text
    return f"{text}; accepted: {listed}"


def closest_name(name: str, names: Iterable[str], min_similarity: float = 0.6) -> str | None:
    """The most similar of several names; upper and lower case do not matter.

    Args:
        name: The name that was given.
        names: The names that exist.
        min_similarity: Similarity that counts, from 0 to 1 (equal), as in `difflib`.

    Returns:
        One of ``names``; None if none is similar.
    """
    known = list(names)[:MAX_COMPARED_NAMES]
    # "RightHand" and "hand_right" have the words of "HandRight" in another order.
    words = _words(name)
    reordered = [each for each in known if _words(each) == words] if len(words) > 1 else []
    if reordered:
        return reordered[0]
    close = get_close_matches(name, known, n=1, cutoff=min_similarity)
    if close:
        return close[0]
    by_lower = {each.lower(): each for each in known}
    # Without case, left and right sides of a joint are similar: only near equality counts.
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=MIN_CASELESS_SIMILARITY)
    return by_lower[close[0]] if close else None


def _words(name: str) -> list[str]:
    """The words of a name in small letters, sorted."""
    return sorted(word.lower() for word in _WORD.findall(name))


def duplicate_names(names: Iterable[str]) -> list[str]:
    """Names that occur more than once.

    Args:
        names: The names.

    Returns:
        Each duplicated name once, in the order in which the duplicates appear.
    """
    seen: set[str] = set()
    duplicates: dict[str, None] = {}
    for name in names:
        if name in seen:
            duplicates[name] = None
        seen.add(name)
    return list(duplicates)


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
