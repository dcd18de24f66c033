"""Muscles: paths over wrap objects, their lengths and moment arms, and muscle-tendon models.

``models`` groups the muscle-tendon models and activation dynamics.
"""

from homodyn.muscle import models
from homodyn.muscle.forces import forces
from homodyn.muscle.path_jumps import PathJump, find_path_jumps, path_states
from homodyn.muscle.path_polynomials import MusclePolynomial, PathPolynomials, fit_polynomials
from homodyn.muscle.path_scaling import ScalingJump, find_scaling_jumps, scale_fibers
from homodyn.muscle.paths import lengthening_speeds, lengths, moment_arms

__all__ = [
    "MusclePolynomial",
    "PathJump",
    "PathPolynomials",
    "ScalingJump",
    "find_path_jumps",
    "find_scaling_jumps",
    "fit_polynomials",
    "forces",
    "lengthening_speeds",
    "lengths",
    "models",
    "moment_arms",
    "path_states",
    "scale_fibers",
]
