"""What ``--json`` prints: one JSON object on stdout, whatever happens.

- stdout has exactly one JSON object; progress, notes and warnings go to stderr.
- On success the exit code is 0 and the object has no key ``error``.
- On failure the exit code is not 0 and the object has the key ``error`` with one sentence. Results
  that exist nevertheless, such as the findings of a check, are beside it.
- Numbers are finite: null stands for NaN, "inf" and "-inf" for infinities.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NoReturn, TextIO

import typer

from homodyn.foundation import plain_data

JSON_OPTION = "--json"
_TEXT_OPTIONS = {"-h", "--help", "-v", "--version"}
"""Options that print text for people even beside ``--json``."""


@dataclass
class JsonStream:
    """Where the JSON object of a command goes, and whether it was printed."""

    stream: TextIO
    printed: bool = False


_current: ContextVar[JsonStream | None] = ContextVar("json_stream", default=None)


def wants_json(words: Sequence[str]) -> bool:
    """Whether the words of a command line ask for JSON."""
    options = words[: words.index("--")] if "--" in words else words
    return JSON_OPTION in options and not _TEXT_OPTIONS.intersection(options)


def is_json_requested() -> bool:
    """Whether the running command line has ``--json``."""
    return _current.get() is not None


@contextmanager
def json_stdout() -> Iterator[JsonStream]:
    """Reserve stdout for one JSON object; other output goes to stderr.

    Yields:
        The stream of the object.
    """
    reserved = JsonStream(sys.stdout)
    token = _current.set(reserved)
    try:
        with redirect_stdout(sys.stderr):
            yield reserved
    finally:
        _current.reset(token)


def print_json(data: Mapping[str, Any]) -> None:
    """Print the result of a command as one JSON object; a second object is not printed.

    Args:
        data: The result; records, arrays, enums and paths become plain data.
    """
    reserved = _current.get() or JsonStream(sys.stdout)
    if not reserved.printed:
        text = json.dumps(plain_data(data), indent=2, allow_nan=False)
        reserved.stream.write(text + "\n")
        reserved.stream.flush()
    reserved.printed = True


def fail_with_json(data: Mapping[str, Any], error: str) -> NoReturn:
    """Print a result together with the reason why the command fails, and end with exit code 1.

    Args:
        data: The result.
        error: One sentence.

    Raises:
        typer.Exit: Always.
    """
    print_json({**data, "error": error})
    raise typer.Exit(1)
