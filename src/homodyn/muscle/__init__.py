"""Muscles: paths, lengths and moment arms, muscle-tendon models, and who does the work.

``models`` groups the muscle-tendon models and activation dynamics, ``stimulation`` electrically
stimulated muscles.
"""

from homodyn.muscle import models, stimulation
from homodyn.muscle.fiber_history import FiberHistory, fiber_history
from homodyn.muscle.fiber_ranges import FiberRange, fiber_ranges
from homodyn.muscle.forces import (
    FiberEquilibrium,
    ForceCapacity,
    equilibrium,
    force_capacity,
    forces,
)
from homodyn.muscle.joint_reactions import JointReactions, joint_reactions
from homodyn.muscle.metabolic_models import Bhargava2004, MetabolicModel, Umberger2010
from homodyn.muscle.metabolic_power import (
    MetabolicPower,
    MuscleMetabolism,
    metabolic_power,
    metabolic_rates,
)
from homodyn.muscle.muscle_activations import ActivationStatus, MuscleActivations
from homodyn.muscle.path_faults import PathFault, PathFaultKind, find_path_faults
from homodyn.muscle.path_jumps import PathJump, find_path_jumps, path_states
from homodyn.muscle.path_polynomials import MusclePolynomial, PathPolynomials, fit_polynomials
from homodyn.muscle.path_scaling import ScalingJump, find_scaling_jumps, scale_fibers
from homodyn.muscle.paths import lengthening_speeds, lengths, moment_arms
from homodyn.muscle.redundancy.options import EmgTargets, StaticOptimizationOptions
from homodyn.muscle.static_optimization import static_optimization
from homodyn.muscle.strength_scaling import scale_strengths

__all__ = [
    "ActivationStatus",
    "Bhargava2004",
    "EmgTargets",
    "FiberEquilibrium",
    "FiberHistory",
    "FiberRange",
    "ForceCapacity",
    "JointReactions",
    "MetabolicModel",
    "MetabolicPower",
    "MuscleActivations",
    "MuscleMetabolism",
    "MusclePolynomial",
    "PathFault",
    "PathFaultKind",
    "PathJump",
    "PathPolynomials",
    "ScalingJump",
    "StaticOptimizationOptions",
    "Umberger2010",
    "equilibrium",
    "fiber_history",
    "fiber_ranges",
    "find_path_faults",
    "find_path_jumps",
    "find_scaling_jumps",
    "fit_polynomials",
    "force_capacity",
    "forces",
    "joint_reactions",
    "lengthening_speeds",
    "lengths",
    "metabolic_power",
    "metabolic_rates",
    "models",
    "moment_arms",
    "path_states",
    "scale_fibers",
    "scale_strengths",
    "static_optimization",
    "stimulation",
]
