"""Solvers for forces in bounds and friction cones: pivoting, Gauss-Seidel and Newton."""

from homodyn.simulate.solvers.cone_problem import (
    ConeProblem,
    ConeSolution,
    ConeStatus,
    residual,
    violations,
)
from homodyn.simulate.solvers.gauss_seidel import gauss_seidel
from homodyn.simulate.solvers.lemke import lemke
from homodyn.simulate.solvers.newton import newton
from homodyn.simulate.solvers.pivot import pivot

__all__ = [
    "ConeProblem",
    "ConeSolution",
    "ConeStatus",
    "gauss_seidel",
    "lemke",
    "newton",
    "pivot",
    "residual",
    "violations",
]
