"""Benchmarks: Homodyn and its peers timed side by side, reported as ratios."""

from homodyn.bench.harness import (
    Benchmark,
    Report,
    Row,
    benchmark,
    benchmarks,
    best_of,
    interleave,
    missing,
    run,
)

__all__ = [
    "Benchmark",
    "Report",
    "Row",
    "benchmark",
    "benchmarks",
    "best_of",
    "interleave",
    "missing",
    "run",
]
