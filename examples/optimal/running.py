"""Running: a stance phase and a flight phase whose end mirrors the start."""

import numpy as np
from small_bodies import leg, walker

import homodyn.optimal as oc
from homodyn.dynamics import PointContact

SPEED = 3.0
"""m/s."""
LIMITS = {
    "q": {"KneeRight": (0.05, 2.2), "KneeLeft": (0.05, 2.2), "Trunk_ry": (-0.2, 0.5)},
    "v": (-25.0, 25.0),
    "tau": (-400.0, 400.0),
}


def problem(intervals=10):
    """One step at a given speed with the least effort; its end is the mirror image of its start."""
    (hip_1, knee, length), (hip_2, _, _) = leg(0.3, 0.4), leg(-0.3, 0.4)
    half_step, height = length * np.sin(0.3), length * np.cos(0.3)
    land, leave = [hip_1, knee, hip_2, 1.5], [hip_2, knee, hip_1, 1.2]
    begin, off = [0.0, height, 0.1, *land], [2 * half_step, height, 0.1, *leave]
    end = [2 * half_step + 0.3, height, 0.1, hip_2, 1.5, hip_1, knee]
    stance = oc.Phase(
        "stance",
        (0.12, 0.35),
        PointContact("FootRight", directions="xz"),
        terms=[1e-3 * oc.torque()],
        constraints=[oc.unilateral("FootRight"), oc.height("FootLeft")],
        intervals=intervals,
        bounds=LIMITS,
        start={"q": {"Trunk_tx": 0.0}},
        guess={"q": np.array([begin, off]), "force": {"FootRight z": 1200.0}, "duration": 0.2},
        periodic_start=True,
    )
    flight = oc.Phase(
        "flight",
        (0.05, 0.3),
        terms=[1e-3 * oc.torque()],
        constraints=[
            oc.height("FootRight", "FootLeft"),
            oc.height("FootLeft", upper=0.0).at("end"),
            oc.velocity("FootLeft", "xz").at("end"),
        ],
        intervals=intervals,
        bounds=LIMITS,
        guess={"q": np.array([off, end]), "duration": 0.12},
    )
    cycle = oc.periodic(mirrored=True, forward="Trunk_tx", speed=SPEED)
    return oc.Problem(walker(), [stance, flight], boundary_constraints=[cycle])


if __name__ == "__main__":
    print(problem().solve().explain())
