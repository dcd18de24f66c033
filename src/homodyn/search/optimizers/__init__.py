"""Optimizers: their interface, and the methods that come with Homodyn."""

from homodyn.search.optimizers.cmaes import CMAES
from homodyn.search.optimizers.ga import GA
from homodyn.search.optimizers.grid import Grid
from homodyn.search.optimizers.interface import (
    InitialSolutions,
    Optimizer,
    OptimizerSettings,
    Population,
    SearchSetup,
)
from homodyn.search.optimizers.mmpso import MMPSO, migration_probabilities
from homodyn.search.optimizers.nsga2 import NSGA2
from homodyn.search.optimizers.pso import PSO
from homodyn.search.optimizers.spsa import SPSA

__all__ = [
    "CMAES",
    "GA",
    "MMPSO",
    "NSGA2",
    "PSO",
    "SPSA",
    "Grid",
    "InitialSolutions",
    "Optimizer",
    "OptimizerSettings",
    "Population",
    "SearchSetup",
    "migration_probabilities",
]
