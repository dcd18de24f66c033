"""Text of results that are named tuples of arrays."""

from __future__ import annotations

from typing import Any

from homodyn.foundation.record import describe


def result_text(result: Any) -> str:
    """Name of the class and one line per field: shape and range of each array."""
    width = max(len(name) for name in result._fields)
    lines = [f"  {name:<{width}}  {describe(getattr(result, name))}" for name in result._fields]
    return "\n".join([type(result).__name__, *lines])
