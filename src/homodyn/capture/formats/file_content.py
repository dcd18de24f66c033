"""Content of recording files, with a limit of size and messages for unreadable files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from homodyn.errors import FormatError
from homodyn.foundation import files

MAX_FILE_BYTES = 4 * 2**30
"""Largest size of a recording: an hour of recording is smaller."""


class FileSlices:
    """The bytes of an open file, read where they are sliced, as those of a ``memoryview``.

    Args:
        file: The file, opened for reading bytes.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> bytes:
        start, stop, _ = part.indices(self._size)
        self._file.seek(start)
        return self._file.read(max(stop - start, 0))


@contextmanager
def open_slices(path: Path) -> Iterator[FileSlices]:
    """Open a recording without reading all of it.

    Args:
        path: The file.

    Yields:
        Its bytes by slices.

    Raises:
        FormatError: As `read_bytes`.
    """
    files.check_readable(path, MAX_FILE_BYTES, "recording")
    try:
        with path.open("rb") as file:
            slices = FileSlices(file)
            if not len(slices):
                raise _empty_error(path)
            yield slices
    except OSError as error:
        raise FormatError(f"it cannot be read: {error.strerror}", str(path)) from error


def _empty_error(path: Path) -> FormatError:
    return FormatError("the file is empty (0 bytes); export or copy it again", str(path))


def read_bytes(path: Path) -> bytes:
    """The content of a recording.

    Raises:
        FormatError: It does not exist, is a folder, is too large, is empty or cannot be read.
    """
    content = files.read_bytes(path, MAX_FILE_BYTES, "recording")
    if not content:
        raise _empty_error(path)
    return content


def read_text(path: Path) -> str:
    """The content of a text file; bytes that are not UTF-8 are read as Latin-1.

    Raises:
        FormatError: As `read_bytes`, or the file is binary.
    """
    content = read_bytes(path)
    if b"\x00" in content[:4096]:
        raise FormatError(
            "this is a binary file; a text file is expected (is it a C3D file with another name?)",
            str(path),
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
