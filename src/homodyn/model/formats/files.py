"""Reading and writing of model files, with a limit of their size."""

from __future__ import annotations

from pathlib import Path

from homodyn import foundation
from homodyn.foundation.files import write_bytes, write_text

__all__ = ["MAX_MODEL_BYTES", "read_bytes", "write_bytes", "write_text"]

MAX_MODEL_BYTES = 64 * 2**20
"""Size above which a file is refused."""


def read_bytes(path: Path, max_bytes: int | None = None) -> bytes:
    """The content of a model file.

    Args:
        path: The file.
        max_bytes: Size above which it is refused; `MAX_MODEL_BYTES` by default.

    Returns:
        Its bytes.

    Raises:
        FormatError: The file is missing or too large.
    """
    return foundation.read_bytes(path, max_bytes or MAX_MODEL_BYTES, "model")
