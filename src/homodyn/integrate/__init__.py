"""Integration methods and event location for bodies, networks and optimal control."""

from homodyn.integrate.dormand_prince import (
    EmbeddedStep,
    dense_output,
    dormand_prince_step,
)
from homodyn.integrate.interpolation import hermite_interpolation
from homodyn.integrate.methods import (
    FIXED_STEP_METHODS,
    METHOD_KEYWORDS,
    METHODS,
    DynamicalSystem,
    ExplicitRungeKutta,
    Integrator,
    Leapfrog,
    SemiImplicitEuler,
    SolvedMethod,
    fixed_step_method,
    runge_kutta,
)
from homodyn.integrate.radau import (
    QUADRATURE_WEIGHTS,
    RadauFactors,
    RadauStep,
    predicted_stages,
    radau_factors,
    radau_step,
    refined_error,
)
from homodyn.integrate.tableau import (
    DORMAND_PRINCE,
    EXPLICIT_EULER,
    HEUN,
    RK4,
    EmbeddedTableau,
    Tableau,
)
from homodyn.integrate.zero_crossings import (
    crosses_zero,
    cut_fraction,
    is_located,
    is_reached,
    secant_fraction,
)

__all__ = [
    "DORMAND_PRINCE",
    "EXPLICIT_EULER",
    "FIXED_STEP_METHODS",
    "HEUN",
    "METHODS",
    "METHOD_KEYWORDS",
    "QUADRATURE_WEIGHTS",
    "RK4",
    "DynamicalSystem",
    "EmbeddedStep",
    "EmbeddedTableau",
    "ExplicitRungeKutta",
    "Integrator",
    "Leapfrog",
    "RadauFactors",
    "RadauStep",
    "SemiImplicitEuler",
    "SolvedMethod",
    "Tableau",
    "crosses_zero",
    "cut_fraction",
    "dense_output",
    "dormand_prince_step",
    "fixed_step_method",
    "hermite_interpolation",
    "is_located",
    "is_reached",
    "predicted_stages",
    "radau_factors",
    "radau_step",
    "refined_error",
    "runge_kutta",
    "secant_fraction",
]
