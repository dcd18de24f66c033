"""CSV files of Vicon Nexus: one block per kind of data, a line of names above a line of axes."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from homodyn.capture.formats.cells import parse_rows
from homodyn.capture.formats.missing_markers import (
    METERS_PER_UNIT,
    detect_length_unit,
    mark_missing,
)
from homodyn.capture.formats.unique_names import unique_names
from homodyn.capture.formats.up_axis import detect_up_axis, parse_up_axis
from homodyn.capture.model_outputs import (
    DEFAULT_UNITS,
    ModelOutput,
    OutputKind,
    model_output_kinds,
)
from homodyn.capture.trial import Trial
from homodyn.errors import FormatError
from homodyn.foundation.text import count_of, enumerate_names

_BLOCK_NAME = re.compile(r"(trajectories|model outputs|devices|joints|segments)\b", re.IGNORECASE)
_FRAME_NAME = re.compile(r"(field #|frame)", re.IGNORECASE)


def is_nexus_csv(text: str) -> bool:
    """Whether a text is a CSV file of Nexus: a line ``Trajectories`` above a line with the rate."""
    return _find_block(text.splitlines(), "trajectories") is not None


def read_nexus_csv(path: Path, text: str, *, up: str | None = None) -> Trial:
    """The trajectories and model outputs of a CSV file of Nexus; see `homodyn.capture.read`."""
    lines = text.splitlines()
    start = _find_block(lines, "trajectories")
    if start is None:
        raise FormatError(
            "no line Trajectories above a line with the frame rate; export the trajectories too",
            str(path),
        )
    rate = _rate(lines[start + 1], path, start + 2)
    header = _block_header(lines, start + 2, path)
    names = header.names
    numbers, values = _block_rows(lines, header, path)
    points = values.reshape(len(values), len(names), 3)
    labels, label_notes = unique_names(names, len(names), "unlabeled")
    kinds = dict(model_output_kinds(labels))
    kept = [k for k, label in enumerate(labels) if label not in kinds]
    length, unit_notes = detect_length_unit(header.unit, points[:, kept])
    positions, missing_notes = mark_missing(points[:, kept] * length)
    if not np.isfinite(positions).any():
        raise FormatError("no marker is visible in any frame; export it again", str(path))
    markers = tuple(labels[k] for k in kept)
    direction = parse_up_axis(up) if up else detect_up_axis(positions, markers)
    outputs = {
        label: _output(label, kinds[label], points[:, k], length)
        for k, label in enumerate(labels)
        if label in kinds
    }
    output_notes = (
        [
            f"{count_of(len(outputs), 'point')} with results of a model read as model_outputs, "
            f"not as markers: {enumerate_names([*outputs], 4)}"
        ]
        if outputs
        else []
    )
    trial = Trial(
        name=path.stem,
        markers=markers,
        positions=positions,
        rate=rate,
        start=(numbers[0] - 1) / rate,
        first_frame=int(numbers[0]),
        source=str(path),
        notes=(
            "the file is a CSV export of Vicon Nexus; devices in it are not read",
            *label_notes,
            *output_notes,
            *unit_notes,
            *missing_notes,
            direction.note,
        ),
        model_outputs=outputs,
    )
    return trial.rotate(direction.axes)


def _find_block(lines: list[str], name: str) -> int | None:
    """Index of the line with the name of a block, if a frame rate follows."""
    for k in range(len(lines) - 1):
        if lines[k].strip().strip(",").lower() == name and re.match(
            r"\s*[\d.]+\s*(,|;|\t|$)", lines[k + 1]
        ):
            return k
    return None


def _rate(line: str, path: Path, number: int) -> float:
    rate = float(line.split(",")[0])
    if not 0.0 < rate < 1e7:
        raise FormatError(f"{rate:g} Hz is not a frame rate", str(path), f"line {number}")
    return rate


@dataclass(frozen=True)
class _BlockHeader:
    """What the lines above the numbers of a block say."""

    names: list[str]
    """Names of the points."""
    lead: int
    """Columns before the first point: frame, or frame and sub-frame."""
    unit: str
    """Unit of length."""
    first: int
    """Index of the first row of numbers."""


def _block_header(lines: list[str], start: int, path: Path) -> _BlockHeader:
    for k in range(start, min(start + 4, len(lines) - 1)):
        axes = _cells(lines[k + 1])
        if not any(_FRAME_NAME.fullmatch(cell) for cell in axes[:2]) or "X" not in axes:
            continue
        lead = axes.index("X")
        count = sum(1 for cell in axes[lead:] if cell) // 3
        names = [*_cells(lines[k])[lead:], *[""] * (3 * count)]
        first, unit = k + 2, "mm"
        if first < len(lines) and not re.match(r"\s*\d", lines[first]):
            # A line of units; Nexus writes millimeters where there is none.
            units = [cell.lower() for cell in _cells(lines[first])]
            unit = next((cell for cell in units if cell in METERS_PER_UNIT), unit)
            first += 1
        return _BlockHeader(names[: 3 * count : 3], lead, unit, first)
    raise FormatError(
        "no line of axes (Field # or Frame, X, Y, Z, ...) below the names of the trajectories",
        str(path),
        f"line {start + 1}",
    )


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line]))]


def _block_rows(
    lines: list[str], header: _BlockHeader, path: Path
) -> tuple[np.ndarray, np.ndarray]:
    """Frame numbers and (frames, 3 * points) of one block, up to its end."""
    rows = []
    for line in lines[header.first :]:
        if not line.strip().strip(",") or _BLOCK_NAME.match(line):
            break
        rows.append(line)
    if not rows:
        raise FormatError("the trajectories have no rows of numbers", str(path))
    columns = header.lead + 3 * len(header.names)
    table = parse_rows(rows, columns, ",", str(path), header.first + 1, blank_end=True)
    numbers = table[:, 0]
    if not np.isfinite(numbers).all() or (np.diff(numbers) != 1).any():
        raise FormatError("frame numbers are not consecutive; export the file again", str(path))
    return numbers, table[:, header.lead :]


def _output(label: str, kind: OutputKind, values: np.ndarray, length: float) -> ModelOutput:
    if kind is OutputKind.POINT:
        return ModelOutput(label, kind, "m", mark_missing(values[:, None] * length)[0][:, 0])
    return ModelOutput(label, kind, DEFAULT_UNITS[kind], values)
