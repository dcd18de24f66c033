"""Numbers of tasks and limits, packed into one vector per state for a compiled program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

Layout = tuple[tuple[str, int], ...]
"""Name and size of each vector, in order."""


def input_layout(inputs: Mapping[str, np.ndarray]) -> Layout:
    """Names and sizes of inputs.

    Args:
        inputs: Vectors (..., size) by name.
    """
    return tuple((name, int(values.shape[-1])) for name, values in inputs.items())


def pack_inputs(parts: Sequence[np.ndarray]) -> np.ndarray:
    """All numbers as (..., total), with the batch shapes broadcast.

    Args:
        parts: Vectors (..., size).

    Returns:
        One contiguous array.
    """
    if all(part.ndim == 1 for part in parts):
        return np.concatenate(parts)
    batch = np.broadcast_shapes(*[part.shape[:-1] for part in parts])
    return np.concatenate([np.broadcast_to(p, (*batch, p.shape[-1])) for p in parts], axis=-1)


def unpack_symbols(symbols: Any, start: int, layout: Layout) -> tuple[dict[str, Any], int]:
    """Columns of symbols by name, and where the next ones start.

    Args:
        symbols: (total,).
        start: Index of the first number.
        layout: Names and sizes.
    """
    found: dict[str, Any] = {}
    for name, size in layout:
        found[name] = symbols[start : start + size] if size else ca.SX(0, 1)
        start += size
    return found, start
