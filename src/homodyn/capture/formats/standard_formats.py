"""The formats that Homodyn reads and writes itself: C3D, TRC, CSV, MOT and STO."""

from __future__ import annotations

from pathlib import Path

from homodyn.capture.formats.c3d import read_c3d
from homodyn.capture.formats.c3d_write import write_c3d
from homodyn.capture.formats.column_map import read_column_map
from homodyn.capture.formats.csv import read_csv, read_csv_table, write_csv, write_csv_table
from homodyn.capture.formats.file_content import read_text
from homodyn.capture.formats.file_format import ReadOptions, RecordingFormat, register_format
from homodyn.capture.formats.nexus_csv import is_nexus_csv, read_nexus_csv
from homodyn.capture.formats.storage import read_storage, write_storage
from homodyn.capture.formats.trc import read_trc, write_trc
from homodyn.capture.table import Table
from homodyn.capture.trial import Trial


class C3dFormat(RecordingFormat):
    """C3D: markers, plates, analog channels, events and properties."""

    extensions = (".c3d",)

    def read_trial(self, path: Path, options: ReadOptions) -> Trial:
        """Read a C3D file."""
        return read_c3d(path, up=options.up, partial=options.partial)

    def write_trial(self, trial: Trial, path: Path) -> None:
        """Write a C3D file."""
        write_c3d(trial, path)


class TrcFormat(RecordingFormat):
    """TRC: markers."""

    extensions = (".trc",)
    needs_markers = True

    def read_trial(self, path: Path, options: ReadOptions) -> Trial:
        """Read a TRC file."""
        return read_trc(path, up=options.up, partial=options.partial)

    def write_trial(self, trial: Trial, path: Path) -> None:
        """Write a TRC file."""
        write_trc(trial, path)


class CsvFormat(RecordingFormat):
    """CSV: markers, or any named columns."""

    extensions = (".csv",)
    accepts_columns = True
    needs_markers = True

    def read_trial(self, path: Path, options: ReadOptions) -> Trial:
        """Read markers from a CSV file."""
        if options.columns is None and is_nexus_csv(text := read_text(path)):
            return read_nexus_csv(path, text, up=options.up)
        return read_csv(path, read_column_map(options.columns), up=options.up)

    def write_trial(self, trial: Trial, path: Path) -> None:
        """Write markers to a CSV file."""
        write_csv(trial, path)

    def read_table(self, path: Path) -> Table:
        """Read columns from a CSV file."""
        return read_csv_table(path)

    def write_table(self, table: Table, path: Path) -> None:
        """Write columns to a CSV file."""
        write_csv_table(table, path)


class StorageFormat(RecordingFormat):
    """MOT and STO: named columns over time, as OpenSim and SIMM write them."""

    extensions = (".mot", ".sto")

    def read_table(self, path: Path) -> Table:
        """Read columns from a MOT or STO file."""
        return read_storage(path)

    def read_partial_table(self, path: Path) -> Table:
        """Read the complete rows of a MOT or STO file."""
        return read_storage(path, partial=True)

    def write_table(self, table: Table, path: Path) -> None:
        """Write columns to a MOT or STO file."""
        write_storage(table, path)


for _standard_format in (C3dFormat(), TrcFormat(), StorageFormat(), CsvFormat()):
    register_format(_standard_format)
