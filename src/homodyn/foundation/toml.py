"""TOML with line numbers, so that a message can point at the line of a mistake."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from homodyn.errors import FormatError
from homodyn.foundation.files import read_bytes

Place = tuple[str | int, ...]
"""Keys and indices that lead to a value: ``("support", 0, "name")``."""

MAX_TOML_BYTES = 64 * 2**20

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


@dataclass(frozen=True)
class TomlDocument:
    """A parsed TOML file that knows the line of each of its values."""

    path: str
    text: str
    content: dict[str, Any]

    @cached_property
    def lines(self) -> dict[Place, int]:
        """Lines, from 1, of all tables, keys and elements of arrays."""
        return line_numbers(self.text)

    def line(self, *place: str | int) -> int:
        """The line, from 1, of a value, or of the nearest table around it."""
        while place:
            if place in self.lines:
                return self.lines[place]
            place = place[:-1]
        return 1

    def error(self, message: str, *place: str | int) -> FormatError:
        """An error that names the file, the line and the key."""
        where = ".".join(str(part) for part in place)
        return FormatError(message, self.path, f"line {self.line(*place)}, {where}".rstrip(", "))


def read_toml(path: str | Path, max_bytes: int = MAX_TOML_BYTES) -> TomlDocument:
    """Read and parse a TOML file.

    Args:
        path: The file.
        max_bytes: Size above which it is refused.

    Returns:
        Its content with line numbers.

    Raises:
        FormatError: The file cannot be read, is not UTF-8, or is not TOML.
    """
    try:
        text = read_bytes(Path(path), max_bytes, "TOML file").decode("utf-8")
        return TomlDocument(str(path), text, tomllib.loads(text))
    except UnicodeDecodeError:
        raise FormatError("this is not UTF-8 text", str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"this is not TOML: {error}", str(path)) from None


def line_number(text: str, place: Place) -> int:
    """The line, from 1, of the value at a place, or of the nearest table around it."""
    lines = line_numbers(text)
    while place:
        if place in lines:
            return lines[place]
        place = place[:-1]
    return 1


def line_numbers(text: str) -> dict[Place, int]:
    """The lines, from 1, of all tables, keys and elements of arrays over several lines."""
    found: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    table: Place = ()
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        header, key = _HEADER.match(line), _KEY.match(line)
        if header and not key:
            table = _open_table(header, counts)
            found.setdefault(table, number + 1)
        elif key:
            place = (*table, *_parts(key[1]))
            for depth in range(len(table) + 1, len(place) + 1):
                found.setdefault(place[:depth], number + 1)
            last = _last_line(lines, number)
            _mark_elements(found, place, lines[number : last + 1], key.end(), number)
            number = last
        number += 1
    return found


def _parts(text: str) -> Place:
    return tuple(part.strip("\"'") for part in _PART.findall(text))


def _open_table(header: re.Match[str], counts: dict[Place, int]) -> Place:
    """The table that a header opens; arrays of tables are numbered, enclosing ones too."""
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
    """The last line of the statement that begins in a line: the first at which it parses."""
    for last in range(first, len(lines)):
        try:
            tomllib.loads("\n".join(lines[first : last + 1]))
        except tomllib.TOMLDecodeError:
            continue
        return last
    return first


def _mark_elements(
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
                _begin_element(stack, here, place, found, number + offset + 1)
            elif letter in "[{":
                _begin_element(stack, here, place, found, number + offset + 1)
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
                _begin_element(stack, here, place, found, number + offset + 1)
            k += 1


def _begin_element(
    stack: list[list[object]],
    here: list[str | int],
    place: Place,
    found: dict[Place, int],
    line: int,
) -> None:
    """Begin the next element of an array, unless one is open."""
    depth = len(place) + len(stack) - 1
    if stack and stack[-1][0] == "[" and len(here) == depth:
        stack[-1][2] = int(str(stack[-1][2])) + 1
        here.append(int(str(stack[-1][2])))
        found.setdefault(tuple(here), line)
