"""Walking trials made from the laws of motion, with the truth beside them."""

from homodyn.gait.synthetic.comparison import Closeness, compare_with_truth
from homodyn.gait.synthetic.files import read_truth, write_trial
from homodyn.gait.synthetic.trial import SyntheticWalk, make_trial
from homodyn.gait.synthetic.truth import WalkTruth
from homodyn.gait.synthetic.walk import Walk, plan_walk

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
