"""Shared by all packages: records, time series, files and folders, TOML, findings, messages."""

from homodyn.foundation.files import (
    atomic_file,
    atomic_folder,
    read_bytes,
    write_bytes,
    write_text,
)
from homodyn.foundation.findings import Finding, Severity
from homodyn.foundation.record import Record, plain_data, record, register_codec
from homodyn.foundation.text import count_of, duplicate_names, enumerate_names, unknown_name
from homodyn.foundation.time_series import Curve, TimeSeries

__all__ = [
    "Curve",
    "Finding",
    "Record",
    "Severity",
    "TimeSeries",
    "atomic_file",
    "atomic_folder",
    "count_of",
    "duplicate_names",
    "enumerate_names",
    "plain_data",
    "read_bytes",
    "record",
    "register_codec",
    "unknown_name",
    "write_bytes",
    "write_text",
]
