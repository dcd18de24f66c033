"""From recordings to movement: trials, marker health, scaling, angles, torques and gait."""

from homodyn.capture.feet import Foot, find_feet
from homodyn.capture.inverse_dynamics import loads
from homodyn.capture.load import FootForce, Loads
from homodyn.capture.motion import FitStatus, Motion
from homodyn.capture.prediction import predicted_forces
from homodyn.capture.redistribution import Change, redistributed
from homodyn.capture.residuals import Residuals, residuals
from homodyn.capture.smoothing import smoothed
from homodyn.capture.trial import Y_UP, Event, ForcePlate, Signals, Trial
from homodyn.capture.work import (
    Energy,
    PowerBalance,
    Work,
    energy,
    power_and_work,
    power_balance,
    work_by_cycle,
)
from homodyn.capture.world import in_world_of, world_axes

__all__ = [
    "Y_UP",
    "Change",
    "Energy",
    "Event",
    "FitStatus",
    "Foot",
    "FootForce",
    "ForcePlate",
    "Loads",
    "Motion",
    "PowerBalance",
    "Residuals",
    "Signals",
    "Trial",
    "Work",
    "energy",
    "find_feet",
    "in_world_of",
    "loads",
    "power_and_work",
    "power_balance",
    "predicted_forces",
    "redistributed",
    "residuals",
    "smoothed",
    "work_by_cycle",
    "world_axes",
]
