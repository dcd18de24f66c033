"""Muscles: paths, lengths and moment arms, muscle-tendon models, and who does the work.

``models`` groups the muscle-tendon models and activation dynamics, ``stimulation`` electrically
stimulated muscles.
"""

from homodyn.muscle import models, stimulation
from homodyn.muscle.fiber_ranges import FiberRange, fiber_ranges
from homodyn.muscle.forces import (
    FiberEquilibrium,
    ForceCapacity,
    equilibrium,
    force_capacity,
    forces,
)
from homodyn.muscle.joint_reactions import JointReactions, joint_reactions
from homodyn.muscle.muscle_activations import ActivationStatus, MuscleActivations
from homodyn.muscle.path_jumps import PathJump, find_path_jumps, path_states
from homodyn.muscle.path_polynomials import MusclePolynomial, PathPolynomials, fit_polynomials
from homodyn.muscle.path_scaling import ScalingJump, find_scaling_jumps, scale_fibers
from homodyn.muscle.paths import lengthening_speeds, lengths, moment_arms
from homodyn.muscle.redundancy.options import EmgTargets, StaticOptimizationOptions
from homodyn.muscle.static_optimization import static_optimization

__all__ = [
    "ActivationStatus",
    "EmgTargets",
    "FiberEquilibrium",
    "FiberRange",
    "ForceCapacity",
    "JointReactions",
    "MuscleActivations",
    "MusclePolynomial",
    "PathJump",
    "PathPolynomials",
    "ScalingJump",
    "StaticOptimizationOptions",
    "equilibrium",
    "fiber_ranges",
    "find_path_jumps",
    "find_scaling_jumps",
    "fit_polynomials",
    "force_capacity",
    "forces",
    "joint_reactions",
    "lengthening_speeds",
    "lengths",
    "models",
    "moment_arms",
    "path_states",
    "scale_fibers",
    "static_optimization",
    "stimulation",
]
