"""Muscles: paths over wrap objects, their lengths, lengthening speeds and moment arms."""

from homodyn.muscle.path_jumps import PathJump, find_path_jumps, path_states
from homodyn.muscle.path_polynomials import MusclePolynomial, PathPolynomials, fit_polynomials
from homodyn.muscle.paths import lengthening_speeds, lengths, moment_arms

__all__ = [
    "MusclePolynomial",
    "PathJump",
    "PathPolynomials",
    "find_path_jumps",
    "fit_polynomials",
    "lengthening_speeds",
    "lengths",
    "moment_arms",
    "path_states",
]
