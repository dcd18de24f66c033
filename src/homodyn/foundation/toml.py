"""TOML with line numbers, so that a message can point at the line of a mistake."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from homodyn.errors import FormatError
from homodyn.foundation.files import read_bytes
from homodyn.foundation.guarded_read import describe_failure

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
    text: str = field(repr=False)
    content: dict[str, Any] = field(repr=False)

    @cached_property
    def lines(self) -> dict[Place, int]:
        """Line numbers, from 1, of all tables, keys and elements of arrays."""
        return line_numbers(self.text)

    def line(self, *place: str | int) -> int:
        """Line number, from 1, of a value, or of the innermost table around it.

        Args:
            *place: Keys and indices that lead to the value.

        Returns:
            The line number; 1 for a place outside all tables.
        """
        while place:
            if place in self.lines:
                return self.lines[place]
            place = place[:-1]
        return 1

    def error(self, message: str, *place: str | int) -> FormatError:
        """Create an error that names the file, the line and the key.

        Args:
            message: What is wrong.
            *place: Keys and indices that lead to the value.

        Returns:
            The error, to be raised.
        """
        where = ".".join(str(part) for part in place)
        return FormatError(message, self.path, f"line {self.line(*place)}, {where}".rstrip(", "))


def parse_toml(text: str, path: str | Path = "") -> TomlDocument:
    """Parse TOML text.

    Args:
        text: The text.
        path: File that it came from, for messages.

    Returns:
        Its content with line numbers.

    Raises:
        FormatError: The text is not TOML.
    """
    try:
        return TomlDocument(str(path), text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"this is not TOML: {error}", str(path)) from None
    except (RecursionError, ValueError) as error:
        # Deep nesting, and integers with more digits than Python converts.
        raise FormatError(describe_failure(error, "TOML file"), str(path)) from error


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
    except UnicodeDecodeError:
        raise FormatError("this is not UTF-8 text", str(path)) from None
    return parse_toml(text, path)


def line_numbers(text: str) -> dict[Place, int]:
    """Line numbers, from 1, of all tables, keys and elements of arrays of a TOML text."""
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
            _ElementScanner(found, place).scan(lines[number : last + 1], key.end(), number)
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
        except (ValueError, RecursionError):
            continue
        return last
    return first


@dataclass
class _Bracket:
    """An open array or inline table."""

    is_table: bool
    expects_key: bool
    index: int = -1
    """Index of the current element of an array."""


class _ElementScanner:
    """Finds the lines of the elements of an array, and of the keys of tables inside it."""

    def __init__(self, found: dict[Place, int], place: Place) -> None:
        self.found, self.depth = found, len(place)
        self.here: list[str | int] = list(place)
        self.stack: list[_Bracket] = []

    def scan(self, lines: list[str], start: int, number: int) -> None:
        """Scan the lines of a value from a column of the first line, which has an index."""
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
                elif letter == "#":
                    break
                elif self._expects_key() and (key := _KEY.match(line, k)):
                    self._begin_key(_parts(key[1])[0], number + offset + 1)
                    k = key.end() - 1
                else:
                    quote = letter if letter in "\"'" else ""
                    self._read(letter, number + offset + 1)
                k += 1

    def _expects_key(self) -> bool:
        return bool(self.stack) and self.stack[-1].expects_key

    def _begin_key(self, key: str | int, line: int) -> None:
        self.here[self.depth + len(self.stack) - 1 :] = [key]
        self.found.setdefault(tuple(self.here), line)
        self.stack[-1].expects_key = False

    def _read(self, letter: str, line: int) -> None:
        """Process one character outside strings and keys."""
        if letter in "[{":
            self._begin_element(line)
            self.stack.append(_Bracket(letter == "{", letter == "{"))
        elif letter in "]}":
            self.stack.pop()
            del self.here[self.depth + len(self.stack) :]
        elif letter == ",":
            if self.stack:
                self.stack[-1].expects_key = self.stack[-1].is_table
                if not self.stack[-1].is_table:
                    del self.here[self.depth + len(self.stack) - 1 :]
        elif not letter.isspace():
            self._begin_element(line)

    def _begin_element(self, line: int) -> None:
        """Begin the next element of an array, unless one is open."""
        open_array = bool(self.stack) and not self.stack[-1].is_table
        if open_array and len(self.here) == self.depth + len(self.stack) - 1:
            self.stack[-1].index += 1
            self.here.append(self.stack[-1].index)
            self.found.setdefault(tuple(self.here), line)
