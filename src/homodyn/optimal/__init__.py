"""Multi-phase optimal control: state a problem, transcribe it, solve it, verify the solution.

The package is layered: ``statement`` -> ``transcription`` -> ``nlp`` -> ``solve`` -> ``verify``;
each layer imports only those before it. `Problem` is the entry point.
"""

from homodyn.optimal.conflicting_constraints import RelaxedSolve, conflicting_constraints
from homodyn.optimal.inverse_optimal_control import InferredWeights, infer_weights
from homodyn.optimal.muscle_problems import (
    MuscleProblemOptions,
    muscle_inverse_problem,
    muscle_tracking_problem,
)
from homodyn.optimal.nlp.transcribed_problem import TranscribedProblem
from homodyn.optimal.problem import Problem, solve_transcribed
from homodyn.optimal.solve.options import SolveOptions
from homodyn.optimal.solve.phase_solution import MuscleSolution, PhaseSolution
from homodyn.optimal.solve.solve_status import SolveStatus
from homodyn.optimal.solve.solver_result import ConstraintViolation
from homodyn.optimal.statement.capsule_distance import capsule_distance, min_distance
from homodyn.optimal.statement.external_loads import ExternalLoad, wrench_of_force
from homodyn.optimal.statement.muscle_drive import MuscleDrive
from homodyn.optimal.statement.muscle_point import MusclePoint
from homodyn.optimal.statement.objective_terms import (
    ObjectiveTerm,
    acceleration,
    activation,
    angular_momentum,
    contact_force,
    effort_per_distance,
    excitation,
    head_stabilization,
    metabolic_power,
    power,
    time,
    torque,
    torque_change,
    track,
    track_activations,
    track_coordinates,
    track_force,
    track_markers,
)
from homodyn.optimal.statement.path_constraints import (
    BoundaryConstraint,
    PathConstraint,
    coordinates,
    friction_cone,
    friction_pyramid,
    height,
    muscle_equilibrium,
    periodic,
    periodic_muscles,
    require,
    rest,
    step_length,
    unilateral,
    velocity,
)
from homodyn.optimal.statement.phase import Phase
from homodyn.optimal.statement.problem_statement import FreeParameter
from homodyn.optimal.statement.springs import Spring
from homodyn.optimal.statement.time_point import TimePoint
from homodyn.optimal.transcription.interface import Transcription
from homodyn.optimal.transcription.registry import TRANSCRIPTIONS
from homodyn.optimal.verify.diagnostics import DiagnosticGroup, Diagnostics
from homodyn.optimal.verify.path_violations import PathViolation
from homodyn.optimal.verify.resimulation import IntegrationDefect
from homodyn.optimal.verify.solution import Solution

__all__ = [
    "TRANSCRIPTIONS",
    "BoundaryConstraint",
    "ConstraintViolation",
    "DiagnosticGroup",
    "Diagnostics",
    "ExternalLoad",
    "FreeParameter",
    "InferredWeights",
    "IntegrationDefect",
    "MuscleDrive",
    "MusclePoint",
    "MuscleProblemOptions",
    "MuscleSolution",
    "ObjectiveTerm",
    "PathConstraint",
    "PathViolation",
    "Phase",
    "PhaseSolution",
    "Problem",
    "RelaxedSolve",
    "Solution",
    "SolveOptions",
    "SolveStatus",
    "Spring",
    "TimePoint",
    "TranscribedProblem",
    "Transcription",
    "acceleration",
    "activation",
    "angular_momentum",
    "capsule_distance",
    "conflicting_constraints",
    "contact_force",
    "coordinates",
    "effort_per_distance",
    "excitation",
    "friction_cone",
    "friction_pyramid",
    "head_stabilization",
    "height",
    "infer_weights",
    "metabolic_power",
    "min_distance",
    "muscle_equilibrium",
    "muscle_inverse_problem",
    "muscle_tracking_problem",
    "periodic",
    "periodic_muscles",
    "power",
    "require",
    "rest",
    "solve_transcribed",
    "step_length",
    "time",
    "torque",
    "torque_change",
    "track",
    "track_activations",
    "track_coordinates",
    "track_force",
    "track_markers",
    "unilateral",
    "velocity",
    "wrench_of_force",
]
