"""Search for the ankle and hip gains that keep a pushed body upright with the least effort.

Each candidate is two elements of the batch of one compiled rollout, with a push from behind and one
from the front, so that a generation is one call. ``python examples/standing.py`` writes the study
to standing.db.
"""

import casadi as ca
import numpy as np

import homodyn as hd
from homodyn.model import Assembly, joints, rod
from homodyn.search import PSO, Objective, SearchParameter, Space
from homodyn.simulate import BatchSimulator, SimulationOptions, StateEvent

DURATION = 2.5  # s
PUSHES = np.array([-0.3, 0.3])  # rad/s of the legs; the trunk stays upright
BODY = (
    Assembly("standing")
    .add(rod("legs", 28, (0, 0, 0), (0, 0, 0.9)), joints.revolute("y"))
    .add(rod("trunk", 42, (0, 0, 0), (0, 0, 0.8)), joints.revolute("y"), "legs", at=(0, 0, 0.9))
    .model()
)
BOUNDS = {"stiffness": (10, 3000, "N m/rad"), "damping": (1, 1000, "N m s/rad")}
GAINS = [
    SearchParameter(f"{joint} {gain}", *BOUNDS[gain], scale="log")
    for joint in ("ankle", "hip")
    for gain in BOUNDS
]


def springs(t, q, v, batch):
    """Torques (N m) of a spring and a damper in each joint; the rest position is upright."""
    return -ca.vertcat(
        batch["ankle stiffness"] * q[0] + batch["ankle damping"] * v[0],
        batch["hip stiffness"] * q[1] + batch["hip damping"] * v[1],
    )


FALLEN = StateEvent("fallen", lambda t, q, v, batch: ca.fabs(q[0]) - 0.5, "rising", action="end")
NAMES = [gain.name for gain in GAINS]
STAND = BatchSimulator(
    BODY,
    contact=None,
    actuation=springs,
    options=SimulationOptions(
        events=[FALLEN],
        recorded_quantities=("torques",),
        record_interval=0.02,
        batch_parameters=dict.fromkeys(NAMES, 0.0),
    ),
)


def evaluate(gains):
    """Time until each candidate falls (s), and its mean squared torque (N^2 m^2)."""
    elements = np.repeat(gains, len(PUSHES), axis=0)
    v0 = np.tile(np.outer(PUSHES, [1, -1]), (len(gains), 1))
    batch = dict(zip(NAMES, elements.T, strict=True))
    rolled = STAND(np.zeros_like(v0), v0, DURATION, 2e-3, batch_parameters=batch)
    effort = np.square(rolled.records["torques"]).sum(axis=2).mean(axis=1)
    pairs = (len(gains), len(PUSHES))
    return rolled.end_time.reshape(pairs).min(axis=1), effort.reshape(pairs).mean(axis=1)


def search(database=None, population=60, iterations=40):
    """Minimize effort among the candidates that do not fall."""
    upright = Objective("upright", maximize=True, until=f">= {DURATION - 1e-6}", unit="s")
    return hd.search.minimize(
        evaluate,
        Space(tuple(GAINS)),
        objectives=[upright, Objective("effort", unit="N^2 m^2")],
        optimizer=PSO(population),
        iterations=iterations,
        batch=True,
        name="standing",
        database=database,
    )


if __name__ == "__main__":
    print(search("standing.db"))
