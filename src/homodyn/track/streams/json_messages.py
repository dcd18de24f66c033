"""The JSON messages of marker streams over UDP and WebSocket.

One message is one frame::

    {"time": 12.345, "frame": 1481, "units": "mm", "up": "z",
     "markers": {"LASI": [112.0, 80.1, 940.2], "RASI": null}}

``time`` (s, any origin) and ``markers`` are needed. ``null`` or a position with ``null`` marks a
marker that is not seen. ``units`` is "m" (default) or "mm"; ``up`` is "z" (default) or "y";
``frame`` is a number that increases by one per frame and shows lost packets.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from homodyn.capture.trial import Y_UP_TO_Z_UP
from homodyn.foundation.text import enumerate_names
from homodyn.track.streams.marker_frame import MarkerFrame
from homodyn.track.streams.stream_errors import PacketError

MAX_MESSAGE_BYTES = 1_000_000
MAX_MARKERS = 1000
MAX_LABEL_CHARACTERS = 100
MAX_COORDINATE_M = 1000.0
"""Distance from the origin above which a coordinate is not that of a marker."""
LENGTH_UNITS_M = {"m": 1.0, "mm": 1e-3}
UP_AXES = ("z", "y")
EXAMPLE = '{"time": 1.25, "markers": {"LASI": [0.11, 0.08, 0.94]}}'


def parse_message(message: str | bytes, arrival: float) -> MarkerFrame:
    """The frame in a message.

    Args:
        message: JSON text.
        arrival: Time of its arrival (s).

    Returns:
        The frame, in meters, Z up.

    Raises:
        PacketError: The message is not a frame; the sentence says what is accepted.
    """
    if len(message) > MAX_MESSAGE_BYTES:
        raise PacketError(
            f"a message of {len(message)} bytes is too long; the limit is {MAX_MESSAGE_BYTES}"
        )
    try:
        data = json.loads(message)
    except (ValueError, RecursionError):
        raise PacketError(f"a message is not JSON; expected is for example {EXAMPLE}") from None
    if not isinstance(data, dict):
        raise PacketError(f"a message is not a JSON object; expected is for example {EXAMPLE}")
    factor = _choice(data, "units", LENGTH_UNITS_M, "m")
    up = _choice(data, "up", dict(zip(UP_AXES, UP_AXES, strict=True)), "z")
    labels, positions = _markers(data.get("markers"))
    positions *= factor
    if up == "y":
        positions = positions @ Y_UP_TO_Z_UP.T
    far = np.abs(positions) > MAX_COORDINATE_M
    if far.any():
        label = labels[int(np.argwhere(far)[0, 0])]
        raise PacketError(
            f"marker {label!r} is more than {MAX_COORDINATE_M:g} m from the origin; state "
            '"units": "mm" for millimeters'
        )
    return MarkerFrame(_time(data), labels, positions, arrival, _number(data))


def format_message(
    time: float, labels: Sequence[str], positions: np.ndarray, number: int | None = None
) -> str:
    """The message of a frame.

    Args:
        time: Time (s).
        labels: Names of the markers.
        positions: (markers, 3), m, Z up; NaN where a marker is not seen.
        number: Number of the frame.

    Returns:
        JSON text in one line.
    """
    rows = np.round(positions, 6).tolist()
    seen = np.isfinite(positions).all(-1).tolist()
    data: dict[str, Any] = {"time": time}
    if number is not None:
        data["frame"] = number
    data["markers"] = {
        label: row if ok else None for label, row, ok in zip(labels, rows, seen, strict=True)
    }
    return json.dumps(data, separators=(",", ":"))


def _time(data: dict[str, Any]) -> float:
    time = data.get("time")
    if isinstance(time, bool) or not isinstance(time, int | float) or not _is_finite(time):
        raise PacketError("a message has no 'time'; expected is a number of seconds")
    return float(time)


def _number(data: dict[str, Any]) -> int | None:
    number = data.get("frame")
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, int) or abs(number) > 2**53:
        raise PacketError("'frame' of a message is not an integer; leave it out, or count frames")
    return number


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def _choice(data: dict[str, Any], key: str, accepted: dict[str, Any], default: str) -> Any:
    value = data.get(key, default)
    if not isinstance(value, str) or value not in accepted:
        names = enumerate_names([f'"{name}"' for name in accepted])
        raise PacketError(f"{key!r} of a message is {str(value)[:40]!r}; accepted: {names}")
    return accepted[value]


def _markers(markers: Any) -> tuple[tuple[str, ...], np.ndarray]:
    if not isinstance(markers, dict) or not markers:
        raise PacketError(f"a message has no 'markers'; expected is for example {EXAMPLE}")
    if len(markers) > MAX_MARKERS:
        raise PacketError(f"a message has {len(markers)} markers; the limit is {MAX_MARKERS}")
    positions = np.full((len(markers), 3), np.nan)
    for row, (label, place) in enumerate(markers.items()):
        if not label.strip() or len(label) > MAX_LABEL_CHARACTERS or not label.isprintable():
            raise PacketError(
                "a label is empty, too long or has control characters; accepted are up to "
                f"{MAX_LABEL_CHARACTERS} printable characters"
            )
        if place is None:
            continue
        if not isinstance(place, list) or len(place) != 3:
            raise PacketError(
                f"marker {label!r} has no three coordinates; null marks a missing one"
            )
        for axis, x in enumerate(place):
            if x is None:
                continue
            if isinstance(x, bool) or not isinstance(x, int | float):
                raise PacketError(f"a coordinate of marker {label!r} is not a number")
            positions[row, axis] = float(x) if _is_finite(x) else np.nan
    positions[~np.isfinite(positions).all(-1)] = np.nan
    return tuple(markers), positions
