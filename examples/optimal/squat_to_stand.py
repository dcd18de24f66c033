"""From a squat to standing within one second, with the least torques."""

import numpy as np
from jump import HEEL, LIMITS, TOE, squat
from small_bodies import sitter

import homodyn.optimal as oc
from homodyn.dynamics import ConstraintSet


def problem(intervals=20):
    """At rest at both ends, with a flat foot and the least torques."""
    low, high = squat(), squat(shank=0.1, bend=0.2, lean=0.0)
    rise = oc.Phase(
        "rise",
        1.0,
        ConstraintSet((TOE, HEEL)),
        [1e-3 * oc.torque()],
        [oc.unilateral("Toe", "Heel"), oc.rest().at("end")],
        intervals,
        bounds=LIMITS,
        start={"q": low, "v": dict.fromkeys(low, 0.0)},
        end={"q": {name: high[name] for name in ("Trunk_ry", "Thigh", "Shank")}},
        guess={"q": np.array([list(low.values()), list(high.values())])},
    )
    return oc.Problem(sitter(), [rise])


if __name__ == "__main__":
    print(problem().solve().explain())
