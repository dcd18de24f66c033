"""Unique names of points and channels."""

from __future__ import annotations

from collections.abc import Sequence

from homodyn.foundation.text import enumerate_names

MAX_LISTED_NAMES = 8
"""Names that a note lists."""


def unique_names(
    labels: Sequence[str], count: int, blank: str
) -> tuple[tuple[str, ...], list[str]]:
    """One name for each of ``count`` columns, and notes on generated names.

    A column without a label is named ``blank`` with its number; a repeated label gets a number:
    ``LKNE``, ``LKNE_2``.
    """
    used = {label for label in labels[:count] if label}
    repeated: set[str] = set()
    names: list[str] = []
    unnamed, numbered = [], []
    for column in range(count):
        label = labels[column] if column < len(labels) else ""
        name = label
        if not label:
            name = _unused_name(f"{blank}_{column + 1}", used)
            unnamed.append(name)
        elif label in repeated:
            number = 2
            while f"{label}_{number}" in used:
                number += 1
            name = f"{label}_{number}"
            numbered.append(name)
        used.add(name)
        repeated.add(label)
        names.append(name)
    notes = []
    if unnamed:
        listed = enumerate_names(unnamed, MAX_LISTED_NAMES)
        notes.append(f"without a label in the file, named by their number: {listed}")
    if numbered:
        listed = enumerate_names(numbered, MAX_LISTED_NAMES)
        notes.append(f"labels that occur several times got a number: {listed}")
    return tuple(names), notes


def _unused_name(name: str, used: set[str]) -> str:
    while name in used:
        name += "_"
    return name
