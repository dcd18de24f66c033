"""The exceptions of Homodyn: one tree; each message says what, where and what is accepted."""

from __future__ import annotations

import re

MAX_MESSAGE_BYTES = 2000
"""Size (UTF-8) above which the middle of a message is left out."""

_TERMINAL_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)
"""Control characters and marks of direction, with which a file could rewrite a terminal."""


class HomodynError(Exception):
    """Base of all exceptions of Homodyn.

    A message has at most `MAX_MESSAGE_BYTES`, whatever a file contains; the middle of a longer one
    is left out, and control characters are written as escapes such as ``\\x1b``.
    """

    def __init__(self, *arguments: object) -> None:
        if arguments and isinstance(arguments[0], str):
            arguments = (shorten_message(escape_controls(arguments[0])), *arguments[1:])
        super().__init__(*arguments)


def escape_controls(text: str) -> str:
    """A text whose control characters, except line ends and tabs, are written as escapes.

    Args:
        text: Any text, such as a name from a file.

    Returns:
        A text that a terminal shows and does not obey.
    """
    return _TERMINAL_CONTROLS.sub(lambda found: repr(found[0])[1:-1], text)


def shorten_message(message: str, max_bytes: int = MAX_MESSAGE_BYTES) -> str:
    """A message without its middle if it is too long.

    Args:
        message: Any text.
        max_bytes: Size (UTF-8) of the result, at least 100.

    Returns:
        The text, or its beginning and end with a note between them.
    """
    content = message[: 8 * max_bytes].encode("utf-8", "replace")
    if len(message) <= 8 * max_bytes and len(content) <= max_bytes:
        return content.decode("utf-8")
    end = message[-max_bytes:].encode("utf-8", "replace")
    note = f" [... {len(message)} characters in all ...] "
    room = max_bytes - len(note)
    head = content[: 3 * room // 4].decode("utf-8", "ignore")
    tail = end[-(room // 4) :].decode("utf-8", "ignore")
    return f"{head}{note}{tail}"


class ModelError(HomodynError):
    """An invalid model, or a name that a model does not have.

    Attributes:
        reasons: Every reason that was found, one sentence each.
    """

    def __init__(self, message: str, reasons: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.reasons = reasons or (message,)


class FormatError(HomodynError):
    """A file that cannot be read or written.

    Attributes:
        path: The file.
        place: Where in the file, such as ``"line 3"``; empty where that is unknown.
    """

    def __init__(self, message: str, path: str = "", place: str = "") -> None:
        where = ", ".join(part for part in (path, place) if part)
        super().__init__(f"{where}: {message}" if where else message)
        self.path = path
        self.place = place


class KernelError(HomodynError):
    """A function that cannot be traced, or a call that does not fit a kernel."""


class NetworkError(HomodynError):
    """A network that cannot be parsed or run; the message quotes the line.

    Attributes:
        message: What is wrong, without the place.
        path: The file; empty for a string.
        line: Line number from 1; 0 where that is unknown.
        column: Column from 1.
    """

    def __init__(
        self, message: str, path: str = "", line: int = 0, column: int = 0, text: str = ""
    ) -> None:
        where = f"{path or 'network'}:{line}:{column}: " if line else ""
        caret = f"\n    {text}\n    {' ' * (column - 1)}^" if line and text else ""
        super().__init__(f"{where}{message}{caret}")
        self.message = message
        self.path = path
        self.line = line
        self.column = column


class CaptureError(HomodynError):
    """A recording that cannot be processed; the message says what would help."""


class NoSolution(HomodynError):
    """A valid problem that has no solution, or for which none was found."""


class SearchError(HomodynError):
    """An invalid search.

    Attributes:
        reasons: Every reason that was found, one sentence each.
    """

    def __init__(self, message: str, reasons: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.reasons = reasons or (message,)


def located_search_error(message: str, path: str, place: str) -> SearchError:
    """A `SearchError` with its file and place, with the arguments of `FormatError`.

    Args:
        message: What is wrong.
        path: The file or database; may be empty.
        place: Where in the file; may be empty.

    Returns:
        The error.
    """
    where = ", ".join(part for part in (path, place) if part)
    return SearchError(f"{where}: {message}" if where else message)
