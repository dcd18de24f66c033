"""Rows of numbers in text: blank cells, words for nothing, decimal commas."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.errors import FormatError

MAX_MAGNITUDE = 1e20
"""Magnitude above which a number is a code for nothing seen: Optotrak writes -3.6973E+028."""

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
    """The first of tab, semicolon and comma that stands in the line; None for blanks."""
    return next((mark for mark in ("\t", ";", ",") if mark in line), None)


def parse_rows(
    lines: Sequence[str],
    columns: int,
    delimiter: str | None,
    path: str,
    first: int = 1,
    *,
    blank_end: bool = False,
) -> np.ndarray:
    """(rows, columns) of numbers, NaN where a cell is blank; ``first`` is the number of line 0.

    A comma is a decimal comma where it does not separate cells. With ``blank_end`` blank cells at
    the end of a row may be left away; otherwise a row that is too short is refused, as the last row
    of a file that is cut off is.
    """
    if delimiter != ",":
        lines = [line.replace(",", ".") for line in lines]
    cells = [line.split(delimiter) for line in lines]
    for row in cells:
        while len(row) > columns and not row[-1].strip():
            row.pop()
    if all(len(row) == columns for row in cells):
        # Nearly all files have a number in every cell: then the table is read in one go.
        try:
            return np.array(cells, dtype=float).reshape(len(cells), columns)
        except ValueError:
            pass
    table = np.full((len(lines), columns), np.nan)
    for number, row in enumerate(cells):
        if len(row) > columns or (len(row) < columns and not blank_end):
            raise FormatError(
                f"{len(row)} cells, {columns} are expected; is the file cut off, or is its "
                "decimal mark a comma?",
                path,
                f"line {first + number}",
            )
        for column, cell in enumerate(row):
            table[number, column] = _number(cell.strip(), path, first + number, column + 1)
    return table


def _number(cell: str, path: str, line: int, column: int) -> float:
    try:
        return float(cell)
    except ValueError:
        if cell.lower() in _MISSING_WORDS:
            return float("nan")
        raise FormatError(
            f"{cell!r} is no number; a decimal point and no separator of thousands are expected",
            path,
            f"line {line}, column {column}",
        ) from None


def mask_missing_codes(values: np.ndarray, codes: Sequence[float] = ()) -> np.ndarray:
    """The same numbers with NaN where one is a code for nothing seen."""
    nothing = np.abs(values) > MAX_MAGNITUDE
    for code in codes:
        # Codes are printed with few digits.
        nothing |= np.isclose(values, code, rtol=1e-4, atol=0.0)
    return np.where(nothing | ~np.isfinite(values), np.nan, values)
