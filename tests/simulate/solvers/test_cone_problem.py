"""Checks of contact problems."""

import numpy as np
import pytest

from homodyn.errors import HomodynError
from homodyn.simulate.solvers import ConeProblem


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cones": ((0, 1), (1, 2))}, "different rows"),
        ({"cones": ((0,),)}, "2 or 3 rows"),
        ({"cones": ((0, 1, 2),), "friction": -0.1}, "negative"),
        ({"cones": ((0, 1, 2),), "friction": [0.1, 0.2]}, "one coefficient"),
        ({"lower": 1.0, "upper": 0.0}, "above its upper"),
        ({"A": np.eye(2)}, "to fit b"),
    ],
)
def test_invalid_problems_are_refused(fields, message):
    with pytest.raises(HomodynError, match=message):
        ConeProblem(**({"A": np.eye(3), "b": np.zeros(3)} | fields))
