"""From recordings to movement: trials, marker health, scaling, angles, torques and gait."""

from homodyn.capture.formats.column_map import ColumnMap
from homodyn.capture.load import FootForce, Loads
from homodyn.capture.motion import FitStatus, Motion
from homodyn.capture.reading import (
    read,
    read_plates,
    read_table,
    write,
    write_plates,
    write_table,
)
from homodyn.capture.table import Table
from homodyn.capture.trial import Y_UP, Event, ForcePlate, Signals, Trial, Wiring
from homodyn.capture.world import in_world_of, world_axes

__all__ = [
    "Y_UP",
    "ColumnMap",
    "Event",
    "FitStatus",
    "FootForce",
    "ForcePlate",
    "Loads",
    "Motion",
    "Signals",
    "Table",
    "Trial",
    "Wiring",
    "in_world_of",
    "read",
    "read_plates",
    "read_table",
    "world_axes",
    "write",
    "write_plates",
    "write_table",
]
