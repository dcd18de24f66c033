"""Read-only arrays of frozen records."""

from __future__ import annotations

import numpy as np

from homodyn.errors import CaptureError


def settle(
    record: object, name: str, shape: tuple[int, ...], where: str, dtype: type = float
) -> None:
    """Make one array of a frozen record read-only and of the shape it must have."""
    array: np.ndarray = np.array(getattr(record, name), dtype=dtype)
    if array.shape != shape:
        raise CaptureError(f"{where}: {name} has shape {array.shape}, {shape} is expected")
    array.flags.writeable = False
    object.__setattr__(record, name, array)
