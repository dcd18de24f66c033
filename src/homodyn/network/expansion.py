"""Expansion of names: generators ``n{1:3}``, contexts ``@1`` and calculations ``$(...)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from homodyn.foundation.text import unknown_name
from homodyn.network.source import SourceLocation
from homodyn.network.statements import LocatedText

MAX_GENERATED_NAMES = 20_000
"""Maximum number of names of one generator."""

MAX_EXPANDED_CHARACTERS = 200_000
"""Length of a text whose contexts and macros are substituted; macros may contain macros."""

MAX_NAMES_CHARACTERS = 5_000_000
"""Length of all names of one generator together."""

PROTECTED_AT = "\ue000"
"""Replaces an @ that is looked up later."""

Calculator = Callable[[str, SourceLocation], str]


@dataclass(frozen=True)
class ExpansionContext:
    """The values of ``@1``, ``@name``, ``@index`` and ``@count``."""

    groups: tuple[tuple[str, ...], ...] = ()
    """Groups of the enclosing names, innermost first."""
    macros: Mapping[str, str] = field(default_factory=dict)
    """Values of macros by name."""
    position: tuple[int, int] | None = None
    """Index, from 0, and number of the objects that a statement creates."""

    def push(self, groups: tuple[str, ...]) -> ExpansionContext:
        """The context inside a further name.

        Args:
            groups: The name and its groups.

        Returns:
            The context.
        """
        return replace(self, groups=(groups, *self.groups))

    def define(self, macros: Mapping[str, str]) -> ExpansionContext:
        """The context with further macros."""
        return replace(self, macros={**self.macros, **macros})

    def look_up(self, level: int, key: str, place: SourceLocation) -> str:
        """Look up a context or macro.

        Args:
            level: Number of enclosing names to skip: 0 for ``@1``, 1 for ``@@1``.
            key: Number of the group, or name of the macro.
            place: Place in the text, for messages.

        Returns:
            Group ``key`` of the innermost name that has one, or the value of the macro.

        Raises:
            NetworkError: There is no such group or macro.
        """
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
            f"{'@' * (level + 1)}{key} is undefined: there is no group {key} in any of "
            f"{len(self.groups)} enclosing names"
        )


def substitute(text: LocatedText, contexts: ExpansionContext, calculate: Calculator) -> str:
    """Substitute contexts, macros and calculations in a text.

    Args:
        text: The text.
        contexts: Values of contexts and macros.
        calculate: Evaluates the formula of ``$(...)``.

    Returns:
        The text.
    """

    length = len(text.text)

    def context(match: re.Match[str]) -> str:
        nonlocal length
        place = text.place.shift(match.start())
        value = contexts.look_up(len(match[1]) - 1, match[2], place)
        length += len(value)
        if length > MAX_EXPANDED_CHARACTERS:
            raise place.error(
                f"the text grows to more than {MAX_EXPANDED_CHARACTERS} characters here; are "
                "macros defined by themselves?"
            )
        return value

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
    """The names of a generator.

    Args:
        text: The generator, such as ``n{1:3}``.
        contexts: Values of contexts and macros.
        calculate: Evaluates the formula of ``$(...)``.

    Returns:
        Every name with its context: the whole name, then its groups.

    Raises:
        NetworkError: The generator is wrong, or has too many names.
    """
    protected = LocatedText(_protect_maps(text.text), text.place)
    filled = substitute(protected, contexts, _defer_maps(calculate)).replace(PROTECTED_AT, "@")
    literal, groups = _pieces(filled, text.place, calculate)
    if not groups:
        return [(filled, (filled,))]
    count = 1
    for group in groups:
        count *= len(group)
        if count > MAX_GENERATED_NAMES:
            raise text.place.error(f"the generator has more than {MAX_GENERATED_NAMES} names")
    names = []
    characters = 0
    for choice in product(*groups):
        name = literal[0] + "".join(a + b for a, b in zip(choice, literal[1:], strict=True))
        characters += len(name)
        if characters > MAX_NAMES_CHARACTERS:
            raise text.place.error(
                f"the names of the generator have more than {MAX_NAMES_CHARACTERS} characters"
            )
        names.append((name, (name, *choice)))
    return names


def _protect_maps(text: str) -> str:
    """The text with the @ of maps protected: they refer to the values of the generator."""
    start = 0
    while (start := text.find("}[", start)) >= 0:
        end = _closing(text, start + 1, "[]")
        if end < 0:
            break
        text = text[:start] + text[start:end].replace("@", PROTECTED_AT) + text[end:]
        start = end
    return text


def _defer_maps(calculate: Calculator) -> Calculator:
    """A calculator that leaves the calculations of maps for later."""
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
            raise place.shift(k).error("'}' without '{'; a generator is {1:3} or {a,b}")
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
                if len(items) * len(items[-1]) > MAX_NAMES_CHARACTERS:
                    raise place.error(
                        f"the generator has more than {MAX_NAMES_CHARACTERS} characters"
                    )
        else:
            items.append(part)
        if len(items) > MAX_GENERATED_NAMES:
            raise place.error(f"the generator has more than {MAX_GENERATED_NAMES} names")
    return items


def _range(ends: list[str], place: SourceLocation) -> list[str]:
    try:
        numbers = [int(end) for end in ends]
    except ValueError:
        shown = ":".join(ends)
        raise place.error(f"{{{shown}}} is not a range; expected integers as in 1:3") from None
    first, step, last = numbers if len(numbers) == 3 else (numbers[0], 1, numbers[1])
    if step == 0:
        raise place.error("the step of a range is 0")
    if abs(last - first) // abs(step) > MAX_GENERATED_NAMES:
        raise place.error(f"the generator has more than {MAX_GENERATED_NAMES} names")
    return [str(k) for k in range(first, last + (1 if step > 0 else -1), step)]


def _apply_map(
    group: list[str], text: str, place: SourceLocation, calculate: Calculator
) -> list[str]:
    """Apply a map or a reduction to the values of a generator.

    ``{1:5}[$(@0 * 2)]`` gives 2, 4, ...; ``{1:3}[|@0 + @1]`` gives the text ``1 + 2 + 3``.
    """
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
            raise place.error(f"the reduced text has more than {MAX_GENERATED_NAMES} characters")
    return [total]
