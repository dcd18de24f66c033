"""File formats of recordings and tables, and the interface to add one."""

from homodyn.capture.formats.column_map import ColumnMap
from homodyn.capture.formats.file_format import (
    ReadOptions,
    RecordingFormat,
    register_format,
    registered_formats,
)
from homodyn.capture.formats.standard_formats import C3dFormat, CsvFormat, StorageFormat, TrcFormat

__all__ = [
    "C3dFormat",
    "ColumnMap",
    "CsvFormat",
    "ReadOptions",
    "RecordingFormat",
    "StorageFormat",
    "TrcFormat",
    "register_format",
    "registered_formats",
]
