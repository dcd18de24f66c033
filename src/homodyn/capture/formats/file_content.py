"""Recordings on the way in: sizes bounded, and a sentence where there is nothing to read."""

from __future__ import annotations

from pathlib import Path

from homodyn.errors import FormatError

MAX_FILE_BYTES = 4 * 2**30
"""Bytes above which a recording is refused: an hour of a busy laboratory is less."""


def read_bytes(path: Path) -> bytes:
    """The content of a recording, or an error that says why there is none."""
    try:
        if path.is_dir():
            raise FormatError("this is a folder; give a file of it", str(path))
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise FormatError(
                f"{size / 2**30:.1f} GB is too large; cut the recording into files of up to "
                f"{MAX_FILE_BYTES // 2**30} GB",
                str(path),
            )
        content = path.read_bytes()
    except FileNotFoundError:
        raise FormatError("there is no such file", str(path)) from None
    except OSError as error:
        raise FormatError(f"it cannot be read: {error.strerror}", str(path)) from error
    if not content:
        raise FormatError("the file is empty (0 bytes); export or copy it again", str(path))
    return content


def read_text(path: Path) -> str:
    """The content of a table as text; what is not UTF-8 is taken as Latin-1."""
    content = read_bytes(path)
    if b"\x00" in content[:4096]:
        raise FormatError(
            "this is no text; a table of numbers is expected (is it a C3D file of another name?)",
            str(path),
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
