"""Which line of a TOML text every value stands in, so that mistakes can be shown where they are."""

from __future__ import annotations

import re
import tomllib

Place = tuple[str | int, ...]

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


def line_of(text: str, place: Place) -> int:
    """The line (from 1) of the value at a place, or of the nearest thing around it."""
    lines = lines_of(text)
    while place:
        if place in lines:
            return lines[place]
        place = place[:-1]
    return 1


def lines_of(text: str) -> dict[Place, int]:
    """The lines (from 1) of all tables, keys and elements of arrays over several lines."""
    found: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    table: Place = ()
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        header, key = _HEADER.match(line), _KEY.match(line)
        if header and not key:
            table = _entered(header, counts)
            found.setdefault(table, number + 1)
        elif key:
            place = (*table, *_parts(key[1]))
            for depth in range(len(table) + 1, len(place) + 1):
                found.setdefault(place[:depth], number + 1)
            last = _last_line(lines, number)
            _mark_inside(found, place, lines[number : last + 1], key.end(), number)
            number = last
        number += 1
    return found


def _parts(text: str) -> Place:
    return tuple(part.strip("\"'") for part in _PART.findall(text))


def _entered(header: re.Match[str], counts: dict[Place, int]) -> Place:
    """The table a header opens; arrays of tables are counted, and so are those it is inside of."""
    place: Place = ()
    parts = _parts(header[2])
    for depth, part in enumerate(parts):
        place = (*place, part)
        if depth == len(parts) - 1 and header[1] == "[[":
            counts[place] = counts.get(place, -1) + 1
        if place in counts:
            place = (*place, counts[place])
    return place


def _last_line(lines: list[str], first: int) -> int:
    """Where the statement that begins in a line ends: the first line at which it can be read."""
    for last in range(first, len(lines)):
        try:
            tomllib.loads("\n".join(lines[first : last + 1]))
        except tomllib.TOMLDecodeError:
            continue
        return last
    return first


def _mark_inside(
    found: dict[Place, int], place: Place, lines: list[str], start: int, number: int
) -> None:
    """Lines of the elements of an array, and of keys of tables inside it."""
    stack: list[list[object]] = []
    here: list[str | int] = list(place)
    quote = ""
    for offset, line in enumerate(lines):
        k = start if offset == 0 else 0
        while k < len(line):
            letter = line[k]
            if quote:
                if letter == "\\" and quote == '"':
                    k += 1
                elif letter == quote:
                    quote = ""
            elif stack and stack[-1][0] == "{" and (key := _KEY.match(line, k)) and stack[-1][1]:
                here[len(place) + len(stack) - 1 :] = _parts(key[1])[:1]
                found.setdefault(tuple(here), number + offset + 1)
                stack[-1][1] = False
                k = key.end() - 1
            elif letter == "#":
                break
            elif letter in "\"'":
                quote = letter
                _element(stack, here, place, found, number + offset + 1)
            elif letter in "[{":
                _element(stack, here, place, found, number + offset + 1)
                stack.append([letter, letter == "{", -1])
            elif letter in "]}":
                stack.pop()
                del here[len(place) + len(stack) :]
            elif letter == ",":
                if stack:
                    stack[-1][1] = stack[-1][0] == "{"
                    if stack[-1][0] == "[":
                        del here[len(place) + len(stack) - 1 :]
            elif not letter.isspace():
                _element(stack, here, place, found, number + offset + 1)
            k += 1


def _element(
    stack: list[list[object]],
    here: list[str | int],
    place: Place,
    found: dict[Place, int],
    line: int,
) -> None:
    """Begin the next element of an array, unless one has begun."""
    depth = len(place) + len(stack) - 1
    if stack and stack[-1][0] == "[" and len(here) == depth:
        stack[-1][2] = int(str(stack[-1][2])) + 1
        here.append(int(str(stack[-1][2])))
        found.setdefault(tuple(here), line)
