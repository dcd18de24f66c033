"""Options records that functions accept as keywords: changes of their fields, checked by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

from homodyn.foundation.record import Record
from homodyn.foundation.text import closest_name

MIN_KEYWORD_SIMILARITY = 0.75
"""Keywords are short words: a similarity of 0.6 would suggest ``scene`` for ``speed``."""

Options = TypeVar("Options", bound=Record)


def change_options(
    function: str,
    options: Options,
    changes: Mapping[str, Any],
    *,
    arguments: Iterable[str] = (),
    hints: Mapping[str, str] | None = None,
) -> Options:
    """The options of a call with its keywords applied.

    Args:
        function: Name of the called function, for messages.
        options: The options.
        changes: Values of fields, as keywords of the call.
        arguments: Other arguments of the function, for suggestions.
        hints: By wrong name, what to write instead.

    Returns:
        A copy of the options with these values.

    Raises:
        TypeError: A keyword is not a field; the message suggests a similar name.
    """
    known = [field.name for field in dataclasses.fields(cast(Any, options))]
    for name in changes:
        if name in known:
            continue
        hint = (hints or {}).get(name)
        similar = closest_name(name, (*arguments, *known), MIN_KEYWORD_SIMILARITY)
        if hint is None and similar is None:
            # A word of the name, as in marker_weights= for weights=.
            similar = next((each for each in known if each in name.lower().split("_")), None)
        if hint is None and similar is not None:
            hint = f"did you mean {similar!r}?"
        hint = hint or f"options are {', '.join(known)}"
        raise TypeError(f"{function}() has no argument {name!r}; {hint}")
    changed: Options = dataclasses.replace(cast(Any, options), **changes)
    return changed
