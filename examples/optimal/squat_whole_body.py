"""From a squat to standing with the whole body: 34 degrees of freedom, both feet flat."""

import numpy as np

import homodyn as hd
import homodyn.optimal as oc
from homodyn.dynamics import ConstraintSet, PointContact, position
from homodyn.dynamics.constraints import Stabilization

SIDES = [side.title for side in hd.motion.Side]
POINTS = {"Heel": "xyz", "Meta5": "yz", "Hallux": "z"}
"""Contacts of a foot and the directions in which they are fixed."""
SQUAT = {"Hip{}_RY": -1.56, "Knee{}_RY": 1.4, "Ankle{}_RY": -0.44}
"""rad."""


def squat(model):
    """A pose (rad, m) with both soles on the ground and the center of mass above them."""
    low = model.neutral()
    legs = {name.format(side): angle for name, angle in SQUAT.items() for side in SIDES}
    for name, value in {**legs, "Lumbar_RY": 0.5, "Pelvis_RY": 0.6}.items():
        low[model.coordinate_index(name)] = value
    low[model.coordinate_index("Pelvis_TZ")] -= position(model, low, "HalluxRight")[2]
    return low


def problem(intervals=24):
    """HeiMan stands up with small torques and accelerations; the arms may move."""
    model = hd.catalog.heiman()
    low = squat(model)
    names = [(f"{point}{side}", axes) for side in SIDES for point, axes in POINTS.items()]
    soles = [PointContact(n, directions=axes, anchor=position(model, low, n)) for n, axes in names]
    # With fixed feet, rest of the other joints implies rest of hips and ankles: these rows would
    # be redundant.
    free = [k for k, name in enumerate(model.coordinate_names) if name[:3] not in ("Hip", "Ank")]
    rest = oc.require("rest", lambda i: i.v[free])
    lateral = [name for name in model.coordinate_names if name[-2:] in ("RX", "RZ")]
    upright = np.zeros((1, len(lateral)))
    rise = oc.Phase(
        "rise",
        1.2,
        ConstraintSet(tuple(soles)),
        [1e-3 * oc.torque(), 1e-3 * oc.acceleration(), 30 * oc.track_coordinates(upright, lateral)],
        [oc.unilateral(*(name for name, _ in names)), rest.at("end")],
        intervals,
        start={"q": low, "v": 0.0},
        end={"q": {"KneeRight_RY": 0.1, "KneeLeft_RY": 0.1}},
        guess={
            "q": np.array([low, model.neutral()]),
            "force": {f"Heel{side} z": model.mass * 9.81 / 2 for side in SIDES},
        },
        stabilization=Stabilization.oscillator(20.0),
    )
    return oc.Problem(model, [rise])


if __name__ == "__main__":
    print(problem().solve().explain())
