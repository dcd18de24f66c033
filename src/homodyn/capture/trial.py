"""Recordings: markers, force plates, analog channels and events, in Z-up world axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from homodyn.capture.model_outputs import ModelOutput, OutputKind
from homodyn.errors import CaptureError
from homodyn.foundation.record import record
from homodyn.foundation.text import count_of, duplicate_names, unknown_name
from homodyn.foundation.time_series import Curve, TimeSeries
from homodyn.motion.arrays import checked_array
from homodyn.motion.event import Event
from homodyn.motion.force_plate import ForcePlate

Y_UP_TO_Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Rotation from OpenSim's world axes (X forward, Y up, Z right) to Z-up axes."""

FRAMES_PER_PIECE = 10_000
"""Frames that are converted at once."""


@record
class Signals(TimeSeries):
    """Analog channels sampled together: EMG, raw plate voltages, switches."""

    names: tuple[str, ...] = ()
    """Names of the channels."""
    rate: float = 0.0
    """Samples per second (Hz)."""
    values: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(samples, channels), in the unit of each channel."""
    units: tuple[str, ...] = ()
    """Unit of each channel."""
    start: float = 0.0
    """Time of the first sample (s)."""
    notes: tuple[str, ...] = ()
    """Processing decisions, one sentence each."""

    def __post_init__(self) -> None:
        checked_array(self, "values", (len(self.values), len(self.names)), "analog channels")
        if self.values.size and not (np.isfinite(self.rate) and self.rate > 0.0):
            raise CaptureError(
                f"analog channels: the rate is {self.rate} Hz; a positive number is expected"
            )

    @cached_property
    def time(self) -> np.ndarray:
        """(samples,), s."""
        return self.start + np.arange(len(self.values)) / self.rate

    def headline(self) -> str:
        """Number of channels and samples, and the rate."""
        return (
            f"{count_of(len(self.names), 'analog channel')}: "
            f"{count_of(len(self.values), 'sample')} at {self.rate:g} Hz"
        )

    def columns(self) -> Mapping[str, Curve]:
        """All channels by name.

        Returns:
            One `Curve` per channel, in its unit.
        """
        units = (*self.units, *("" for _ in self.names[len(self.units) :]))
        return {
            name: Curve(name, units[k], self.time, self.values[:, k])
            for k, name in enumerate(self.names)
        }

    def channel(self, name: str) -> np.ndarray:
        """The samples of one channel.

        Args:
            name: Name of the channel.

        Returns:
            (samples,), in the unit of the channel.

        Raises:
            CaptureError: There is no such channel.
        """
        return self.values[:, _index_of("analog channel", name, self.names)]


@record
class Trial(TimeSeries):
    """One recording in meters, seconds and newtons, Z up; NaN where a marker was not seen.

    ``trial["RASI"]`` is the trajectory of a marker; ``to_pandas()`` and ``plot()`` use all markers.
    """

    name: str
    """Name of the recording, usually that of its file."""
    markers: tuple[str, ...]
    """Names of the markers."""
    positions: np.ndarray
    """(frames, markers, 3), m."""
    rate: float
    """Frames per second (Hz)."""
    start: float = 0.0
    """Time of the first frame (s)."""
    first_frame: int = 1
    """Number of the first frame in the recording system."""
    plates: tuple[ForcePlate, ...] = ()
    """Force plates on the clock of the markers."""
    analog: Signals = field(default_factory=Signals)
    """Analog channels on the clock of the markers."""
    events: tuple[Event, ...] = ()
    """Events on the clock of the markers."""
    filled: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    """(frames, markers): True where the position was computed, not measured."""
    axes: np.ndarray = field(default_factory=lambda: np.eye(3))
    """Rotation from the axes of the file to Z-up axes: ``vector = axes @ vector_in_file``."""
    source: str = ""
    """The file that it was read from."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """Further information in the file: subject, manufacturer, software."""
    notes: tuple[str, ...] = ()
    """Decisions and omissions while reading, one sentence each."""
    model_outputs: Mapping[str, ModelOutput] = field(default_factory=dict)
    """Results of a model in the file, by name: virtual points, angles, forces, moments, powers."""

    def __post_init__(self) -> None:
        frames, count = len(self.positions), len(self.markers)
        where = f"trial {self.name!r}"
        checked_array(self, "positions", (frames, count, 3), where)
        if not self.filled.size:
            object.__setattr__(self, "filled", np.zeros((frames, count), dtype=bool))
        checked_array(self, "filled", (frames, count), where, dtype=bool)
        checked_array(self, "axes", (3, 3), where)
        if not (np.isfinite(self.rate) and self.rate > 0.0):
            raise CaptureError(
                f"{where}: the rate is {self.rate} Hz; a positive number is expected"
            )
        if not np.isfinite(self.start):
            raise CaptureError(f"{where}: the start is {self.start} s; a finite time is expected")
        if np.isinf(self.positions).any():
            frame, marker = np.argwhere(np.isinf(self.positions))[0][:2]
            raise CaptureError(
                f"{where}: marker {self.markers[marker]!r} is at an infinite position in frame "
                f"{frame}; NaN marks a missing one"
            )
        doubled = duplicate_names(self.markers)
        if doubled:
            raise CaptureError(
                f"{where} has several markers with the same name: {', '.join(doubled)}"
            )

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.positions)

    @cached_property
    def time(self) -> np.ndarray:
        """(frames,), s."""
        return self.start + np.arange(self.frames) / self.rate

    @property
    def duration(self) -> float:
        """From the first frame to the last (s)."""
        return (self.frames - 1) / self.rate if self.frames else 0.0

    @cached_property
    def seen(self) -> np.ndarray:
        """(frames, markers): True where there is a position, measured or filled."""
        return np.isfinite(self.positions).all(-1)

    def headline(self) -> str:
        """Name, markers, frames, rate and plates."""
        parts = [
            count_of(len(self.markers), "marker"),
            f"{count_of(self.frames, 'frame')} at {self.rate:g} Hz",
        ]
        if self.plates:
            parts.append(count_of(len(self.plates), "force plate"))
        if self.analog.names:
            parts.append(count_of(len(self.analog.names), "analog channel"))
        if self.events:
            parts.append(count_of(len(self.events), "event"))
        return f"Trial {self.name!r}: {', '.join(parts)}"

    def columns(self) -> Mapping[str, Curve]:
        """All marker trajectories by name.

        Returns:
            One `Curve` of (frames, 3), m, per marker.
        """
        return {
            name: Curve(name, "m", self.time, self.positions[:, k])
            for k, name in enumerate(self.markers)
        }

    def resolve_column(self, name: str) -> str:
        """The name of a marker.

        Args:
            name: A name that a user wrote.

        Returns:
            The same name.

        Raises:
            CaptureError: The trial has no such marker; the message lists similar ones.
        """
        if name not in self.markers:
            raise CaptureError(unknown_name("marker", name, self.markers))
        return name

    def marker(self, label: str) -> np.ndarray:
        """Trajectory of one marker.

        Args:
            label: Name of the marker.

        Returns:
            (frames, 3), m.

        Raises:
            CaptureError: The trial has no such marker.
        """
        return self.positions[:, _index_of("marker", label, self.markers)]

    def select_markers(self, labels: Sequence[str]) -> Trial:
        """The trial with some of its markers.

        Args:
            labels: Names of the markers, in the new order.

        Returns:
            A new trial.

        Raises:
            CaptureError: The trial lacks one of the markers.
        """
        kept = [_index_of("marker", label, self.markers) for label in labels]
        return replace(
            self,
            markers=tuple(labels),
            positions=self.positions[:, kept],
            filled=self.filled[:, kept],
        )

    def rename_markers(self, names: Mapping[str, str]) -> Trial:
        """The trial with renamed markers.

        Args:
            names: New names by old names; markers that are not listed keep theirs.

        Returns:
            A new trial.

        Raises:
            CaptureError: Two markers would have the same name.
        """
        return replace(self, markers=tuple(names.get(label, label) for label in self.markers))

    def crop(self, first: float, last: float) -> Trial:
        """Frames, samples and events within a time interval, ends included.

        Args:
            first: Start of the interval, s.
            last: End of the interval, s.

        Returns:
            A new trial on the same clock.
        """
        frames = _time_slice(self.start, self.rate, self.frames, first, last)
        return replace(
            self,
            positions=self.positions[frames],
            filled=self.filled[frames],
            start=self.start + frames.start / self.rate,
            first_frame=self.first_frame + frames.start,
            plates=tuple(_crop_plate(plate, first, last) for plate in self.plates),
            analog=_crop_signals(self.analog, first, last),
            events=tuple(event for event in self.events if first <= event.time <= last),
            model_outputs={
                name: replace(output, values=output.values[frames])
                for name, output in self.model_outputs.items()
            },
        )

    def rotate(self, rotation: np.ndarray) -> Trial:
        """The trial in other axes.

        Args:
            rotation: (3, 3): applied to every vector.

        Returns:
            A new trial.
        """
        return replace(
            self,
            positions=self.positions @ rotation.T,
            plates=tuple(plate.rotate(rotation) for plate in self.plates),
            axes=rotation @ self.axes,
            model_outputs=rotate_points(self.model_outputs, rotation),
        )


def rotate_points(
    outputs: Mapping[str, ModelOutput], rotation: np.ndarray
) -> dict[str, ModelOutput]:
    """Results of a model in other axes: those that are points are rotated.

    Args:
        outputs: The results by name.
        rotation: (3, 3).

    Returns:
        The results by name.
    """
    return {
        name: replace(output, values=output.values @ rotation.T)
        if output.kind is OutputKind.POINT
        else output
        for name, output in outputs.items()
    }


def rotate_rows(positions: np.ndarray, rotation: np.ndarray) -> None:
    """Rotate positions in place, piece by piece, so that they are in memory once.

    Args:
        positions: (frames, markers, 3), m.
        rotation: (3, 3).
    """
    for first in range(0, len(positions), FRAMES_PER_PIECE):
        piece = positions[first : first + FRAMES_PER_PIECE]
        piece[:] = piece @ rotation.T


def _index_of(what: str, name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise CaptureError(unknown_name(what, name, names))
    return tuple(names).index(name)


def _time_slice(start: float, rate: float, count: int, first: float, last: float) -> slice:
    """Samples between two times (s), with a tolerance of a thousandth of a sample."""
    begin = int(np.ceil((first - start) * rate - 1e-3))
    end = int(np.floor((last - start) * rate + 1e-3)) + 1
    begin, end = max(begin, 0), min(end, count)
    return slice(begin, max(begin, end))


def _crop_plate(plate: ForcePlate, first: float, last: float) -> ForcePlate:
    kept = _time_slice(plate.start, plate.rate, len(plate.force), first, last)
    return replace(
        plate,
        force=plate.force[kept],
        point=plate.point[kept],
        torque=plate.torque[kept],
        start=plate.start + kept.start / plate.rate,
    )


def _crop_signals(signals: Signals, first: float, last: float) -> Signals:
    if not signals.names:
        return signals
    kept = _time_slice(signals.start, signals.rate, len(signals.values), first, last)
    return replace(
        signals, values=signals.values[kept], start=signals.start + kept.start / signals.rate
    )
