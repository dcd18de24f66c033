"""The entry of all readers: whatever a file contains, a failure is one sentence."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from homodyn.errors import FormatError, HomodynError

P = ParamSpec("P")
T = TypeVar("T")

MAX_CAUSE_CHARACTERS = 300
"""Characters of the message of a library that a sentence quotes."""


MakeError = Callable[[str, str, str], HomodynError]
"""Creates an error from a message, a path and a place, as `FormatError` does."""


@contextmanager
def guarded_read(
    path: str | Path = "", what: str = "file", error_type: MakeError = FormatError
) -> Iterator[None]:
    """Convert failures of libraries and of Python inside this context to `FormatError`.

    Errors of Homodyn pass unchanged. All others mean that the content was not foreseen: nesting
    beyond the recursion limit, numbers with thousands of digits, encodings that do not exist. The
    error names the file, the kind of failure and, where it is known, the line. Numbers that
    overflow while they are scaled raise no warning; readers check their results.

    Args:
        path: The file that is read.
        what: Kind of file, for the message.
        error_type: The error to raise.

    Raises:
        FormatError: The content cannot be read; or another error by ``error_type``.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except HomodynError:
        raise
    except Exception as error:
        line = getattr(error, "lineno", None) or getattr(error, "line", None)
        place = f"line {line}" if isinstance(line, int) else ""
        raise error_type(describe_failure(error, what), str(path), place) from error


def guarded_reader(
    what: str, error_type: MakeError = FormatError
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a reader whose first path or text is the file; see `guarded_read`.

    Args:
        what: Kind of file, for the message.
        error_type: The error to raise.

    Returns:
        The decorator.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def read(*arguments: P.args, **options: P.kwargs) -> T:
            with guarded_read(_file_name(arguments, options), what, error_type):
                return function(*arguments, **options)

        return read

    return decorate


def describe_failure(error: Exception, what: str) -> str:
    """A sentence for an exception that a library raised while it read a file.

    Args:
        error: The exception.
        what: Kind of file.

    Returns:
        A sentence without a full stop.
    """
    if isinstance(error, RecursionError):
        return f"its parts are nested too deeply for a {what}"
    if isinstance(error, MemoryError):
        return f"this {what} needs more memory than there is"
    if isinstance(error, OSError):
        return f"it cannot be read: {error.strerror or type(error).__name__}"
    cause = " ".join(str(error).split())[:MAX_CAUSE_CHARACTERS]
    kind = type(error).__name__
    return f"this is not a valid {what}: {cause or 'no reason given'} ({kind})"


def _file_name(arguments: tuple[Any, ...], options: dict[str, Any]) -> str:
    """The first argument of a call that is a path or a text."""
    values = (*arguments, *options.values())
    return next((str(value) for value in values if isinstance(value, str | Path)), "")
