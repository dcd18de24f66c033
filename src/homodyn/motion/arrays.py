"""Validated, read-only arrays of records."""

from __future__ import annotations

import weakref

import numpy as np

from homodyn.errors import CaptureError

_OWNED_ARRAYS: weakref.WeakValueDictionary[int, np.ndarray] = weakref.WeakValueDictionary()
"""Arrays of records, by id: nothing outside can write to their memory."""


def transfer_ownership(array: np.ndarray) -> np.ndarray:
    """Make a new array read-only and let records take it without a copy.

    Only for an array that the caller has created and of which there is no other view: a writeable
    view, even of an array that is read-only itself, changes the record. The flags of an array do
    not show whether such views exist, so records copy every other array.

    Args:
        array: The array.

    Returns:
        The same array, read-only; a copy if it is a view of another array.
    """
    if array.base is not None:
        array = array.copy()
    array.flags.writeable = False
    _OWNED_ARRAYS[id(array)] = array
    return array


def checked_array(
    record: object, name: str, shape: tuple[int, ...], where: str, dtype: type = float
) -> None:
    """Replace an array of a frozen record by a read-only copy of the required type and shape.

    Arrays of other records, and those of `transfer_ownership`, are not copied.

    Args:
        record: The record.
        name: Name of the field.
        shape: The required shape.
        where: Description of the record in messages.
        dtype: Type of the entries.

    Raises:
        CaptureError: The array has another shape.
    """
    given = getattr(record, name)
    owned = _OWNED_ARRAYS.get(id(given))
    is_owned = owned is not None and owned is given and not owned.flags.writeable
    array: np.ndarray = np.array(given, dtype=dtype, copy=None if is_owned else True)
    if array.shape != shape:
        raise CaptureError(f"{where}: {name} has shape {array.shape}, {shape} is expected")
    object.__setattr__(record, name, transfer_ownership(array))
