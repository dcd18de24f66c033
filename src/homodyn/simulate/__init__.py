"""Simulation: contact laws, actuation, events, single runs and rollouts of whole batches.

The functions and classes of the usual workflow are here; the rest is grouped: ``actuation`` (your
own actuations), ``geometry`` (signed distances and gaps), ``laws`` (your own contact laws),
``rows`` (implicit springs), ``rigid`` and ``solvers``.
"""

from homodyn.integrate import METHODS, Integrator
from homodyn.simulate import actuation, geometry, laws, rigid, rows, solvers
from homodyn.simulate.actuation import PD, Actuation, Controller, SampledTorques, Torques
from homodyn.simulate.events import StateEvent
from homodyn.simulate.geometry import ContactGeometry, gap_distances, level_ground, place_on_ground
from homodyn.simulate.laws import (
    ContactLaw,
    HuntCrossleyContact,
    ImplicitSprings,
    SoftContact,
    osim_contact,
)
from homodyn.simulate.options import SimulationOptions
from homodyn.simulate.result import (
    EnergyBalance,
    EventOccurrence,
    SimulationResult,
    SimulationStatus,
)
from homodyn.simulate.rigid import EventDrivenContact, TimeStepping
from homodyn.simulate.rollout import BatchSimulator, RolloutResult, rollout
from homodyn.simulate.rows import JointLimits
from homodyn.simulate.run import CONTACT_LAWS, run

__all__ = [
    "CONTACT_LAWS",
    "METHODS",
    "PD",
    "Actuation",
    "BatchSimulator",
    "ContactGeometry",
    "ContactLaw",
    "Controller",
    "EnergyBalance",
    "EventDrivenContact",
    "EventOccurrence",
    "HuntCrossleyContact",
    "ImplicitSprings",
    "Integrator",
    "JointLimits",
    "RolloutResult",
    "SampledTorques",
    "SimulationOptions",
    "SimulationResult",
    "SimulationStatus",
    "SoftContact",
    "StateEvent",
    "TimeStepping",
    "Torques",
    "actuation",
    "gap_distances",
    "geometry",
    "laws",
    "level_ground",
    "osim_contact",
    "place_on_ground",
    "rigid",
    "rollout",
    "rows",
    "run",
    "solvers",
]
