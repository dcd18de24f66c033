"""Studies: all candidates of a search in a database, with their best solutions and summaries."""

from homodyn.search.studies.candidate_table import CandidateTable
from homodyn.search.studies.result import (
    SearchProgress,
    SearchResult,
    SearchSolution,
    SearchStatus,
    best_solutions,
)
from homodyn.search.studies.study import Study
from homodyn.search.studies.summary import StudySummary, summarize
from homodyn.search.studies.table_files import export

__all__ = [
    "CandidateTable",
    "SearchProgress",
    "SearchResult",
    "SearchSolution",
    "SearchStatus",
    "Study",
    "StudySummary",
    "best_solutions",
    "export",
    "summarize",
]
