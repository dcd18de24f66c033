"""Movements that are best at something: problems of several phases and their solutions."""

from homodyn.optimal.applied import Load, push
from homodyn.optimal.between import Arrival
from homodyn.optimal.build import Built
from homodyn.optimal.capsules import apart, capsule_distance
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
from homodyn.optimal.culprits import Trial, culprits
from homodyn.optimal.explanation import Explanation, Group
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
from homodyn.optimal.springs import Spring
from homodyn.optimal.synthesis import OBJECTIVES, Objective, objective, synthesis_problem, walker
from homodyn.optimal.synthesis_measures import (
    CrossEvaluation,
    Similarity,
    criteria_of,
    cross_evaluation,
    ground_forces,
    lowest_force,
    similarity,
    stride,
    stride_events,
)
from homodyn.optimal.synthesis_starts import StoredStep, starts
from homodyn.optimal.synthesize import Stage, Synthesis, synthesize
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
    "OBJECTIVES",
    "RECIPES",
    "Arrival",
    "Built",
    "Condition",
    "CrossEvaluation",
    "Explanation",
    "Footing",
    "ForceError",
    "Group",
    "Instant",
    "Link",
    "Load",
    "Objective",
    "Parameter",
    "Phase",
    "PhaseSolution",
    "Problem",
    "Recipe",
    "Reconstruction",
    "Similarity",
    "Solution",
    "Spring",
    "Stage",
    "Standing",
    "Status",
    "StoredStep",
    "Synthesis",
    "Term",
    "Trial",
    "Violation",
    "acceleration",
    "angular_momentum",
    "apart",
    "capsule_distance",
    "contact_force",
    "coordinates",
    "criteria_of",
    "cross_evaluation",
    "culprits",
    "effort_per_distance",
    "footings",
    "friction_cone",
    "ground_forces",
    "head_stabilisation",
    "height",
    "lowest_force",
    "objective",
    "periodic",
    "power",
    "push",
    "read_phases",
    "reconstruct",
    "reconstruct_trial",
    "reconstruction_problem",
    "require",
    "rest",
    "similarity",
    "starts",
    "step_length",
    "stride",
    "stride_events",
    "synthesis_problem",
    "synthesize",
    "time",
    "torque",
    "torque_change",
    "track",
    "track_coordinates",
    "track_force",
    "track_markers",
    "unilateral",
    "velocity",
    "walker",
    "whole_steps",
    "write_phases",
]
