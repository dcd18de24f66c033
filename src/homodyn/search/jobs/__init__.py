"""Jobs: everything about a search, as an object or a file."""

from homodyn.search.jobs.job import (
    EvaluationSettings,
    ExecutionSettings,
    Job,
    JobKeywords,
    Seeding,
    create_job,
)
from homodyn.search.jobs.job_file import read_job

__all__ = [
    "EvaluationSettings",
    "ExecutionSettings",
    "Job",
    "JobKeywords",
    "Seeding",
    "create_job",
    "read_job",
]
