"""Messages on names of coordinates: clinical names mean coordinates of the same joint and side."""

from __future__ import annotations

import re
from collections.abc import Sequence

from homodyn.foundation.text import closest_name, enumerate_names, unknown_name
from homodyn.model.side import side_of

MIN_TYPO_SIMILARITY = 0.75
"""Similarity, from 0 to 1, of a misspelled coordinate."""
MIN_WORD_LETTERS = 3
"""Shorter words of a name say nothing about the joint."""


def unknown_coordinate(model: str, name: str, names: Sequence[str]) -> str:
    """Sentence for a name that is not a coordinate of a model.

    A clinical name (``"right knee flexion"``) is answered with the coordinates of that joint and
    side. Models of any origin have no clinical signs at this level, so it is not resolved here.

    Args:
        model: Name of the model.
        name: The name that was given.
        names: Its coordinates.

    Returns:
        A sentence without a full stop.
    """
    words = [w for w in re.findall(r"[a-z]+", name.lower()) if len(w) >= MIN_WORD_LETTERS]
    joint = [w for w in words if w not in ("left", "right")]
    same = [
        own
        for own in names
        if side_of(own) == side_of(name) and any(word in own.lower() for word in joint)
    ]
    misspelled = closest_name(name, names, MIN_TYPO_SIMILARITY) is not None
    if misspelled or not same or len(words) < 2:
        return f"model {model!r} has {unknown_name('coordinate', name, names)}"
    meant = repr(same[0]) if len(same) == 1 else f"one of {enumerate_names(same, 12)}"
    return (
        f"model {model!r} has no coordinate {name!r}; did you mean {meant}? Clinical and OpenSim "
        "names are accepted by motion[...] and hd.motion.resolve_values(model, values)"
    )
