"""What stands in a C3D file: header, parameters, points and analog samples, in its own units."""

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
from homodyn.errors import FormatError

MAX_VALUES = 2**29
"""Numbers above which a file is refused, 4 GB in memory."""


@dataclass(frozen=True)
class HeaderEvent:
    """An event of the header block: four letters and an instant."""

    time: float
    """Seconds."""
    label: str


@dataclass(frozen=True, eq=False)
class C3dContent:
    """A C3D file taken apart; lengths still in the units of the file."""

    parameters: C3dParameters
    points: np.ndarray
    """(frames, points, 3); NaN where the file marks a point as not seen."""
    analog: np.ndarray
    """(samples, channels), scaled as ANALOG:SCALE, GEN_SCALE and OFFSET say."""
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


def read_c3d_content(content: bytes, path: str, *, partial: bool = False) -> C3dContent:
    """Take a C3D file apart, whatever processor wrote it.

    A file shorter than it says is refused, unless ``partial``: then the whole frames that are
    there are read and a note tells how many are missing.
    """
    data = memoryview(content)
    if len(data) < BLOCK_BYTES or data[1] != 0x50:
        raise FormatError(
            "this is no C3D file: it does not begin with the mark 0x50 of one; "
            "give a .c3d as the recording system exports it",
            path,
        )
    section = (max(data[0], 1) - 1) * BLOCK_BYTES
    if section < BLOCK_BYTES or section + 4 > len(data):
        raise _truncation_error(path, "it ends before the parameter section")
    try:
        processor = Processor(data[section + 3])
    except ValueError:
        raise FormatError(
            f"processor type {data[section + 3]} is unknown; "
            "84 (Intel), 85 (DEC) and 86 (MIPS) are read",
            path,
        ) from None
    header = _header(data[:BLOCK_BYTES], processor)
    start = (header.data_block - 1) * BLOCK_BYTES
    # The preamble counts the blocks, but some writers count too few: the data end the section.
    end = max(section + data[section + 2] * BLOCK_BYTES, start)
    parameters = read_parameters(data[section : min(end, len(data))], processor, path)
    return _frames(data, header, parameters, processor, path, partial)


def _header(data: memoryview, processor: Processor) -> _Header:
    words = counts(data, processor)
    (scale,) = floats(data[12:16], processor)
    (rate,) = floats(data[20:24], processor)
    used = min(int(words[150]), 18)
    times = floats(data[304:376], processor)
    # A display flag of 1 hides an event on a screen; it happened all the same.
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
        # Without this key the bytes of the labels mean something else, or nothing.
        events=events if words[149] == 0x3039 else (),
    )


def _frames(
    data: memoryview,
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
            f"POINT:USED says {points} points, the header {header.points}; the former holds"
        )
    per_frame, channels = _analog_layout(header, parameters, notes, path)
    scale = parameters.number("POINT", "SCALE") or header.scale or -1.0
    size = 4 if scale < 0.0 else 2
    words = 4 * points + per_frame * channels
    if not words:
        raise FormatError(
            "the file holds neither points nor analog channels; there is nothing to read", path
        )
    block = header.data_block or parameters.count("POINT", "DATA_START") or 0
    start = (block - 1) * BLOCK_BYTES
    if start < BLOCK_BYTES or start >= len(data):
        raise _truncation_error(path, f"its data begin in block {block}, beyond its end")
    room = (len(data) - start) // (words * size)
    frames = _frame_count(header, parameters, room, notes)
    if frames > room:
        if not partial:
            raise _truncation_error(path, f"it says {frames} frames and holds {room}")
        notes.append(f"the file is cut off: {room} of its {frames} frames are read")
        frames = room
    if not frames:
        raise FormatError("the file holds no frame; export the recording again", path)
    if frames * words > MAX_VALUES:
        raise FormatError(
            f"{frames} frames of {words} numbers need more memory than is reasonable; "
            "cut the recording into several files",
            path,
        )
    raw = data[start : start + frames * words * size]
    rate = parameters.number("POINT", "RATE") or header.rate
    if not np.isfinite(rate) or rate <= 0.0:
        raise FormatError(
            f"the frame rate is {rate:g} Hz; POINT:RATE must be a positive number", path
        )
    if size == 4:
        table = floats(raw, processor).reshape(frames, words)
    else:
        table = integers(raw, processor).reshape(frames, words)
    analog = table[:, 4 * points :].reshape(frames * per_frame, channels)
    return C3dContent(
        parameters=parameters,
        points=_seen_points(table[:, : 4 * points], scale),
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
                f"the header says {header.analog_per_frame} analog values a frame in {per_frame} "
                f"samples, ANALOG:USED {channels} channels; these contradict each other",
                path,
            )
        notes.append(
            f"ANALOG:USED says {channels} channels, the header "
            f"{header.analog_per_frame // per_frame}; the header holds, it counts what is stored"
        )
        channels = header.analog_per_frame // per_frame
    return per_frame, channels


def _frame_count(header: _Header, parameters: C3dParameters, room: int, notes: list[str]) -> int:
    """How many frames the file says it holds; where it says different things, what fits."""
    said: dict[str, int] = {}
    first, last = (_long_count(parameters, f"ACTUAL_{end}_FIELD") for end in ("START", "END"))
    if first is not None and last is not None and last >= first:
        said["TRIAL:ACTUAL_END_FIELD"] = last - first + 1
    if long := parameters.number("POINT", "LONG_FRAMES"):
        said["POINT:LONG_FRAMES"] = int(long)
    if count := parameters.count("POINT", "FRAMES"):
        said["POINT:FRAMES"] = count
    if header.last >= header.first:
        said["the header"] = header.last - header.first + 1
    most = max(said.values(), default=0)
    # Counts of 16 bits stop at 65535 or begin again at zero in a longer recording.
    meant = {
        who: frames
        for who, frames in said.items()
        if frames == most or (frames < 65534 and (most - frames) % 65536)
    }
    if len(set(meant.values())) <= 1:
        return most
    chosen = next((frames for frames in meant.values() if frames <= room), most)
    told = ", ".join(f"{who} {frames}" for who, frames in meant.items())
    notes.append(f"the file says different numbers of frames ({told}); {chosen} are read")
    return chosen


def _long_count(parameters: C3dParameters, name: str) -> int | None:
    """A 32-bit count stored as two 16-bit integers, the low one first."""
    values = parameters.numbers("TRIAL", name).ravel(order="F")
    if not values.size or not np.isfinite(values[:2]).all():
        return None
    low, high = (int(value) % 65536 for value in [*values[:2], 0][:2])
    return low + 65536 * high


def _first_frame(header: _Header, parameters: C3dParameters) -> int:
    first = _long_count(parameters, "ACTUAL_START_FIELD")
    return first if first else max(header.first, 1)


def _seen_points(table: np.ndarray, scale: float) -> np.ndarray:
    """Positions of the points, NaN where the fourth word of a point is negative."""
    quads = table.reshape(len(table), -1, 4)
    positions = quads[..., :3].astype(float)
    if scale > 0.0:
        positions *= scale
    with np.errstate(invalid="ignore"):
        hidden = (quads[..., 3] < 0) | ~np.isfinite(positions).all(-1)
    positions[hidden] = np.nan
    return positions


def _scale_analog(analog: np.ndarray, parameters: C3dParameters, whole: bool) -> np.ndarray:
    """Analog samples in their units: (raw - offset) * scale * general scale."""
    channels = analog.shape[1]
    unsigned = parameters.text("ANALOG", "FORMAT").upper() == "UNSIGNED"
    offsets = _per_channel(parameters, "OFFSET", channels, 0.0)
    if unsigned:
        offsets = np.where(offsets < 0.0, offsets + 65536.0, offsets)
        if whole:
            analog = analog.view(np.uint16)
    general = parameters.number("ANALOG", "GEN_SCALE")
    scales = _per_channel(parameters, "SCALE", channels, 1.0) * (
        1.0 if general is None else general
    )
    return (analog.astype(float) - offsets) * scales


def _per_channel(parameters: C3dParameters, name: str, channels: int, default: float) -> np.ndarray:
    """One number a channel, over the continuations of a parameter (SCALE, SCALE2, ...)."""
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
        f"the file is cut off: {what}; copy or export it again, or read what there is "
        "in Python with hd.capture.read(path, partial=True)",
        path,
    )


# struct is used for the header that is written; the layout is the one `_header` reads.
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
    """The first block of a file of reals in Intel's byte order, whose parameters follow at once."""
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
