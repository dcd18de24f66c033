"""Content of a C3D file: header, parameters, points and analog samples, in its own units."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from homodyn.capture.formats.c3d_numbers import Processor, counts, floats, integers
from homodyn.capture.formats.c3d_parameters import (
    BLOCK_BYTES,
    C3dParameters,
    as_text,
    read_parameters,
)
from homodyn.capture.formats.file_content import FileSlices
from homodyn.capture.trial import FRAMES_PER_PIECE
from homodyn.errors import FormatError

MAX_VALUES = 2**29
"""Largest number of values of a file: 4 GB in memory."""


@dataclass(frozen=True)
class HeaderEvent:
    """An event of the header block: a label of four letters and a time."""

    time: float
    """Seconds."""
    label: str


@dataclass(frozen=True, eq=False)
class C3dContent:
    """The content of a C3D file, in the units of the file."""

    parameters: C3dParameters
    points: np.ndarray
    """(frames, points, 3); NaN where the file marks a point as not seen."""
    analog: np.ndarray
    """(samples, channels), scaled by ANALOG:SCALE, GEN_SCALE and OFFSET."""
    rate: float
    """Frames per second (Hz)."""
    samples_per_frame: int
    first_frame: int
    header_events: tuple[HeaderEvent, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Header:
    points: int
    analog_per_frame: int
    first: int
    last: int
    scale: float
    data_block: int
    samples_per_frame: int
    rate: float
    events: tuple[HeaderEvent, ...]


def read_c3d_content(data: FileSlices, path: str, *, partial: bool = False) -> C3dContent:
    """Parse a C3D file of any processor type.

    Args:
        data: The bytes of the file.
        path: The file, for messages.
        partial: Read the complete frames of a truncated file, with a note, instead of refusing it.

    Raises:
        FormatError: The file is not a C3D file, is damaged or truncated.
    """
    block = data[:BLOCK_BYTES]
    if len(block) < BLOCK_BYTES or block[1] != 0x50:
        raise FormatError(
            "this is not a C3D file: its second byte is not 0x50; expected is a .c3d file as the "
            "recording system exports it",
            path,
        )
    section = (max(block[0], 1) - 1) * BLOCK_BYTES
    if section < BLOCK_BYTES or section + 4 > len(data):
        raise _truncation_error(path, "it ends before the parameter section")
    preamble = data[section : section + 4]
    try:
        processor = Processor(preamble[3])
    except ValueError:
        raise FormatError(
            f"processor type {preamble[3]} is unknown; "
            "accepted: 84 (Intel), 85 (DEC) and 86 (MIPS)",
            path,
        ) from None
    header = _header(block, processor)
    start = (header.data_block - 1) * BLOCK_BYTES
    # Some writers count too few blocks in the preamble: the section ends where the data begin.
    end = max(section + preamble[2] * BLOCK_BYTES, start)
    parameters = read_parameters(data[section : min(end, len(data))], processor, path)
    return _frames(data, header, parameters, processor, path, partial)


def _header(data: bytes, processor: Processor) -> _Header:
    words = counts(data, processor)
    (scale,) = floats(data[12:16], processor)
    (rate,) = floats(data[20:24], processor)
    used = min(int(words[150]), 18)
    times = floats(data[304:376], processor)
    # The display flag of an event is ignored: hidden events are events too.
    events = tuple(
        HeaderEvent(float(times[k]), as_text(bytes(data[396 + 4 * k : 400 + 4 * k])))
        for k in range(used)
        if np.isfinite(times[k])
    )
    return _Header(
        points=int(words[1]),
        analog_per_frame=int(words[2]),
        first=int(words[3]),
        last=int(words[4]),
        scale=float(scale),
        data_block=int(words[8]),
        samples_per_frame=int(words[9]),
        rate=float(rate),
        # Only with this key are the bytes event labels.
        events=events if words[149] == 0x3039 else (),
    )


def _frames(
    data: FileSlices,
    header: _Header,
    parameters: C3dParameters,
    processor: Processor,
    path: str,
    partial: bool,
) -> C3dContent:
    notes: list[str] = []
    used = parameters.count("POINT", "USED")
    points = header.points if used is None else used
    if points != header.points:
        notes.append(
            f"POINT:USED is {points}, the header states {header.points}; the former is used"
        )
    per_frame, channels = _analog_layout(header, parameters, notes, path)
    scale = parameters.number("POINT", "SCALE") or header.scale or -1.0
    size = 4 if scale < 0.0 else 2
    words = 4 * points + per_frame * channels
    if not words:
        raise FormatError(
            "the file contains neither points nor analog channels; there is nothing to read", path
        )
    block = header.data_block or parameters.count("POINT", "DATA_START") or 0
    start = (block - 1) * BLOCK_BYTES
    if start < BLOCK_BYTES or start >= len(data):
        raise _truncation_error(path, f"its data begin in block {block}, beyond its end")
    stored = (len(data) - start) // (words * size)
    frames = _frame_count(header, parameters, stored, notes)
    if frames > stored:
        if not partial:
            raise _truncation_error(path, f"it states {frames} frames and contains {stored}")
        notes.append(f"the file is truncated: {stored} of {frames} frames are read")
        frames = stored
    if not frames:
        raise FormatError("the file contains no frames; export the recording again", path)
    if frames * words > MAX_VALUES:
        raise FormatError(
            f"{frames} frames of {words} numbers are more than {MAX_VALUES} values; split the "
            "recording into several files",
            path,
        )
    rate = parameters.number("POINT", "RATE") or header.rate
    if not np.isfinite(rate) or rate <= 0.0:
        raise FormatError(
            f"the frame rate is {rate:g} Hz; POINT:RATE must be a positive number", path
        )
    decode, kind = (floats, np.float32) if size == 4 else (integers, np.int16)
    positions = np.empty((frames, points, 3))
    samples = np.empty((frames, per_frame * channels), dtype=kind)
    # Piece by piece: a long recording is in memory once.
    for first in range(0, frames, FRAMES_PER_PIECE):
        rows = slice(first, min(first + FRAMES_PER_PIECE, frames))
        piece = data[start + rows.start * words * size : start + rows.stop * words * size]
        table = decode(piece, processor).reshape(-1, words)
        positions[rows] = _seen_points(table[:, : 4 * points], scale)
        samples[rows] = table[:, 4 * points :]
    analog = samples.reshape(frames * per_frame, channels)
    return C3dContent(
        parameters=parameters,
        points=positions,
        analog=_scale_analog(analog, parameters, size == 2),
        rate=float(rate),
        samples_per_frame=per_frame,
        first_frame=_first_frame(header, parameters),
        header_events=header.events,
        notes=tuple(notes),
    )


def _analog_layout(
    header: _Header, parameters: C3dParameters, notes: list[str], path: str
) -> tuple[int, int]:
    """Samples per frame and channels."""
    per_frame = header.samples_per_frame
    channels = parameters.count("ANALOG", "USED")
    if not per_frame:
        rate, frames = parameters.number("ANALOG", "RATE"), parameters.number("POINT", "RATE")
        per_frame = round(rate / frames) if rate and frames and frames > 0 < rate else 1
    if channels is None:
        channels = header.analog_per_frame // per_frame
    if channels * per_frame != header.analog_per_frame:
        if header.analog_per_frame % per_frame:
            raise FormatError(
                f"the header states {header.analog_per_frame} analog values per frame in "
                f"{per_frame} samples, ANALOG:USED {channels} channels; this is contradictory",
                path,
            )
        notes.append(
            f"ANALOG:USED is {channels}, the header states {header.analog_per_frame // per_frame} "
            "channels; the header is used"
        )
        channels = header.analog_per_frame // per_frame
    return per_frame, channels


def _frame_count(header: _Header, parameters: C3dParameters, stored: int, notes: list[str]) -> int:
    """The number of frames that the file states; if it states several, one that fits its size."""
    stated: dict[str, int] = {}
    first, last = (_long_count(parameters, f"ACTUAL_{end}_FIELD") for end in ("START", "END"))
    if first is not None and last is not None and last >= first:
        stated["TRIAL:ACTUAL_END_FIELD"] = last - first + 1
    if long := parameters.number("POINT", "LONG_FRAMES"):
        stated["POINT:LONG_FRAMES"] = int(long)
    if count := parameters.count("POINT", "FRAMES"):
        stated["POINT:FRAMES"] = count
    if header.last >= header.first:
        stated["the header"] = header.last - header.first + 1
    largest = max(stated.values(), default=0)
    # Counts of 16 bits saturate at 65535 or overflow in a longer recording.
    valid = {
        name: frames
        for name, frames in stated.items()
        if frames == largest or (frames < 65534 and (largest - frames) % 65536)
    }
    if len(set(valid.values())) <= 1:
        return largest
    chosen = next((frames for frames in valid.values() if frames <= stored), largest)
    listed = ", ".join(f"{name} {frames}" for name, frames in valid.items())
    notes.append(f"the file states different numbers of frames ({listed}); {chosen} are read")
    return chosen


def _long_count(parameters: C3dParameters, name: str) -> int | None:
    """A 32-bit count in two 16-bit integers, the low one first."""
    values = parameters.numbers("TRIAL", name).ravel(order="F")
    if not values.size or not np.isfinite(values[:2]).all():
        return None
    low, high = (int(value) % 65536 for value in [*values[:2], 0][:2])
    return low + 65536 * high


def _first_frame(header: _Header, parameters: C3dParameters) -> int:
    first = _long_count(parameters, "ACTUAL_START_FIELD")
    return first if first else max(header.first, 1)


def _seen_points(table: np.ndarray, scale: float) -> np.ndarray:
    """Positions of the points, NaN where the fourth word is negative."""
    quads = table.reshape(len(table), -1, 4)
    positions = quads[..., :3].astype(float)
    if scale > 0.0:
        positions *= scale
    with np.errstate(invalid="ignore"):
        hidden = (quads[..., 3] < 0) | ~np.isfinite(positions).all(-1)
    positions[hidden] = np.nan
    return positions


def _scale_analog(analog: np.ndarray, parameters: C3dParameters, integer: bool) -> np.ndarray:
    """Analog samples in their units: (raw - offset) * scale * general scale."""
    channels = analog.shape[1]
    unsigned = parameters.text("ANALOG", "FORMAT").upper() == "UNSIGNED"
    offsets = _per_channel(parameters, "OFFSET", channels, 0.0)
    if unsigned:
        offsets = np.where(offsets < 0.0, offsets + 65536.0, offsets)
        if integer:
            analog = analog.view(np.uint16)
    general = parameters.number("ANALOG", "GEN_SCALE")
    scales = _per_channel(parameters, "SCALE", channels, 1.0) * (
        1.0 if general is None else general
    )
    return (analog.astype(float) - offsets) * scales


def _per_channel(parameters: C3dParameters, name: str, channels: int, default: float) -> np.ndarray:
    """One number per channel, over the continuations of a parameter (SCALE, SCALE2, ...)."""
    values: list[float] = []
    number = 1
    while (
        value := parameters.get("ANALOG", name if number == 1 else f"{name}{number}")
    ) is not None:
        if not isinstance(value, tuple):
            values.extend(value.ravel(order="F").tolist())
        number += 1
    values = values[:channels]
    return np.array(values + [default] * (channels - len(values)))


def _truncation_error(path: str, what: str) -> FormatError:
    return FormatError(
        f"the file is truncated: {what}; copy or export it again, or read the complete frames: "
        "homodyn analyze --lenient, in Python hd.capture.read(path, partial=True)",
        path,
    )


# The layout that `_header` reads.
_HEADER = struct.Struct("<BB5HfHHf")


def header_bytes(
    *,
    points: int,
    analog_per_frame: int,
    first: int,
    last: int,
    data_block: int,
    samples_per_frame: int,
    rate: float,
) -> bytes:
    """The first block of a file of reals in Intel byte order, followed by the parameters."""
    start = _HEADER.pack(
        2,
        0x50,
        points,
        analog_per_frame,
        min(first, 65535),
        min(last, 65535),
        0,
        -1.0,
        data_block,
        samples_per_frame,
        rate,
    )
    return start.ljust(BLOCK_BYTES, b"\x00")
