"""Simulation: contact laws, actuation, events, single runs and rollouts of whole batches."""

from homodyn.integrate import METHODS, Integrator
from homodyn.simulate.actuation import (
    PD,
    Actuation,
    ActuationInput,
    ActuationLoad,
    ControlFunction,
    Controller,
    SampledTorques,
    SymbolicTorques,
    TorqueFunction,
    Torques,
)
from homodyn.simulate.contact_geometry import (
    ContactGeometry,
    Gap,
    gap_distances,
    gap_velocity,
    place_on_ground,
)
from homodyn.simulate.contact_law import (
    ContactForces,
    ContactLaw,
    EventDrivenLaw,
    ForceLaw,
    StepLaw,
    StepProblem,
    VelocityStep,
)
from homodyn.simulate.events import StateEvent
from homodyn.simulate.implicit_rows import (
    ErrorReduction,
    ImplicitRow,
    SpringDamper,
    erp_cfm_from_spring_damper,
    piecewise_spring,
    spring_damper_from_erp_cfm,
    spring_damper_from_frequency,
)
from homodyn.simulate.implicit_springs import ImplicitSprings
from homodyn.simulate.joint_rows import JointLimits, JointRow
from homodyn.simulate.obstacles import BoxObstacle, HeightField, PlaneObstacle, level_ground
from homodyn.simulate.options import SimulationOptions
from homodyn.simulate.result import (
    EnergyBalance,
    EventOccurrence,
    SimulationResult,
    SimulationStatus,
)
from homodyn.simulate.rigid import EventDrivenContact, TimeStepping
from homodyn.simulate.rollout import BatchSimulator, RolloutResult, rollout
from homodyn.simulate.run import CONTACT_LAWS, run
from homodyn.simulate.soft_contact import SoftContact

__all__ = [
    "CONTACT_LAWS",
    "METHODS",
    "PD",
    "Actuation",
    "ActuationInput",
    "ActuationLoad",
    "BatchSimulator",
    "BoxObstacle",
    "ContactForces",
    "ContactGeometry",
    "ContactLaw",
    "ControlFunction",
    "Controller",
    "EnergyBalance",
    "ErrorReduction",
    "EventDrivenContact",
    "EventDrivenLaw",
    "EventOccurrence",
    "ForceLaw",
    "Gap",
    "HeightField",
    "ImplicitRow",
    "ImplicitSprings",
    "Integrator",
    "JointLimits",
    "JointRow",
    "PlaneObstacle",
    "RolloutResult",
    "SampledTorques",
    "SimulationOptions",
    "SimulationResult",
    "SimulationStatus",
    "SoftContact",
    "SpringDamper",
    "StateEvent",
    "StepLaw",
    "StepProblem",
    "SymbolicTorques",
    "TimeStepping",
    "TorqueFunction",
    "Torques",
    "VelocityStep",
    "erp_cfm_from_spring_damper",
    "gap_distances",
    "gap_velocity",
    "level_ground",
    "piecewise_spring",
    "place_on_ground",
    "rollout",
    "run",
    "spring_damper_from_erp_cfm",
    "spring_damper_from_frequency",
]
