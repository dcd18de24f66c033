"""Content of recording files, with a limit of size and messages for unreadable files."""

from __future__ import annotations

from pathlib import Path

from homodyn.errors import FormatError
from homodyn.foundation import files

MAX_FILE_BYTES = 4 * 2**30
"""Largest size of a recording: an hour of recording is smaller."""


def read_bytes(path: Path) -> bytes:
    """The content of a recording.

    Raises:
        FormatError: It does not exist, is a folder, is too large, is empty or cannot be read.
    """
    content = files.read_bytes(path, MAX_FILE_BYTES, "recording")
    if not content:
        raise FormatError("the file is empty (0 bytes); export or copy it again", str(path))
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
