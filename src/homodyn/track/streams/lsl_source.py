"""Marker frames of the Lab Streaming Layer (LSL)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from homodyn.capture.trial import Y_UP_TO_Z_UP
from homodyn.errors import CaptureError
from homodyn.track.streams.json_messages import MAX_COORDINATE_M
from homodyn.track.streams.marker_frame import MarkerFrame
from homodyn.track.streams.marker_source import MarkerSource
from homodyn.track.streams.stream_errors import StreamError

RESOLVE_TIMEOUT_S = 3.0
MAX_CHUNK_SAMPLES = 64
BUFFER_S = 10
POSITION_TYPES = {"positionx": 0, "positiony": 1, "positionz": 2}
"""Types of channels in the recommended metadata of motion capture streams, and their axes."""
LABEL_ENDINGS = tuple((f"{mark}{axis}", k) for mark in "._-: " for k, axis in enumerate("xyz"))
LENGTHS_M = {"m": 1.0, "meter": 1.0, "meters": 1.0, "metre": 1.0, "metres": 1.0} | dict.fromkeys(
    ("mm", "millimeter", "millimeters", "millimetre", "millimetres"), 1e-3
)
QUIET_LOG = "[log]\nlevel = -2\n"


class LslSource(MarkerSource):
    """The markers of an LSL stream, by its name.

    The channels need metadata as the XDF project recommends it for motion capture: ``marker`` and
    ``type`` (PositionX, PositionY, PositionZ), or labels such as ``LASI.X``; ``unit`` is meters or
    millimeters. The time stamps are corrected to the clock of this machine.

    Args:
        name: Name of the stream.
        up: Vertical axis of the stream, "z" or "y".
    """

    def __init__(self, name: str, up: str = "z") -> None:
        super().__init__()
        if up not in ("z", "y"):
            raise CaptureError(f"the vertical axis is {up!r}; accepted: z and y")
        self.name, self.up = name, up
        self.address = f"lsl:{name}"
        self._inlet: Any = None
        self._labels: tuple[str, ...] = ()
        self._columns = np.zeros((0, 3), dtype=int)
        self._factors = np.zeros((0, 3))

    def open(self) -> None:
        """Find the stream and read its metadata.

        Raises:
            StreamError: There is no such stream, pylsl is missing, or no channel is a position.
        """
        pylsl = require_pylsl()
        self.close()
        found = pylsl.resolve_byprop("name", self.name, 1, RESOLVE_TIMEOUT_S)
        if not found:
            others = sorted({info.name() for info in pylsl.resolve_streams(0.5)})
            listed = f"; streams on this network: {', '.join(others)}" if others else ""
            raise StreamError(f"there is no LSL stream {self.name!r}{listed}")
        inlet = pylsl.StreamInlet(
            found[0],
            max_buflen=BUFFER_S,
            recover=False,
            processing_flags=pylsl.proc_clocksync,
        )
        try:
            info = inlet.info(RESOLVE_TIMEOUT_S)
            inlet.open_stream(RESOLVE_TIMEOUT_S)
        except Exception as error:
            raise StreamError(f"{self.address} does not answer: {error}") from error
        self._labels, self._columns, self._factors = read_channels(info, self.address)
        self._inlet = inlet

    def read(self, timeout_s: float) -> Sequence[MarkerFrame]:
        """Return the frames that arrived; see `MarkerSource.read`.

        Args:
            timeout_s: Longest time to wait (s).

        Returns:
            The frames.

        Raises:
            StreamError: The stream is lost.
        """
        if self._inlet is None:
            raise StreamError(f"{self.address} is not open")
        try:
            # A chunk waits until it is full; the first sample alone comes at once.
            sample, stamp = self._inlet.pull_sample(timeout=timeout_s)
            if sample is None:
                return ()
            rows, stamps = [sample], [stamp]
            more, times = self._inlet.pull_chunk(timeout=0.0, max_samples=MAX_CHUNK_SAMPLES)
        except Exception as error:
            raise StreamError(f"{self.address}: the stream is lost ({error})") from error
        rows, stamps = rows + list(more or ()), stamps + list(times or ())
        arrival = perf_counter()
        values = np.asarray(rows, dtype=float)[:, self._columns] * self._factors
        values[~(np.abs(values) <= MAX_COORDINATE_M).all(-1)] = np.nan
        if self.up == "y":
            values = values @ Y_UP_TO_Z_UP.T
        return [
            MarkerFrame(float(time), self._labels, positions, arrival)
            for time, positions in zip(stamps, values, strict=True)
        ]

    def close(self) -> None:
        """Leave the stream."""
        if self._inlet is not None:
            self._inlet.close_stream()
            self._inlet = None


def read_channels(info: Any, address: str) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Markers of the channels of an LSL stream.

    Args:
        info: ``pylsl.StreamInfo`` with metadata.
        address: Address of the stream, for messages.

    Returns:
        Labels; (markers, 3) numbers of channels; (markers, 3) factors to meters.

    Raises:
        StreamError: No marker has three positions.
    """
    axes: dict[str, dict[int, tuple[int, float]]] = {}
    channel = info.desc().child("channels").child("channel")
    for number in range(info.channel_count()):
        if channel.empty():
            break
        label = channel.child_value("label")
        marker = channel.child_value("marker")
        axis = POSITION_TYPES.get(channel.child_value("type").lower())
        ending = next((k for end, k in LABEL_ENDINGS if label.lower().endswith(end)), None)
        if axis is None:
            axis = ending
        if axis is not None:
            name = marker or (label[:-2] if ending is not None else label)
            factor = LENGTHS_M.get(channel.child_value("unit").lower(), 1.0)
            axes.setdefault(name, {})[axis] = (number, factor)
        channel = channel.next_sibling("channel")
    complete = {name: found for name, found in axes.items() if name and len(found) == 3}
    if not complete:
        raise StreamError(
            f"{address} has no channels with marker positions; its metadata needs, per channel, "
            "marker and type (PositionX, PositionY, PositionZ), or labels such as LASI.X"
        )
    columns = np.array([[found[k][0] for k in range(3)] for found in complete.values()])
    factors = np.array([[found[k][1] for k in range(3)] for found in complete.values()])
    return tuple(complete), columns, factors


def require_pylsl() -> Any:
    """Import pylsl with a quiet log.

    Returns:
        The module.

    Raises:
        StreamError: It is not installed, or its library cannot be loaded.
    """
    if "LSLAPICFG" not in os.environ and not _has_user_settings():
        settings = Path(tempfile.gettempdir()) / f"homodyn_lsl_{os.getpid()}.cfg"
        settings.write_text(QUIET_LOG, encoding="ascii")
        os.environ["LSLAPICFG"] = str(settings)
    try:
        import pylsl
    except (ImportError, RuntimeError, OSError) as error:
        raise StreamError(
            f"streams of LSL need the package pylsl ({error}): pip install 'homodyn[live]'"
        ) from None
    return pylsl


def _has_user_settings() -> bool:
    """Whether the user has settings of LSL, which must stay in force."""
    places = (Path("lsl_api.cfg"), Path.home() / "lsl_api" / "lsl_api.cfg")
    return any(place.exists() for place in (*places, Path("/etc/lsl_api/lsl_api.cfg")))
