"""Results of live tracking as files that grow by frames: a motion (.mot) and a table (.csv)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from homodyn.errors import FormatError
from homodyn.foundation.files import atomic_file
from homodyn.model import Model
from homodyn.model.formats.osim_coordinates import can_be_in_degrees, osim_coordinates
from homodyn.motion.coordinate_columns import angular_coordinates
from homodyn.track.streams.live_sample import LiveSample
from homodyn.track.streams.outputs.growing_table import GrowingTable
from homodyn.track.streams.outputs.live_output import LiveOutput


class ResultFiles(LiveOutput):
    """Writes ``motion.mot`` and ``frames.csv``; further ones are numbered if the model changes.

    ``motion.mot`` has the coordinates (degrees where OpenSim converts them, and m). ``frames.csv``
    has time, latency, marker error, power and effort, coordinates (rad, m), torques (N m, N), and
    the forces of the ground (N) with their points (m), Z up.

    Args:
        folder: The folder.
        parquet: Whether ``frames.parquet`` is written at the end; it needs pyarrow.
    """

    def __init__(self, folder: Path, *, parquet: bool = False) -> None:
        self.folder, self.parquet = folder, parquet
        self.frames = 0
        self.paths: list[Path] = []
        self._model: Model | None = None
        self._motion: GrowingTable | None = None
        self._table: GrowingTable | None = None
        self._last_time = -np.inf
        self._part = 0
        self._factors = np.zeros(0)
        self._bodies: tuple[str, ...] = ()

    def start(self, model: Model) -> None:
        """Use a model from the next result on; see `LiveOutput.start`.

        Args:
            model: The model.
        """
        self._close_tables()
        self._model = model
        factors = np.rad2deg(1.0) if can_be_in_degrees(model) else 1.0
        self._factors = np.where(angular_coordinates(model), factors, 1.0)

    def write(self, sample: LiveSample) -> None:
        """Add a result to both files; see `LiveOutput.write`.

        Args:
            sample: The result.

        Raises:
            FormatError: A file cannot be written.
        """
        if self._table is None or sample.time <= self._last_time:
            self._create_tables(sample)
        assert self._model is not None
        assert self._table is not None
        assert self._motion is not None
        self._last_time = sample.time
        values = osim_coordinates(self._model, sample.q[None])[0]
        self._motion.append(_row("\t", [sample.time, *(values * self._factors).tolist()]))
        cells = [
            sample.time,
            1e3 * sample.latency_s,
            1e3 * sample.marker_error,
            sample.power,
            sample.effort,
            *values.tolist(),
            *sample.torques.tolist(),
        ]
        for body in self._bodies:
            contact = sample.ground.get(body)
            if contact is None:
                cells += [0.0] * 3 + [np.nan] * 3
            else:
                cells += [*contact.force.tolist(), *contact.point.tolist()]
        self._table.append(_row(",", cells))
        self.frames += 1

    def close(self) -> None:
        """Close the files, and convert the tables to Parquet if this was asked for.

        Raises:
            FormatError: pandas or pyarrow is missing.
        """
        self._close_tables()
        if self.parquet:
            for path in self.paths:
                if path.suffix == ".csv":
                    _write_parquet(path)

    def _close_tables(self) -> None:
        for table in (self._motion, self._table):
            if table is not None:
                table.close()
        self._motion = self._table = None

    def _create_tables(self, sample: LiveSample) -> None:
        """Create the files of a model, or of a stream whose clock was set back."""
        self._close_tables()
        assert self._model is not None
        self._part += 1
        ending = "" if self._part == 1 else f"_{self._part}"
        names = self._model.coordinate_names
        self._bodies = tuple(sample.ground)
        degrees = "yes" if can_be_in_degrees(self._model) else "no"
        motion_path = self.folder / f"motion{ending}.mot"
        self._motion = GrowingTable(
            motion_path,
            f"Coordinates\nversion=1\nnRows={{rows}}\nnColumns={len(names) + 1}\n"
            f"inDegrees={degrees}\nendheader\n" + "\t".join(["time", *names]) + "\n",
        )
        heads = ["time_s", "latency_ms", "marker_error_mm", "power_w", "effort_nm", *names]
        heads += [f"{name}_torque" for name in names]
        for body in self._bodies:
            heads += [f"{body}_ground_force_{axis}" for axis in "xyz"]
            heads += [f"{body}_ground_point_{axis}" for axis in "xyz"]
        table_path = self.folder / f"frames{ending}.csv"
        self._table = GrowingTable(table_path, ",".join(heads) + "\n")
        self.paths += [motion_path, table_path]


def _row(separator: str, values: list[float]) -> str:
    return separator.join("NaN" if x != x else f"{x:.9g}" for x in values)


def _write_parquet(path: Path) -> None:
    try:
        import pandas
        import pyarrow  # noqa: F401
    except ImportError:
        raise FormatError(
            "Parquet needs pandas and pyarrow: pip install 'homodyn[pandas,parquet]'", str(path)
        ) from None
    table = pandas.read_csv(path)
    with atomic_file(path.with_suffix(".parquet")) as temporary:
        table.to_parquet(temporary)
