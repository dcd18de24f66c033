"""TRC files: marker positions as Motion Analysis and OpenSim write them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from homodyn.capture.formats.cells import (
    CUT_ROW_MESSAGE,
    inspect_end,
    mask_missing_codes,
    parse_rows,
)
from homodyn.capture.formats.file_content import read_text
from homodyn.capture.formats.missing_markers import detect_length_unit, mark_missing
from homodyn.capture.formats.time_base import fit_time_base
from homodyn.capture.formats.unique_names import unique_names
from homodyn.capture.formats.up_axis import detect_up_axis, parse_up_axis
from homodyn.capture.trial import Y_UP_TO_Z_UP, Trial
from homodyn.errors import FormatError
from homodyn.foundation.files import write_text
from homodyn.foundation.text import count_of


def read_trc(path: Path, *, up: str | None = None, partial: bool = False) -> Trial:
    """The trial in a TRC file; see `homodyn.capture.read`."""
    text = read_text(path)
    lines = text.splitlines()
    number = next(
        (k for k, line in enumerate(lines[:20]) if line.strip().lower().startswith("frame#")), None
    )
    if number is None or number < 1:
        raise FormatError(
            "this is not a TRC file: no line of the header begins with Frame#; expected are "
            "PathFileType, DataRate, ..., Frame# Time and marker names",
            str(path),
        )
    header = _parse_header(lines[:number])
    delimiter = "\t" if "\t" in lines[number] else None
    labels = _labels(lines[number], delimiter)
    first, rows = _data_lines(lines, number)
    notes = []
    end = inspect_end(text, rows, delimiter)
    if end.is_cut:
        if not partial:
            raise FormatError(CUT_ROW_MESSAGE, str(path), f"line {first + len(rows)}")
        notes.append(f"the file is truncated: {len(rows) - 1} of {len(rows)} frames are read")
        rows = rows[:-1]
    elif end.note:
        notes.append(end.note)
    columns = 2 + 3 * len(labels)
    table = parse_rows(
        rows, columns, delimiter, str(path), first + 1, blank_end=delimiter is not None
    )
    count = _header_integer(header, "NumMarkers")
    if count is not None and count != len(labels):
        notes.append(
            f"NumMarkers is {count}; {count_of(len(labels), 'marker name')} found and used"
        )
    frames = _header_integer(header, "NumFrames")
    if frames is not None and frames > len(rows):
        if not partial:
            raise FormatError(
                f"the file is truncated: NumFrames is {frames}, the file has "
                f"{count_of(len(rows), 'row')}; export it again, correct NumFrames, or read the "
                "frames that are there: --lenient, in Python hd.capture.read(path, partial=True)",
                str(path),
            )
        notes.append(f"the file is truncated: {len(rows)} of {frames} frames are read")
    elif frames is not None and frames < len(rows):
        notes.append(f"NumFrames is {frames}; the file has {len(rows)} rows, all are read")
    clock = fit_time_base(table[:, 1], str(path), stated_rate=_header_rate(header))
    points = mask_missing_codes(clock.expand_rows(table[:, 2:].reshape(len(table), -1, 3)))
    markers, label_notes = unique_names(labels, len(labels), "unlabeled")
    length, unit_notes = detect_length_unit(header.get("Units", ""), points)
    positions, missing_notes = mark_missing(points * length)
    if not np.isfinite(positions).any():
        raise FormatError(
            "no marker is visible in any frame; export the recording again", str(path)
        )
    direction = (
        parse_up_axis(up)
        if up
        else detect_up_axis(
            positions, markers, expected="y", convention="the convention of TRC files"
        )
    )
    first_number = table[0, 0]
    trial = Trial(
        name=path.stem,
        markers=markers,
        positions=positions,
        rate=clock.rate,
        start=clock.start,
        first_frame=int(first_number) if np.isfinite(first_number) else 1,
        source=str(path),
        notes=(
            *notes,
            *label_notes,
            *clock.notes,
            *unit_notes,
            *missing_notes,
            direction.note,
        ),
    )
    return trial.rotate(direction.axes)


def _parse_header(lines: list[str]) -> dict[str, str]:
    """The entries of the header: a line of keys above a line of values."""
    for keys, values in pairwise(lines):
        if "DataRate" in keys:
            return dict(zip(keys.split(), values.split(), strict=False))
    return {}


def _header_integer(header: dict[str, str], key: str) -> int | None:
    try:
        return int(float(header[key]))
    except (KeyError, ValueError, OverflowError):
        return None


def _header_rate(header: dict[str, str]) -> float | None:
    try:
        rate = float(header["DataRate"])
    except (KeyError, ValueError):
        return None
    return rate if np.isfinite(rate) and rate > 0.0 else None


def _labels(line: str, delimiter: str | None) -> list[str]:
    """Marker names: each above the first of its three columns, or separated by single blanks."""
    cells = [cell.strip() for cell in line.split(delimiter)][2:]
    while cells and not cells[-1]:
        cells.pop()
    names = [cell for cell in cells if cell]
    # With one name per three columns, a blank cell is a marker without a name.
    if delimiter and cells and cells[0] and len(cells) % 3 == 1:
        triples = cells[::3]
        if sum(map(bool, triples)) == len(names):
            return triples
    return names


def _data_lines(lines: list[str], number: int) -> tuple[int, list[str]]:
    """Index of the first row of numbers after the names, and all rows."""
    start = number + 1
    while start < len(lines):
        words = lines[start].split()
        if words and not words[0].upper().startswith("X"):
            break
        start += 1
    return start, [line for line in lines[start:] if line.strip()]


def write_trc(trial: Trial, path: Path) -> None:
    """Write the markers of a trial in millimeters, Y up, the convention of TRC files.

    A trial that was read from a TRC file is written in the axes of that file.
    """
    for name in trial.markers:
        if set(name) & set("\t\n\r"):
            raise FormatError(
                f"the name {name!r} contains a tab or a line break; rename it", str(path)
            )
    axes = trial.axes if trial.source.lower().endswith(".trc") else Y_UP_TO_Z_UP
    positions = (trial.positions @ axes) * 1e3
    count = len(trial.markers)
    rate = f"{trial.rate:.12g}"
    keys = (
        "DataRate CameraRate NumFrames NumMarkers Units "
        "OrigDataRate OrigDataStartFrame OrigNumFrames"
    )
    values = (rate, rate, trial.frames, count, "mm", rate, trial.first_frame, trial.frames)
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "\t".join(keys.split()),
        "\t".join(map(str, values)),
        "Frame#\tTime\t" + "\t\t\t".join(trial.markers) + "\t\t",
        "\t\t" + "\t".join(f"X{k}\tY{k}\tZ{k}" for k in range(1, count + 1)),
        "",
    ]
    cells = positions.reshape(trial.frames, -1)
    form = "\t".join(["%.12g"] * cells.shape[1])
    for frame, row in enumerate(cells):
        # OpenSim writes and reads NaN; it refuses rows that end with blank cells.
        text = (form % tuple(row)).replace("nan", "NaN")
        lines.append(f"{trial.first_frame + frame}\t{trial.time[frame]:.12g}\t{text}")
    write_text(path, "\n".join(lines) + "\n")
