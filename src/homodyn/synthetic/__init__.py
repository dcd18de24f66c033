"""Walking trials made from the laws of motion, with the truth beside them."""

from homodyn.synthetic.comparison import Closeness, compare_with_truth
from homodyn.synthetic.files import read_truth, write_trial
from homodyn.synthetic.trial import SyntheticWalk, make_trial
from homodyn.synthetic.truth import WalkTruth
from homodyn.synthetic.walk import Walk, plan_walk

__all__ = [
    "Closeness",
    "SyntheticWalk",
    "Walk",
    "WalkTruth",
    "compare_with_truth",
    "make_trial",
    "plan_walk",
    "read_truth",
    "write_trial",
]
