"""A jump from a squat: flat foot, toes alone, flight; the highest center of mass."""

import numpy as np
from small_bodies import SHANK, THIGH, sitter

import homodyn.optimal as oc
from homodyn.dynamics import ConstraintSet, PointContact, center_of_mass

LIMITS = {
    "q": {"Trunk_ry": (-0.3, 1.5), "Thigh": (-2.3, 0.3), "Shank": (0.05, 2.4), "Foot": (-0.8, 0.8)},
    "v": (-12.0, 12.0),
    "tau": {"Thigh": (-180, 180), "Shank": (-180, 180), "Foot": (-90, 90)},
}
TOE, HEEL = PointContact("Toe", directions="xz"), PointContact("Heel", directions="z")


def squat(shank=0.5, bend=1.6, lean=0.7):
    """A pose with the foot flat below the body, by coordinate (rad, m)."""
    thigh = bend - shank
    ankle = 0.06
    x = SHANK * np.sin(shank) - THIGH * np.sin(thigh)
    z = ankle + SHANK * np.cos(shank) + THIGH * np.cos(thigh)
    angles = {"Trunk_ry": lean, "Thigh": -lean - thigh, "Shank": bend, "Foot": -shank}
    return {"Trunk_tx": x, "Trunk_tz": z, **angles}


def problem(intervals=36):
    """Three phases with free durations; the highest center of mass with little torque."""
    pose = squat()
    effort = 1e-5 * oc.torque()
    shared = {"bounds": LIMITS, "intervals": intervals}
    guess = {"q": np.array([list(pose.values())]), "duration": 0.2}
    flat = oc.Phase(
        "flat",
        (0.1, 0.6),
        ConstraintSet((TOE, HEEL)),
        [effort],
        [oc.unilateral("Toe", "Heel"), oc.friction_cone(0.8, "Toe")],
        start={"q": pose, "v": dict.fromkeys(pose, 0.0)},
        guess=guess | {"force": {"Toe z": 350.0, "Heel z": 350.0}},
        **shared,
    )
    constraints = [oc.unilateral("Toe"), oc.height("Heel")]
    toe_guess = guess | {"force": {"Toe z": 700.0}}
    toes = oc.Phase("toes", (0.05, 0.4), TOE, [effort], constraints, guess=toe_guess, **shared)
    height = oc.ObjectiveTerm(
        "height", lambda i: -center_of_mass(i.model, i.q)[2], squared=False, when="end"
    )
    clearance = [oc.height("Toe", "Heel").at("end")]
    fly = oc.Phase(
        "fly", (0.05, 0.6), terms=[effort, height], constraints=clearance, guess=guess, **shared
    )
    return oc.Problem(sitter(), [flat, toes, fly])


if __name__ == "__main__":
    print(problem().solve().explain())
