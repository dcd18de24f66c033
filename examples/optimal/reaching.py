"""Reaching forward within 0.6 s by the muscles of an arm, with the least excitations."""

import numpy as np
from small_bodies import arm

import homodyn.optimal as oc

START = {"Shoulder": 0.1, "Elbow": -0.7}
TARGET = (0.42, -0.16)
"""Position (x, z) of the hand at the end (m)."""


def hand(point):
    """Position of the hand (x, z)."""
    position = point.position("Hand")
    return position[[0, 2]]


def problem(intervals=30):
    """At rest at both ends; the muscles begin in equilibrium."""
    reach = oc.Phase(
        "reach",
        0.6,
        terms=[oc.excitation()],
        constraints=[
            oc.muscle_equilibrium(),
            oc.rest().at("end"),
            oc.require("hand", hand, lower=TARGET, upper=TARGET, labels=("x", "z")).at("end"),
        ],
        intervals=intervals,
        start={"q": START, "v": 0.0},
        guess={"q": np.array([list(START.values()), [-0.8, -1.2]])},
    )
    return oc.Problem(arm(), [reach], muscles=oc.MuscleDrive(tendon="rigid"))


if __name__ == "__main__":
    solution = problem().solve()
    print(solution.explain())
    levels = solution.phases[0].muscles.excitation
    for muscle, most in zip(solution.model.muscles, levels.max(axis=0), strict=True):
        print(f"{muscle.name:16} {most:5.2f}")
