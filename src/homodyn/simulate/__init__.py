"""Simulation: contact laws, actuation, events, single runs and rollouts of whole batches.

The functions and classes of the usual workflow are here; the rest is grouped: ``actuation`` (your
own actuations), ``geometry`` (signed distances and gaps), ``laws`` (your own contact laws),
``rows`` (implicit springs), ``signals`` (controllers with memory), ``measures``, ``rigid`` and
``solvers``.
"""

from homodyn.integrate import METHODS, Integrator
from homodyn.simulate import actuation, geometry, laws, measures, rigid, rows, signals, solvers
from homodyn.simulate.actuation import Actuation, Controller, SampledTorques, Torques
from homodyn.simulate.events import StateEvent
from homodyn.simulate.external_forces import BodyForce
from homodyn.simulate.geometry import ContactGeometry, gap_distances, level_ground, place_on_ground
from homodyn.simulate.laws import (
    ContactLaw,
    HuntCrossleyContact,
    ImplicitSprings,
    PadContact,
    SoftContact,
    heel_pads,
    osim_contact,
)
from homodyn.simulate.measures import (
    Count,
    FirstTime,
    Integral,
    Maximum,
    Mean,
    Measure,
    Minimum,
    StandardDeviation,
)
from homodyn.simulate.muscle_actuation import MuscleActuation
from homodyn.simulate.muscle_excitations import LengthServo, SampledExcitations
from homodyn.simulate.muscle_history import fiber_history_of
from homodyn.simulate.options import SimulationOptions
from homodyn.simulate.result import (
    EnergyBalance,
    EventOccurrence,
    SimulationResult,
    SimulationStatus,
)
from homodyn.simulate.rigid import EventDrivenContact, TimeStepping
from homodyn.simulate.rollout import BatchSimulator, RolloutResult, rollout
from homodyn.simulate.rows import JointLimits, ResidualJoint, SpringLaw
from homodyn.simulate.run import CONTACT_LAWS, run
from homodyn.simulate.servos import PD
from homodyn.simulate.simulation import Simulation, start
from homodyn.simulate.stimulated_muscles import (
    StimulatedMuscles,
    StimulationRecord,
    stimulation_record,
)

__all__ = [
    "CONTACT_LAWS",
    "METHODS",
    "PD",
    "Actuation",
    "BatchSimulator",
    "BodyForce",
    "ContactGeometry",
    "ContactLaw",
    "Controller",
    "Count",
    "EnergyBalance",
    "EventDrivenContact",
    "EventOccurrence",
    "FirstTime",
    "HuntCrossleyContact",
    "ImplicitSprings",
    "Integral",
    "Integrator",
    "JointLimits",
    "LengthServo",
    "Maximum",
    "Mean",
    "Measure",
    "Minimum",
    "MuscleActuation",
    "PadContact",
    "ResidualJoint",
    "RolloutResult",
    "SampledExcitations",
    "SampledTorques",
    "Simulation",
    "SimulationOptions",
    "SimulationResult",
    "SimulationStatus",
    "SoftContact",
    "SpringLaw",
    "StandardDeviation",
    "StateEvent",
    "StimulatedMuscles",
    "StimulationRecord",
    "TimeStepping",
    "Torques",
    "actuation",
    "fiber_history_of",
    "gap_distances",
    "geometry",
    "heel_pads",
    "laws",
    "level_ground",
    "measures",
    "osim_contact",
    "place_on_ground",
    "rigid",
    "rollout",
    "rows",
    "run",
    "signals",
    "solvers",
    "start",
    "stimulation_record",
]
