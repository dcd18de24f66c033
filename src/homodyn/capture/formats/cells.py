"""Rows of numbers in text: blank cells, words for missing values, decimal commas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.errors import FormatError
from homodyn.foundation.text import count_of

MAX_MAGNITUDE = 1e20
"""Magnitude above which a number is a code for a missing value: Optotrak writes -3.6973E+028."""

MAX_COMPARED_ROWS = 20
"""Rows before the last one that show how many decimals its numbers should have."""

_MISSING_WORDS = {
    "",
    "nan",
    "-nan",
    "na",
    "n/a",
    "null",
    "none",
    "-",
    "?",
    "inf",
    "-inf",
    "1.#qnan",
    "-1.#ind",
}


def find_delimiter(line: str) -> str | None:
    """The first of tab, semicolon and comma that occurs in the line; None for blanks."""
    return next((mark for mark in ("\t", ";", ",") if mark in line), None)


@dataclass(frozen=True)
class FileEnd:
    """What the end of a text says about the last row of its table."""

    is_cut: bool = False
    """Whether the last row was surely cut: it has fewer cells or decimals than all others."""
    note: str = ""
    """A sentence where the row may have been cut, because its line does not end."""


def inspect_end(text: str, rows: Sequence[str], delimiter: str | None) -> FileEnd:
    """Find out whether the last row of a table was cut.

    A program that writes a table ends its last line. Where the line end is missing, the last number
    may have lost digits: 177 instead of 1776.27.

    Args:
        text: The whole file.
        rows: The rows of the table.
        delimiter: Separator of cells; None for blanks.

    Returns:
        Whether the row was cut, and a note where that is not known.
    """
    if not rows or text.endswith(("\n", "\r")):
        return FileEnd()
    last = rows[-1].split(delimiter)
    others = [row.split(delimiter) for row in rows[-1 - MAX_COMPARED_ROWS : -1]]
    if others and len(last) < min(map(len, others)):
        return FileEnd(is_cut=True)
    decimals = {_decimals(row[len(last) - 1]) for row in others if len(row) >= len(last)}
    if decimals and _decimals(last[-1]) < min(decimals):
        return FileEnd(is_cut=True)
    return FileEnd(
        note="the last line does not end: if the file was cut, its last number is incomplete"
    )


def _decimals(cell: str) -> int:
    """Number of characters after the decimal mark, exponent included."""
    return len(cell.strip().replace(",", ".").partition(".")[2])


CUT_ROW_MESSAGE = (
    "the file is truncated: its last row ends in the middle; export it again, or read the complete "
    "rows: homodyn analyze --lenient, in Python partial=True"
)


def parse_rows(
    lines: Sequence[str],
    columns: int,
    delimiter: str | None,
    path: str,
    first: int = 1,
    *,
    blank_end: bool = False,
) -> np.ndarray:
    """(rows, columns) of numbers, NaN where a cell is blank.

    A comma that does not separate cells is a decimal comma. Infinite numbers are blank, as the
    words ``inf`` and ``nan`` are.

    Args:
        lines: The rows.
        columns: Number of columns.
        delimiter: Separator of cells; None for blanks.
        path: The file, for messages.
        first: Line number of the first row, for messages.
        blank_end: Whether blank cells at the end of a row may be left out; otherwise a short row is
            refused, since the file may be truncated.

    Raises:
        FormatError: A row has a wrong number of cells, or a cell is not a number.
    """
    if delimiter != ",":
        lines = [line.replace(",", ".") for line in lines]
    cells = [line.split(delimiter) for line in lines]
    for row in cells:
        while len(row) > columns and not row[-1].strip():
            row.pop()
    if all(len(row) == columns for row in cells):
        # Most files have a number in every cell: the table is converted in one call.
        try:
            return _without_infinities(np.array(cells, dtype=float).reshape(len(cells), columns))
        except ValueError:
            pass
    table = np.full((len(lines), columns), np.nan)
    for number, row in enumerate(cells):
        if len(row) > columns or (len(row) < columns and not blank_end):
            raise FormatError(
                f"{count_of(len(row), 'cell')}, {columns} are expected; is the file truncated, or "
                "is its decimal mark a comma?",
                path,
                f"line {first + number}",
            )
        for column, cell in enumerate(row):
            table[number, column] = _number(cell.strip(), path, first + number, column + 1)
    return _without_infinities(table)


def _without_infinities(table: np.ndarray) -> np.ndarray:
    return np.where(np.isinf(table), np.nan, table)


def _number(cell: str, path: str, line: int, column: int) -> float:
    try:
        return float(cell)
    except ValueError:
        if cell.lower() in _MISSING_WORDS:
            return float("nan")
        raise FormatError(
            f"{cell!r} is not a number; a decimal point and no thousands separator are expected",
            path,
            f"line {line}, column {column}",
        ) from None


def mask_missing_codes(values: np.ndarray, codes: Sequence[float] = ()) -> np.ndarray:
    """The numbers with NaN in place of codes for missing values."""
    missing = np.abs(values) > MAX_MAGNITUDE
    for code in codes:
        # Codes are printed with few digits.
        missing |= np.isclose(values, code, rtol=1e-4, atol=0.0)
    return np.where(missing | ~np.isfinite(values), np.nan, values)
