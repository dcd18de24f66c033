"""Advancing time: contact geometry and laws, integrators, events, runs and rollouts."""

from homodyn.simulate.actuation import PD, Controller, SampledTorques, Torques
from homodyn.simulate.events import Event
from homodyn.simulate.geometry import Gap, Scene, gap_distances, grounded
from homodyn.simulate.ground import Box, HeightField, Plane, level
from homodyn.simulate.integrators import INTEGRATORS
from homodyn.simulate.joint_rows import JointLimits
from homodyn.simulate.record import Happening, Ledger, Record, Status
from homodyn.simulate.rigid import EventDriven, TimeStepping
from homodyn.simulate.rollout import Rollout, Rollouts, rollout
from homodyn.simulate.rows import (
    Row,
    mixing_of,
    piecewise,
    spring_damper_for,
    spring_damper_of,
)
from homodyn.simulate.run import LAWS, run
from homodyn.simulate.soft import Soft
from homodyn.simulate.springs import ImplicitSprings

__all__ = [
    "INTEGRATORS",
    "LAWS",
    "PD",
    "Box",
    "Controller",
    "Event",
    "EventDriven",
    "Gap",
    "Happening",
    "HeightField",
    "ImplicitSprings",
    "JointLimits",
    "Ledger",
    "Plane",
    "Record",
    "Rollout",
    "Rollouts",
    "Row",
    "SampledTorques",
    "Scene",
    "Soft",
    "Status",
    "TimeStepping",
    "Torques",
    "gap_distances",
    "grounded",
    "level",
    "mixing_of",
    "piecewise",
    "rollout",
    "run",
    "spring_damper_for",
    "spring_damper_of",
]
