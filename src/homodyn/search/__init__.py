"""Population-based search: spaces, goals, optimizers, executors, and studies in a database."""

from homodyn.foundation.executors import (
    DaskExecutor,
    Executor,
    ProcessExecutor,
    SerialExecutor,
    WorkerLost,
)
from homodyn.search.candidate_table import export
from homodyn.search.cmaes import CMAES
from homodyn.search.evaluation import Evaluator
from homodyn.search.expression import Expression
from homodyn.search.ga import GA
from homodyn.search.goal import Goal, Objective, Score
from homodyn.search.grid import Grid
from homodyn.search.job import EvaluationSettings, ExecutionSettings, Job, Seeding, create_job
from homodyn.search.job_file import read_job
from homodyn.search.mmpso import MMPSO, migration_probabilities
from homodyn.search.optimizer import (
    InitialSolutions,
    Optimizer,
    OptimizerSettings,
    Population,
    SearchSetup,
)
from homodyn.search.outcomes import EvaluationStatus
from homodyn.search.pso import PSO
from homodyn.search.result import SearchProgress, SearchResult, SearchSolution, best_solutions
from homodyn.search.search_loop import minimize, run
from homodyn.search.space import LinearConstraint, Pool, SearchParameter, Space
from homodyn.search.spsa import SPSA
from homodyn.search.study import Study
from homodyn.search.summary import StudySummary, summarize

__all__ = [
    "CMAES",
    "GA",
    "MMPSO",
    "PSO",
    "SPSA",
    "DaskExecutor",
    "EvaluationSettings",
    "EvaluationStatus",
    "Evaluator",
    "ExecutionSettings",
    "Executor",
    "Expression",
    "Goal",
    "Grid",
    "InitialSolutions",
    "Job",
    "LinearConstraint",
    "Objective",
    "Optimizer",
    "OptimizerSettings",
    "Pool",
    "Population",
    "ProcessExecutor",
    "Score",
    "SearchParameter",
    "SearchProgress",
    "SearchResult",
    "SearchSetup",
    "SearchSolution",
    "Seeding",
    "SerialExecutor",
    "Space",
    "Study",
    "StudySummary",
    "WorkerLost",
    "best_solutions",
    "create_job",
    "export",
    "migration_probabilities",
    "minimize",
    "read_job",
    "run",
    "summarize",
]
