"""Movements that are best at something: problems of several phases and their solutions."""

from homodyn.optimal.between import Arrival
from homodyn.optimal.build import Built
from homodyn.optimal.conditions import (
    Condition,
    Link,
    coordinates,
    friction_cone,
    height,
    periodic,
    require,
    rest,
    step_length,
    unilateral,
    velocity,
)
from homodyn.optimal.footfalls import Footing, Standing, footings, whole_steps
from homodyn.optimal.instant import Instant
from homodyn.optimal.phase import Phase
from homodyn.optimal.phase_file import read_phases, write_phases
from homodyn.optimal.problem import Parameter, Problem
from homodyn.optimal.reconstruct import (
    ForceError,
    Reconstruction,
    reconstruct,
    reconstruct_trial,
)
from homodyn.optimal.recorded_step import RECIPES, Recipe, reconstruction_problem
from homodyn.optimal.solution import PhaseSolution, Solution, Status, Violation
from homodyn.optimal.terms import (
    Term,
    acceleration,
    angular_momentum,
    contact_force,
    effort_per_distance,
    head_stabilisation,
    power,
    time,
    torque,
    torque_change,
    track,
    track_coordinates,
    track_force,
    track_markers,
)

__all__ = [
    "RECIPES",
    "Arrival",
    "Built",
    "Condition",
    "Footing",
    "ForceError",
    "Instant",
    "Link",
    "Parameter",
    "Phase",
    "PhaseSolution",
    "Problem",
    "Recipe",
    "Reconstruction",
    "Solution",
    "Standing",
    "Status",
    "Term",
    "Violation",
    "acceleration",
    "angular_momentum",
    "contact_force",
    "coordinates",
    "effort_per_distance",
    "footings",
    "friction_cone",
    "head_stabilisation",
    "height",
    "periodic",
    "power",
    "read_phases",
    "reconstruct",
    "reconstruct_trial",
    "reconstruction_problem",
    "require",
    "rest",
    "step_length",
    "time",
    "torque",
    "torque_change",
    "track",
    "track_coordinates",
    "track_force",
    "track_markers",
    "unilateral",
    "velocity",
    "whole_steps",
    "write_phases",
]
