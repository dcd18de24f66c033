"""Two steps of a small walker with the least effort: right stance, then left stance."""

from dataclasses import replace

import numpy as np
from small_bodies import leg, walker

import homodyn.optimal as oc
from homodyn.dynamics import PointContact

SPEED = 1.1
"""m/s."""


def stance(name, foot, other, mirrored=False, intervals=16, **fields):
    """One foot is on the ground; the other swings above it and lands without impact."""
    (hip_1, knee, length), (hip_2, _, _) = leg(0.25, 0.1), leg(-0.25, 0.1)
    half_step = length * np.sin(0.25)
    first, last = [hip_1, knee, hip_2, knee], [hip_2, knee, hip_1, knee]
    middle = [*np.mean([first, last], axis=0)]
    middle[3] = 0.9  # the swinging knee flexes
    rows = [r if not mirrored else [r[2], r[3], r[0], r[1]] for r in (first, middle, last)]
    begin = 2 * half_step if mirrored else 0.0
    height = length * np.cos(0.25)
    poses = [[begin + k * half_step - half_step, height, 0.0, *row] for k, row in enumerate(rows)]
    return oc.Phase(
        name,
        (0.25, 0.8),
        PointContact(f"Foot{foot}", directions="xz"),
        terms=[1e-3 * oc.torque()],
        constraints=[oc.unilateral(f"Foot{foot}"), oc.height(f"Foot{other}", lower=0.0)],
        intervals=intervals,
        bounds={"q": fields.pop("limits", LIMITS), "v": (-8.0, 8.0), "tau": (-300.0, 300.0)},
        guess={"q": np.array(poses), "force": {f"Foot{foot} z": 62 * 9.81}, "duration": 0.45},
        periodic_start=True,
        **fields,
    )


LIMITS = {f"Knee{side}": (0.02, 1.8) for side in ("Right", "Left")} | {"Trunk_ry": (-0.3, 0.3)}


def problem(intervals=16, limits=LIMITS):
    """Both steps in sequence, periodic at a mean speed; step lengths are free."""
    right = stance("right", "Right", "Left", intervals=intervals, limits=limits)
    left = stance("left", "Left", "Right", True, intervals, limits=limits)
    landing = [
        oc.height("FootRight", upper=0.0).at("end"),
        oc.velocity("FootRight", "xz").at("end"),
    ]
    left = replace(left, constraints=[*left.constraints, *landing])
    cycle = oc.periodic(forward="Trunk_tx", speed=SPEED)
    return oc.Problem(walker(), [right, left], boundary_constraints=[cycle])


if __name__ == "__main__":
    print(problem().solve().explain())
