"""From recordings to movement: trials, marker health, scaling, angles, torques and gait."""

from homodyn.capture.cutoff import suggest_cutoff
from homodyn.capture.cycles import Cycles, Similarity, Stride, cycles, similarity, strides
from homodyn.capture.derivatives import Derivatives, derivatives, opensim_derivatives
from homodyn.capture.elevation import ElevationAngles, Planarity, elevation_angles, planarity
from homodyn.capture.emg import EmgCycles, emg_channels, emg_cycles, emg_envelopes
from homodyn.capture.events import Events, find_events
from homodyn.capture.filters import bandpass, butterworth, highpass, lowpass, opensim_lowpass
from homodyn.capture.gait_measures import GaitMeasures, Measure, gait_measures
from homodyn.capture.labels import Matching, match_labels, read_map, write_map
from homodyn.capture.legs import Leg, legs_of
from homodyn.capture.load import FootForce, Loads
from homodyn.capture.motion import FitStatus, Motion
from homodyn.capture.reading import read, read_plates, read_table, write, write_table
from homodyn.capture.stability import Stability, margin_of_stability
from homodyn.capture.table import Table
from homodyn.capture.trial import Y_UP, Event, ForcePlate, Signals, Trial, Wiring
from homodyn.capture.world import in_world_of, world_axes

__all__ = [
    "Y_UP",
    "Cycles",
    "Derivatives",
    "ElevationAngles",
    "EmgCycles",
    "Event",
    "Events",
    "FitStatus",
    "FootForce",
    "ForcePlate",
    "GaitMeasures",
    "Leg",
    "Loads",
    "Matching",
    "Measure",
    "Motion",
    "Planarity",
    "Signals",
    "Similarity",
    "Stability",
    "Stride",
    "Table",
    "Trial",
    "Wiring",
    "bandpass",
    "butterworth",
    "cycles",
    "derivatives",
    "elevation_angles",
    "emg_channels",
    "emg_cycles",
    "emg_envelopes",
    "find_events",
    "gait_measures",
    "highpass",
    "in_world_of",
    "legs_of",
    "lowpass",
    "margin_of_stability",
    "match_labels",
    "opensim_derivatives",
    "opensim_lowpass",
    "planarity",
    "read",
    "read_map",
    "read_plates",
    "read_table",
    "similarity",
    "strides",
    "suggest_cutoff",
    "world_axes",
    "write",
    "write_map",
    "write_table",
]
