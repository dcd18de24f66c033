"""Names that stand for many: generators ``n{1:3}``, contexts ``@1`` and calculations ``$(...)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from homodyn.foundation.text import unknown_name
from homodyn.network.source import SourceLocation
from homodyn.network.statements import LocatedText

MAX_GENERATED_NAMES = 20_000
"""Names one generator may make."""

PROTECTED_AT = "\ue000"
"""Takes the place of an @ that is not to be looked up yet."""

Calculator = Callable[[str, SourceLocation], str]


@dataclass(frozen=True)
class ExpansionContext:
    """What ``@`` stands for: groups of the names around, innermost first, and macros by name."""

    groups: tuple[tuple[str, ...], ...] = ()
    macros: Mapping[str, str] = field(default_factory=dict)
    position: tuple[int, int] | None = None
    """Which of how many objects of a statement this is: ``@index`` from 0, and ``@count``."""

    def push(self, groups: tuple[str, ...]) -> ExpansionContext:
        """With one more name inside the others."""
        return replace(self, groups=(groups, *self.groups))

    def define(self, macros: Mapping[str, str]) -> ExpansionContext:
        """With further macros."""
        return replace(self, macros={**self.macros, **macros})

    def look_up(self, level: int, key: str, place: SourceLocation) -> str:
        """``@1``: group 1 of the innermost name that has one; ``@@1`` starts one further out."""
        if not key.isdigit():
            known = dict(self.macros)
            if self.position is not None:
                index, count = self.position
                known = {"index": str(index), "count": str(count), **known}
            if key not in known:
                raise place.error(unknown_name("macro", key, known))
            return known[key]
        for groups in self.groups[level:]:
            if int(key) < len(groups):
                return groups[int(key)]
        raise place.error(
            f"{'@' * (level + 1)}{key} has nothing to stand for: "
            f"there are {len(self.groups)} names around, none with a group {key}"
        )


def substitute(text: LocatedText, contexts: ExpansionContext, calculate: Calculator) -> str:
    """A text with its contexts, macros and calculations put in."""

    def context(match: re.Match[str]) -> str:
        place = text.place.shift(match.start())
        return contexts.look_up(len(match[1]) - 1, match[2], place)

    replaced = re.sub(r"(@+)(\d+|[^\W\d]\w*)", context, text.text)
    return _fold_calculations(replaced, text.place, calculate)


def _fold_calculations(text: str, place: SourceLocation, calculate: Calculator) -> str:
    done = ""
    while (start := text.find("$(")) >= 0:
        end = _closing(text, start + 1, "()")
        if end < 0:
            raise place.shift(start).error("$( is not closed; expected )")
        done += text[:start] + calculate(text[start + 2 : end], place)
        text = text[end + 1 :]
    return done + text


def _closing(text: str, start: int, pair: str) -> int:
    depth = 0
    for k in range(start, len(text)):
        depth += (text[k] == pair[0]) - (text[k] == pair[1])
        if depth == 0:
            return k
    return -1


def generate_names(
    text: LocatedText, contexts: ExpansionContext, calculate: Calculator
) -> list[tuple[str, tuple[str, ...]]]:
    """All names of a generator, each with its context: the whole name, then every group."""
    waiting = LocatedText(_protect_maps(text.text), text.place)
    filled = substitute(waiting, contexts, _defer_maps(calculate)).replace(PROTECTED_AT, "@")
    literal, groups = _pieces(filled, text.place, calculate)
    if not groups:
        return [(filled, (filled,))]
    count = 1
    for group in groups:
        count *= len(group)
        if count > MAX_GENERATED_NAMES:
            raise text.place.error(f"this makes more than {MAX_GENERATED_NAMES} names")
    names = []
    for choice in product(*groups):
        name = literal[0] + "".join(a + b for a, b in zip(choice, literal[1:], strict=True))
        names.append((name, (name, *choice)))
    return names


def _protect_maps(text: str) -> str:
    """The text with the @ of maps hidden: they stand for the values of the generator before."""
    start = 0
    while (start := text.find("}[", start)) >= 0:
        end = _closing(text, start + 1, "[]")
        if end < 0:
            break
        text = text[:start] + text[start:end].replace("@", PROTECTED_AT) + text[end:]
        start = end
    return text


def _defer_maps(calculate: Calculator) -> Calculator:
    """Calculations of a map wait for its values."""
    return lambda inside, place: (
        f"$({inside})" if PROTECTED_AT in inside else calculate(inside, place)
    )


def _pieces(
    text: str, place: SourceLocation, calculate: Calculator
) -> tuple[list[str], list[list[str]]]:
    literal, groups = [""], []
    k = 0
    while k < len(text):
        if text[k] == "}":
            raise place.shift(k).error("'}' closes nothing; a generator is {1:3} or {a,b}")
        if text[k] != "{":
            literal[-1] += text[k]
            k += 1
            continue
        end = _closing(text, k, "{}")
        if end < 0:
            raise place.shift(k).error("a generator is not closed; expected }")
        group = _group(text[k + 1 : end], place, calculate)
        k = end + 1
        if k < len(text) and text[k] == "[":
            end = _closing(text, k, "[]")
            if end < 0:
                raise place.shift(k).error("a map is not closed; expected ]")
            group = _apply_map(group, text[k + 1 : end], place, calculate)
            k = end + 1
        groups.append(group)
        literal.append("")
    return literal, groups


def _group(text: str, place: SourceLocation, calculate: Calculator) -> list[str]:
    items: list[str] = []
    depth, start = 0, 0
    parts = []
    for k, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and not depth:
            parts.append(text[start:k])
            start = k + 1
    parts.append(text[start:])
    for part in parts:
        part = part.strip()
        ends = part.split(":")
        if len(ends) in (2, 3) and "{" not in part:
            items += _range(ends, place)
        elif "{" in part:
            literal, groups = _pieces(part, place, calculate)
            for choice in product(*groups):
                tail = (a + b for a, b in zip(choice, literal[1:], strict=True))
                items.append(literal[0] + "".join(tail))
        else:
            items.append(part)
        if len(items) > MAX_GENERATED_NAMES:
            raise place.error(f"this makes more than {MAX_GENERATED_NAMES} names")
    return items


def _range(ends: list[str], place: SourceLocation) -> list[str]:
    try:
        numbers = [int(end) for end in ends]
    except ValueError:
        shown = ":".join(ends)
        raise place.error(f"{{{shown}}} is no range; expected whole numbers as in 1:3") from None
    first, step, last = numbers if len(numbers) == 3 else (numbers[0], 1, numbers[1])
    if step == 0:
        raise place.error("a range with step 0 does not end")
    if abs(last - first) // abs(step) > MAX_GENERATED_NAMES:
        raise place.error(f"this makes more than {MAX_GENERATED_NAMES} names")
    return [str(k) for k in range(first, last + (1 if step > 0 else -1), step)]


def _apply_map(
    group: list[str], text: str, place: SourceLocation, calculate: Calculator
) -> list[str]:
    """``{1:5}[$(@0 * 2)]`` gives 2, 4, ...; ``{1:3}[|@0 + @1]`` the one text ``1 + 2 + 3``."""
    if not text.startswith("|"):
        return [_fold_calculations(text.replace("@0", item), place, calculate) for item in group]
    if not group:
        return []
    total = group[0]
    for item in group[1:]:
        pieces = re.split(r"(@[01])", text[1:])
        known = {"@0": total, "@1": item}
        whole = "".join(known.get(piece, piece) for piece in pieces)
        total = _fold_calculations(whole, place, calculate)
        if len(total) > MAX_GENERATED_NAMES:
            raise place.error(f"this makes a text of more than {MAX_GENERATED_NAMES} characters")
    return [total]
