"""Text tables that are complete up to the last row at any time, also after a kill."""

from __future__ import annotations

import io
from pathlib import Path

from homodyn.errors import FormatError

COUNT_DIGITS = 10


class GrowingTable:
    """A text file with a header, possibly with the number of rows in it, that grows by rows.

    Rows are written to the operating system at once. The number of rows follows each row: if the
    process ends in between, the last row is beyond the number, and all rows before it are valid.

    Args:
        path: The file; an existing one is replaced.
        header: Text before the rows; ``{rows}`` in it is replaced by the number of rows.

    Raises:
        FormatError: The file cannot be written.
    """

    def __init__(self, path: Path, header: str) -> None:
        self.path = path
        self.rows = 0
        before, mark, after = header.partition("{rows}")
        self._count_place = len(before.encode("utf-8")) if mark else None
        text = before + (_count(0) if mark else "") + after
        self._file: io.FileIO | None = None
        try:
            self._file = io.FileIO(path, "w")
            self._write(text.encode("utf-8"))
        except OSError as error:
            raise FormatError(f"it cannot be written: {error.strerror}", str(path)) from error

    def append(self, row: str) -> None:
        """Add a row.

        Args:
            row: Text of the row without the end of the line.

        Raises:
            FormatError: The disk is full, or the table is closed.
        """
        if self._file is None:
            raise FormatError("the table is closed", str(self.path))
        try:
            self._write(row.encode("utf-8") + b"\n")
            self.rows += 1
            if self._count_place is not None:
                self._file.seek(self._count_place)
                self._write(_count(self.rows).encode("ascii"))
                self._file.seek(0, io.SEEK_END)
        except OSError as error:
            raise FormatError(f"it cannot be written: {error.strerror}", str(self.path)) from error

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, content: bytes) -> None:
        """Write all bytes; the system may take them in parts."""
        assert self._file is not None
        while content:
            content = content[self._file.write(content) or 0 :]


def _count(rows: int) -> str:
    return f"{rows:<{COUNT_DIGITS}d}"
