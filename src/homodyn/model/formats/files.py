"""Model files on the way in: sizes bounded."""

from __future__ import annotations

from pathlib import Path

from homodyn import foundation
from homodyn.foundation.files import write_bytes, write_text

__all__ = ["MAX_MODEL_BYTES", "read_bytes", "write_bytes", "write_text"]

MAX_MODEL_BYTES = 64 * 2**20


def read_bytes(path: Path, max_bytes: int | None = None) -> bytes:
    """The content of a model file; refused above `MAX_MODEL_BYTES`."""
    return foundation.read_bytes(path, max_bytes or MAX_MODEL_BYTES, "model")
