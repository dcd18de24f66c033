"""Quantities as a person reads them."""

from __future__ import annotations


def file_size(size: int) -> str:
    """Return a number of bytes in decimal units, as file managers show it."""
    if size < 1000:
        return f"{size} B"
    amount = float(size)
    for unit in ("kB", "MB", "GB"):
        amount /= 1000
        if amount < 999.95:
            return f"{amount:.1f} {unit}"
    return f"{amount / 1000:.1f} TB"
