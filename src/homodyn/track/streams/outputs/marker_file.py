"""The markers of a stream as TRC files that grow by frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from homodyn.capture.trial import Y_UP_TO_Z_UP
from homodyn.track.streams.marker_frame import MarkerFrame
from homodyn.track.streams.outputs.growing_table import GrowingTable

DEFAULT_RATE_HZ = 100.0
"""Rate in the header where the first two frames do not show it."""


class MarkerFile:
    """Writes all frames of a stream in millimeters, Y up; another file begins for other labels.

    Args:
        folder: Folder of the files ``markers.trc``, ``markers_2.trc`` ...
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.frames = 0
        """Number of frames in all files."""
        self.paths: list[Path] = []
        self._table: GrowingTable | None = None
        self._labels: tuple[str, ...] = ()
        self._first: MarkerFrame | None = None
        self._last_time = -np.inf

    def write(self, frame: MarkerFrame) -> None:
        """Add a frame; a late or repeated one is left out.

        Args:
            frame: The frame.

        Raises:
            FormatError: The file cannot be written.
        """
        if frame.labels != self._labels or frame.time < self._last_time - 1.0:
            self._flush_first(DEFAULT_RATE_HZ)
            self._labels, self._last_time = frame.labels, frame.time
            self._table, self._first = None, frame
            return
        if frame.time <= self._last_time:
            return
        self._flush_first(1.0 / (frame.time - self._last_time))
        self._last_time = frame.time
        self._append(frame)

    def close(self) -> None:
        """Complete the file."""
        self._flush_first(DEFAULT_RATE_HZ)
        if self._table is not None:
            self._table.close()

    def _flush_first(self, rate: float) -> None:
        """Create the file of a first frame, when the rate is known."""
        if self._first is None:
            return
        if self._table is not None:
            self._table.close()
        number = len(self.paths) + 1
        path = self.folder / ("markers.trc" if number == 1 else f"markers_{number}.trc")
        self._table = GrowingTable(path, _trc_header(path.name, self._labels, rate))
        self.paths.append(path)
        first, self._first = self._first, None
        self._append(first)

    def _append(self, frame: MarkerFrame) -> None:
        assert self._table is not None
        values = (1e3 * frame.positions @ Y_UP_TO_Z_UP).ravel().tolist()
        cells = "\t".join("NaN" if x != x else f"{x:.3f}" for x in values)
        self._table.append(f"{self._table.rows + 1}\t{frame.time:.6f}\t{cells}")
        self.frames += 1


def _trc_header(name: str, labels: tuple[str, ...], rate: float) -> str:
    original = ("OrigDataRate", "OrigDataStartFrame", "OrigNumFrames")
    keys = ("DataRate", "CameraRate", "NumFrames", "NumMarkers", "Units", *original)
    text = f"{rate:.6g}"
    values = (text, text, "{rows}", str(len(labels)), "mm", text, "1", "1")
    clean = [label.replace("\t", " ").replace("{", "(").replace("}", ")") for label in labels]
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{name}",
        "\t".join(keys),
        "\t".join(values),
        "Frame#\tTime\t" + "\t\t\t".join(clean) + "\t\t",
        "\t\t" + "\t".join(f"X{k}\tY{k}\tZ{k}" for k in range(1, len(labels) + 1)),
        "",
    ]
    return "\n".join(lines) + "\n"
