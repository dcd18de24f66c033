"""Bodies, recordings and studies for tests of the studio."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from homodyn import catalog, search
from homodyn.capture import Trial
from homodyn.motion import ContactForce, Event, Loads, Motion
from homodyn.studio import Actor

SPRING_NETWORK = """
k = 4
node "mass" { x = 1  v = 0  x' = "v"  v' = "-k * x"  both = "[x; v]" }
integrator { method = "runge-kutta" default-timestep = "0.01" }
"""


def moving_body(frames: int = 11, rate: float = 10.0, name: str = "walker") -> Actor:
    """A body that moves forward by 1 m."""
    model = catalog.heiman()
    q = np.tile(model.neutral(), (frames, 1))
    q[:, 0] = np.linspace(0.0, 1.0, frames)
    still = np.zeros((frames, model.nv))
    motion = Motion(model, np.arange(frames) / rate, q, still, still)
    return Actor(name, model, q[0], motion)


def knee_bender(frames: int = 101) -> Actor:
    """A body that bends its left knee by 1 rad, with marker errors, torques and a foot force."""
    model = catalog.heiman()
    q = np.tile(model.neutral(), (frames, 1))
    knee = model.coordinate_index("KneeLeft_RY")
    q[:, knee] = np.linspace(0.0, 1.0, frames)
    v = np.zeros((frames, model.nv))
    v[:, knee] = 2.0
    time = np.arange(frames) / 100
    residual = np.full((frames, 2), [0.003, 0.004])
    motion = Motion(model, time, q, v, 0 * v, ("LKNE", "RKNE"), residual=residual)
    force = np.tile([0.0, 0.0, 400.0], (frames, 1))
    foot = ContactForce("FootLeft", "left", force, np.tile([0.1, 0.2, 0.0], (frames, 1)), 0 * force)
    tau = np.full((frames, model.nv), 3.0)
    loads = Loads(motion, tau, tuple(range(6)), 0 * force, 0 * force, (foot,), tau * v)
    return Actor("walker", model, q[0], motion, loads)


def two_markers(frames: int = 21, rate: float = 10.0) -> Trial:
    """A recording of two markers at rest, with one event."""
    return Trial("walk", ("A", "B"), np.zeros((frames, 2, 3)), rate, events=(Event(0.5, "Go"),))


def run_bowl_study(database: Path, iterations: int) -> Any:
    """A search for the minimum of a paraboloid, stored in a database."""

    def bowl(values: np.ndarray) -> np.ndarray:
        return ((values - 0.3) ** 2).sum(axis=1) + 1.0

    bounds = {"x": (-1, 1), "y": (-1, 1)}
    return search.minimize(bowl, bounds, batch=True, iterations=iterations, database=database)
