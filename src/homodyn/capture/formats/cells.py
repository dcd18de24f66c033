"""Rows of numbers in text: blank cells, words for nothing, decimal commas."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.errors import FormatError

HUGE = 1e20
"""Magnitude above which a number is a code for nothing seen: Optotrak writes -3.6973E+028."""

_NOTHING = {
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


def delimiter_of(line: str) -> str | None:
    """The first of tab, semicolon and comma that stands in the line; None for blanks."""
    return next((mark for mark in ("\t", ";", ",") if mark in line), None)


def rows_of(
    lines: Sequence[str],
    columns: int,
    delimiter: str | None,
    path: str,
    first: int = 1,
) -> np.ndarray:
    """(rows, columns) of numbers, NaN where a cell is blank; ``first`` is the number of line 0.

    Blank cells at the end of a row may be left away. A comma is a decimal comma where it does not
    separate cells.
    """
    text = "\n".join(lines)
    if delimiter != "," and "," in text:
        text = text.replace(",", ".")
        lines = text.split("\n")
    # Nearly all files have a number in every cell: then the table is read in one go.
    words = text.replace(delimiter, " ").split() if delimiter else text.split()
    if len(words) == len(lines) * columns and not _has_blank(lines, delimiter):
        try:
            return np.array(words, dtype=float).reshape(len(lines), columns)
        except ValueError:
            pass
    table = np.full((len(lines), columns), np.nan)
    for row, line in enumerate(lines):
        cells = [cell.strip() for cell in (line.split(delimiter) if delimiter else line.split())]
        while len(cells) > columns and not cells[-1]:
            cells.pop()
        if len(cells) > columns:
            raise FormatError(
                f"{len(cells)} cells, {columns} are expected", path, f"line {first + row}"
            )
        for column, cell in enumerate(cells):
            table[row, column] = _number(cell, path, first + row, column + 1)
    return table


def _has_blank(lines: Sequence[str], delimiter: str | None) -> bool:
    if delimiter is None:
        return False
    return any(
        line.startswith(delimiter) or delimiter + delimiter in line.replace(" ", "")
        for line in lines
    )


def _number(cell: str, path: str, line: int, column: int) -> float:
    try:
        return float(cell)
    except ValueError:
        if cell.lower() in _NOTHING:
            return float("nan")
        raise FormatError(
            f"{cell!r} is no number; a decimal point and no separator of thousands are expected",
            path,
            f"line {line}, column {column}",
        ) from None


def without_codes(values: np.ndarray, codes: Sequence[float] = ()) -> np.ndarray:
    """The same numbers with NaN where one is a code for nothing seen."""
    nothing = np.abs(values) > HUGE
    for code in codes:
        # Codes are printed with few digits.
        nothing |= np.isclose(values, code, rtol=1e-4, atol=0.0)
    return np.where(nothing | ~np.isfinite(values), np.nan, values)
