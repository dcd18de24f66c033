"""Poses from CSV files: the header names coordinates, each row is a pose."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from homodyn.errors import FormatError
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.foundation.text import unknown_name
from homodyn.model.formats.files import read_bytes
from homodyn.model.model import Model

TIME_COLUMNS = ("time", "t")
"""Names of a time column, which is skipped."""


@guarded_reader("pose")
def read_pose(model: Model, path: str | Path, *, row: int = 0) -> np.ndarray:
    """Read one pose from a CSV file whose header names coordinates.

    Coordinates without a column have their default; the three of a quaternion are a rotation
    vector.

    Args:
        model: The model.
        path: The file; angles in rad, distances in m.
        row: Row below the header, from 0.

    Returns:
        Positions, (nq,).

    Raises:
        FormatError: The file is missing or malformed, or has no such row.
    """
    path = Path(path)
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError("this is not a text file", str(path)) from None
    lines = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise FormatError("the file is empty; a header with coordinate names is needed", str(path))
    header, *rows = ([entry.strip() for entry in _entries(line)] for _, line in lines)
    known = (*model.coordinate_names, *TIME_COLUMNS)
    for name in header:
        if name not in known:
            raise FormatError(
                f"there is {unknown_name('coordinate', name, known)}", str(path), "header"
            )
        if header.count(name) > 1:
            raise FormatError(f"the column {name!r} occurs twice", str(path), "header")
    if not 0 <= row < len(rows):
        has = f"rows 0 to {len(rows) - 1}" if rows else "no row below its header"
        raise FormatError(f"there is no row {row}; the file has {has}", str(path))
    place = f"line {lines[row + 1][0]}"
    if len(rows[row]) != len(header):
        raise FormatError(f"{len(rows[row])} entries for {len(header)} columns", str(path), place)
    values = {}
    for name, entry in zip(header, rows[row], strict=True):
        if name in TIME_COLUMNS:
            continue
        try:
            values[name] = float(entry)
        except ValueError:
            values[name] = np.nan
        if not np.isfinite(values[name]):
            raise FormatError(
                f"{name!r} must be a number (rad or m), got {entry!r}", str(path), place
            )
    return model.pose(values)


def _entries(line: str) -> list[str]:
    return next(csv.reader([line]))
