"""Benchmarks: Homodyn and other programs timed side by side, reported as ratios."""

from homodyn.bench.harness import (
    Benchmark,
    BenchmarkReport,
    BenchmarkRow,
    benchmark,
    benchmarks,
    best_of,
    interleave,
    missing,
    run,
)

__all__ = [
    "Benchmark",
    "BenchmarkReport",
    "BenchmarkRow",
    "benchmark",
    "benchmarks",
    "best_of",
    "interleave",
    "missing",
    "run",
]
