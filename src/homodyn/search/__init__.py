"""Population-based search: spaces, goals, optimizers, executors, and studies in a database.

The functions and classes of the usual workflow are here; the rest is grouped: ``optimizers``,
``jobs``, ``evaluation``, ``studies`` and ``executors``.
"""

from homodyn.foundation import executors
from homodyn.foundation.executors import Executor
from homodyn.search import evaluation, jobs, optimizers, studies
from homodyn.search.expression import Expression
from homodyn.search.goal import Goal, Objective, Score
from homodyn.search.jobs import Job, create_job, read_job
from homodyn.search.optimizers import (
    CMAES,
    GA,
    MMPSO,
    NSGA2,
    PSO,
    SPSA,
    Grid,
    Optimizer,
    OptimizerSettings,
)
from homodyn.search.options import SearchOptions
from homodyn.search.search_loop import minimize, run
from homodyn.search.space import LinearConstraint, Pool, SearchParameter, Space
from homodyn.search.studies import (
    SearchProgress,
    SearchResult,
    SearchSolution,
    SearchStatus,
    Study,
    best_solutions,
    export,
    summarize,
)

__all__ = [
    "CMAES",
    "GA",
    "MMPSO",
    "NSGA2",
    "PSO",
    "SPSA",
    "Executor",
    "Expression",
    "Goal",
    "Grid",
    "Job",
    "LinearConstraint",
    "Objective",
    "Optimizer",
    "OptimizerSettings",
    "Pool",
    "Score",
    "SearchOptions",
    "SearchParameter",
    "SearchProgress",
    "SearchResult",
    "SearchSolution",
    "SearchStatus",
    "Space",
    "Study",
    "best_solutions",
    "create_job",
    "evaluation",
    "executors",
    "export",
    "jobs",
    "minimize",
    "optimizers",
    "read_job",
    "run",
    "studies",
    "summarize",
]
