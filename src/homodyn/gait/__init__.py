"""Walking: trials made from the laws of motion, and how close an analysis of them came."""

from homodyn.gait.synthetic import (
    Closeness,
    SyntheticWalk,
    WalkTruth,
    compare_with_truth,
    make_trial,
    read_truth,
    write_trial,
)

__all__ = [
    "Closeness",
    "SyntheticWalk",
    "WalkTruth",
    "compare_with_truth",
    "make_trial",
    "read_truth",
    "write_trial",
]
