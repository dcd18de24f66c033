"""Names of points and channels: none empty, none twice."""

from __future__ import annotations

from collections.abc import Sequence


def unique_names(
    labels: Sequence[str], count: int, blank: str
) -> tuple[tuple[str, ...], list[str]]:
    """One name for each of ``count`` columns, and notes on those that were made up.

    A column without a label is called by ``blank`` and its number; a label that was given before
    gets the number of its turn: ``LKNE``, ``LKNE_2``.
    """
    taken = {label for label in labels[:count] if label}
    given: set[str] = set()
    names: list[str] = []
    unnamed, doubled = [], []
    for place in range(count):
        label = labels[place] if place < len(labels) else ""
        name = label
        if not label:
            name = _unused_name(f"{blank}_{place + 1}", taken)
            unnamed.append(name)
        elif label in given:
            turn = 2
            while f"{label}_{turn}" in taken:
                turn += 1
            name = f"{label}_{turn}"
            doubled.append(name)
        taken.add(name)
        given.add(label)
        names.append(name)
    notes = []
    if unnamed:
        notes.append(f"without a label in the file, named by their place: {_list_text(unnamed)}")
    if doubled:
        notes.append(f"labels that occur several times got a number: {_list_text(doubled)}")
    return tuple(names), notes


def _unused_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _list_text(names: list[str]) -> str:
    shown = ", ".join(names[:8])
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown
