"""Populations: what is searched, how, where it runs, and the database that remembers it all."""

from homodyn.search.cmaes import CMAES
from homodyn.search.evaluation import Evaluator
from homodyn.search.exporting import export
from homodyn.search.expression import Expression
from homodyn.search.ga import GA
from homodyn.search.goal import Goal, Objective, Score
from homodyn.search.grid import Grid
from homodyn.search.job import Evaluate, Job, Run, Seeding, job_of, read_job
from homodyn.search.mmpso import MMPSO, migration_probabilities
from homodyn.search.optimiser import Optimiser, OptimiserSettings, Population
from homodyn.search.outcome import Status
from homodyn.search.pso import PSO
from homodyn.search.result import Progress, Result, Solution, solutions
from homodyn.search.running import minimise, run
from homodyn.search.space import Constraint, Parameter, Pool, Space
from homodyn.search.spsa import SPSA
from homodyn.search.study import Study

__all__ = [
    "CMAES",
    "GA",
    "MMPSO",
    "PSO",
    "SPSA",
    "Constraint",
    "Evaluate",
    "Evaluator",
    "Expression",
    "Goal",
    "Grid",
    "Job",
    "Objective",
    "Optimiser",
    "OptimiserSettings",
    "Parameter",
    "Pool",
    "Population",
    "Progress",
    "Result",
    "Run",
    "Score",
    "Seeding",
    "Solution",
    "Space",
    "Status",
    "Study",
    "export",
    "job_of",
    "migration_probabilities",
    "minimise",
    "read_job",
    "run",
    "solutions",
]
