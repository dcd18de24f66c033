"""From a squat to standing with the whole body: 34 degrees of freedom, both feet flat."""

import numpy as np

import homodyn as hd
import homodyn.optimal as oc
from homodyn.optimal.footfalls import Footing, Standing


def problem(intervals=16):
    """HeiMan rises with little torque and gentle accelerations; the arms may help."""
    model = hd.catalog.heiman()
    both = Footing(0.0, 1.2, Standing.FLAT, Standing.FLAT)
    n = {"HipRight_RY": -1.56, "KneeRight_RY": 1.4, "AnkleRight_RY": -0.44, "Lumbar_RY": 0.5}
    n |= {name.replace("Right", "Left"): value for name, value in n.items()}
    low = model.neutral()
    low[[model.coordinate_index(name) for name in n]] = list(n.values())
    low[model.coordinate_index("Pelvis_RY")] = 0.6
    sole = min(hd.dynamics.position(model, low, f"{p}Right")[2] for p in ("Hallux", "Meta5"))
    low[model.coordinate_index("Pelvis_TZ")] -= sole
    # Feet that stand hold hips and ankles still with the rest; asking it twice is once too much.
    free = [k for k, name in enumerate(model.coordinate_names) if name[:3] not in ("Hip", "Ank")]
    still = oc.require("rest", lambda i: i.v[free])
    push = {f"Heel{side} height": model.mass * 9.81 / 2 for side in ("Right", "Left")}
    rise = oc.Phase(
        "rise",
        1.2,
        both.contacts,
        [1e-3 * oc.torque(), 1e-3 * oc.acceleration()],
        [oc.unilateral(*both.points), still.at("end")],
        intervals,
        start={"q": low, "v": 0.0},
        end={"q": {"KneeRight_RY": 0.1, "KneeLeft_RY": 0.1}},
        bounds={"q": {"Pelvis_RY": (-0.3, 1.0), "Pelvis_TX": (-0.6, 0.6)}},
        guess={"q": np.array([low, model.neutral()]), "force": push},
    )
    return oc.Problem(model, [rise])


if __name__ == "__main__":
    print(problem().solve().explain())
