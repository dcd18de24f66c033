"""File formats of recordings and tables: the interface to implement one, and the registry."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from homodyn.capture.table import Table
from homodyn.capture.trial import Trial
from homodyn.errors import FormatError
from homodyn.foundation.file_formats import FileFormat, FormatRegistry, optional_method
from homodyn.foundation.record import Record, record


@record
class ReadOptions(Record):
    """Options of `homodyn.capture.read` that a format receives."""

    up: str | None = None
    """Axis of the file that points up (``"y"``, ``"-z"``); None: the format decides."""
    columns: Mapping[str, Any] | str | Path | None = None
    """Column map, for formats that set ``accepts_columns``."""
    partial: bool = False
    """Read the complete frames of a truncated file, instead of refusing it."""


class RecordingFormat(FileFormat):
    """A file format of recordings or tables, chosen by the extension of the file.

    Derive from it, set ``extensions``, override the methods that the format supports, and pass an
    instance to `register_format`. `homodyn.capture.read`, `write`, `read_table` and `write_table`
    then accept the extension. Methods that are not overridden are refused with a message that lists
    the extensions which support them.

    Contract:

    - Trials are in meters, seconds and newtons, Z up, with NaN where a marker was not seen. Tables
      keep the units of the file.
    - A reader gets the path of an existing file. It raises `FormatError` for a file that it cannot
      read, with what is wrong and what would be accepted, and returns no NaN for damaged numbers.
    - A writer replaces the file completely or not at all: `homodyn.foundation.atomic_file` and
      `write_text` do this. It raises `FormatError` for what the format cannot express.
    - Decisions and omissions are listed in ``Trial.notes``.
    """

    accepts_columns: ClassVar[bool] = False
    """Whether `read_trial` uses ``options.columns``."""
    needs_markers: ClassVar[bool] = False
    """Whether `write_trial` needs at least one marker."""

    @optional_method
    def read_trial(self, path: Path, options: ReadOptions) -> Trial:
        """Read a recording.

        Args:
            path: The file.
            options: The arguments of `homodyn.capture.read`.

        Returns:
            The trial.

        Raises:
            FormatError: The file is damaged, or the format does not store recordings.
        """
        raise FormatError("this format does not store recordings", str(path))

    @optional_method
    def write_trial(self, trial: Trial, path: Path) -> None:
        """Write a recording.

        Args:
            trial: The recording.
            path: The file.

        Raises:
            FormatError: The format cannot express the recording.
        """
        raise FormatError("this format does not store recordings", str(path))

    @optional_method
    def read_table(self, path: Path) -> Table:
        """Read named columns over time.

        Args:
            path: The file.

        Returns:
            The table, in the units of the file.

        Raises:
            FormatError: The file is damaged, or the format does not store tables.
        """
        raise FormatError("this format does not store tables", str(path))

    def read_partial_table(self, path: Path) -> Table:
        """Read the complete rows of a table whose header states more; by default as `read_table`.

        Args:
            path: The file.

        Returns:
            The table, with a note of both numbers where rows are missing.

        Raises:
            FormatError: The file is damaged in another way.
        """
        return self.read_table(path)

    @optional_method
    def write_table(self, table: Table, path: Path) -> None:
        """Write named columns over time.

        Args:
            table: The table.
            path: The file.

        Raises:
            FormatError: The format cannot express the table.
        """
        raise FormatError("this format does not store tables", str(path))


_REGISTRY: FormatRegistry[RecordingFormat] = FormatRegistry((".c3d",))


def register_format(file_format: RecordingFormat) -> None:
    """Make a format available to `read`, `write`, `read_table` and `write_table`.

    A later registration of the same extension replaces the earlier one.

    Args:
        file_format: An instance of a class derived from `RecordingFormat`.

    Raises:
        FormatError: The format has no extension, or one without a dot or in upper case.
    """
    _REGISTRY.register(file_format)


def registered_formats() -> Mapping[str, RecordingFormat]:
    """All registered formats.

    Returns:
        Formats by extension.
    """
    return _REGISTRY.by_extension()


def format_for(path: Path, method: str, refusal: str) -> RecordingFormat:
    """The format of a file, if it supports a method.

    Args:
        path: The file.
        method: Name of a method of `RecordingFormat`.
        refusal: Beginning of the message if no format does.

    Raises:
        FormatError: No format supports it, or the file to read does not exist.
    """
    found = _REGISTRY.find(path, method, refusal)
    if method.startswith("read") and not path.exists():
        raise FormatError("there is no such file", str(path))
    return found
