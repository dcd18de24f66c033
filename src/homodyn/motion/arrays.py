"""Validated, read-only arrays of records."""

from __future__ import annotations

import numpy as np

from homodyn.errors import CaptureError


def checked_array(
    record: object, name: str, shape: tuple[int, ...], where: str, dtype: type = float
) -> None:
    """Replace an array of a frozen record by a read-only copy of the required type and shape.

    Args:
        record: The record.
        name: Name of the field.
        shape: The required shape.
        where: Description of the record in messages.
        dtype: Type of the entries.

    Raises:
        CaptureError: The array has another shape.
    """
    array: np.ndarray = np.array(getattr(record, name), dtype=dtype)
    if array.shape != shape:
        raise CaptureError(f"{where}: {name} has shape {array.shape}, {shape} is expected")
    array.flags.writeable = False
    object.__setattr__(record, name, array)
