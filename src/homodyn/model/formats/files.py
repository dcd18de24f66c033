"""Files on the way in and out: sizes bounded, nothing half written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from homodyn.errors import FormatError

LARGEST = 64 * 2**20
"""Bytes above which a model file is refused."""


def read_bytes(path: Path, largest: int | None = None) -> bytes:
    """The content of a model file, or an error that says why there is none."""
    largest = LARGEST if largest is None else largest
    try:
        if path.is_dir():
            raise FormatError("this is a folder; give a file", str(path))
        size = path.stat().st_size
        if size > largest:
            raise FormatError(
                f"{size / 2**20:.0f} MB is too large for a model; up to {largest // 2**20} MB",
                str(path),
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise FormatError("there is no such file", str(path)) from None
    except OSError as error:
        raise FormatError(f"it cannot be read: {error.strerror}", str(path)) from error


def write_bytes(path: Path, content: bytes) -> None:
    """Write beside and then rename, so that no reader ever meets half a file."""
    try:
        handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise FormatError(f"it cannot be written: {error.strerror}", str(path)) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        mode = path.stat().st_mode if path.exists() else 0o666 & ~_umask()
        os.chmod(beside, mode & 0o777)
        os.replace(beside, path)
    except OSError as error:
        Path(beside).unlink(missing_ok=True)
        raise FormatError(f"it cannot be written: {error.strerror}", str(path)) from error


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8, beside and then renamed."""
    try:
        content = text.encode("utf-8")
    except UnicodeError as error:
        raise FormatError(f"it cannot be written: {error}", str(path)) from error
    write_bytes(path, content)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
