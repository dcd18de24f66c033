"""Sentences about names: which one is missing and which would have been accepted."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_MOST = 60
"""Names listed in a message; more are counted."""


def missing(what: str, name: object, names: Iterable[str]) -> str:
    """``no body 'tigh'; did you mean 'thigh'? Accepted: hip, thigh``."""
    known = list(dict.fromkeys(names))
    text = f"no {what} {name!r}"
    listed = ", ".join(known[:_MOST]) or "none"
    if len(known) > _MOST:
        listed += f" and {len(known) - _MOST} more"
    # Likeness takes long on names by the thousand, of which nobody reads a list either.
    close = get_close_matches(str(name), known[: 50 * _MOST], n=1)
    if close:
        text += f"; did you mean {close[0]!r}?"
        return f"{text} Accepted: {listed}" if len(known) > 1 else text
    return f"{text}; accepted: {listed}"


def repeated(names: Iterable[str]) -> list[str]:
    """Names that occur more than once, each told once."""
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for name in names:
        if name in seen:
            twice[name] = None
        seen.add(name)
    return list(twice)
