"""Checked, read-only arrays of records."""

from __future__ import annotations

import numpy as np

from homodyn.errors import CaptureError


def checked_array(
    record: object, name: str, shape: tuple[int, ...], where: str, dtype: type = float
) -> None:
    """Replace one array of a frozen record by a read-only copy of the type and shape it must have.

    Args:
        record: The record.
        name: Name of the field.
        shape: The shape that the array must have.
        where: What the record is, for the message.
        dtype: Type of the entries.

    Raises:
        CaptureError: The array has another shape.
    """
    array: np.ndarray = np.array(getattr(record, name), dtype=dtype)
    if array.shape != shape:
        raise CaptureError(f"{where}: {name} has shape {array.shape}, {shape} is expected")
    array.flags.writeable = False
    object.__setattr__(record, name, array)
