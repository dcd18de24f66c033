"""File formats of recordings and tables: the interface to implement one, and the registry."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from homodyn.capture.table import Table
from homodyn.capture.trial import Trial
from homodyn.errors import FormatError
from homodyn.foundation.record import Record, record


@record
class ReadOptions(Record):
    """Options of `homodyn.capture.read` that a format receives."""

    up: str | None = None
    """Axis of the file that points up (``"y"``, ``"-z"``); None: the format decides."""
    columns: Mapping[str, Any] | str | Path | None = None
    """Column map, for formats that set ``accepts_columns``."""
    partial: bool = False
    """Read what is there when the file is truncated, instead of refusing it."""


class FileFormat:
    """A file format of recordings or tables, chosen by the extension of the file.

    Derive from it, set ``extensions``, override the methods that the format supports, and pass an
    instance to `register_format`. `homodyn.capture.read`, `write`, `read_table` and `write_table`
    then accept the extension. Methods that are not overridden are refused with a message that lists
    the extensions which support them.

    Contract: trials are in metres, seconds and newtons, Z up, NaN where a marker was not seen.
    A method raises `FormatError` for a file that it cannot read and leaves no partial file behind.
    """

    extensions: ClassVar[tuple[str, ...]] = ()
    """Extensions in lower case, with the dot: ``(".c3d",)``."""
    accepts_columns: ClassVar[bool] = False
    """Whether `read_trial` uses ``options.columns``."""
    needs_markers: ClassVar[bool] = False
    """Whether `write_trial` needs at least one marker."""

    def read_trial(self, path: Path, options: ReadOptions) -> Trial:
        """Read a recording.

        Args:
            path: The file.
            options: What the caller of `homodyn.capture.read` asked for.

        Returns:
            The trial.

        Raises:
            FormatError: The file is damaged, or the format holds no recordings.
        """
        raise FormatError("this format holds no recordings", str(path))

    def write_trial(self, trial: Trial, path: Path) -> None:
        """Write a recording.

        Args:
            trial: The recording.
            path: The file.

        Raises:
            FormatError: The format cannot express the recording.
        """
        raise FormatError("this format holds no recordings", str(path))

    def read_table(self, path: Path) -> Table:
        """Read named columns over time.

        Args:
            path: The file.

        Returns:
            The table, in the units of the file.

        Raises:
            FormatError: The file is damaged, or the format holds no tables.
        """
        raise FormatError("this format holds no tables", str(path))

    def write_table(self, table: Table, path: Path) -> None:
        """Write named columns over time.

        Args:
            table: The table.
            path: The file.

        Raises:
            FormatError: The format cannot express the table.
        """
        raise FormatError("this format holds no tables", str(path))

    def supports(self, method: str) -> bool:
        """Whether the format overrides one of the four methods.

        Args:
            method: ``"read_trial"``, ``"write_trial"``, ``"read_table"`` or ``"write_table"``.

        Returns:
            True where it does.
        """
        return getattr(type(self), method) is not getattr(FileFormat, method)


_FORMATS: dict[str, FileFormat] = {}
"""Registered formats by extension."""


def register_format(file_format: FileFormat) -> None:
    """Make a format available to `read`, `write`, `read_table` and `write_table`.

    A later registration of the same extension replaces the earlier one.

    Args:
        file_format: An instance of a class derived from `FileFormat`.

    Raises:
        FormatError: The format names no extension, or one without a dot or in capitals.
    """
    if not file_format.extensions:
        raise FormatError(f"{type(file_format).__name__} names no extension, such as ('.c3d',)")
    for extension in file_format.extensions:
        if not extension.startswith(".") or extension != extension.lower():
            raise FormatError(
                f"extension {extension!r} of {type(file_format).__name__} must begin with a dot "
                "and be in lower case"
            )
    for extension in file_format.extensions:
        _FORMATS[extension] = file_format


def registered_formats() -> Mapping[str, FileFormat]:
    """All registered formats.

    Returns:
        Formats by extension.
    """
    return dict(_FORMATS)


def format_for(path: Path, method: str, refusal: str) -> FileFormat:
    """The format of a file that supports a method; ``refusal`` begins the message if none does."""
    found = _FORMATS.get(path.suffix.lower())
    if found is None or not found.supports(method):
        accepted = [name for name, one in _FORMATS.items() if one.supports(method)]
        raise FormatError(f"{refusal} {path.suffix!r}; accepted: {', '.join(accepted)}", str(path))
    return found
