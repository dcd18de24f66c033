"""Bodies without contact shapes that a simulation moves through the ground."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.foundation import enumerate_names
from homodyn.model import Model
from homodyn.motion import PlaneObstacle
from homodyn.simulate.setup import SimulationSetup
from homodyn.spatial import Array
from homodyn.symbolic import kernel

MIN_SUNK_DEPTH_M = 0.05
"""Depth of a center of mass below the ground from which there is a note."""
MAX_CHECKED_SAMPLES = 200
"""Number of recorded samples that are checked, evenly spread."""


def sunk_body_notes(
    setup: SimulationSetup, recorded: Mapping[str, np.ndarray], parameters: np.ndarray | None
) -> tuple[str, ...]:
    """A note about the body that went deepest into the ground for want of contact shapes.

    Models without any contact shape are not checked: pendulums and arms have no ground.

    Args:
        setup: What was simulated.
        recorded: Recorded times ``"t"`` and positions ``"q"``.
        parameters: Values of the parameters of the model.

    Returns:
        No note, or one.
    """
    geometry = setup.geometry
    planes = [part for part in geometry.obstacles if isinstance(part, PlaneObstacle)]
    if setup.law is None or not geometry.contacts or not planes:
        return ()
    model = setup.model if parameters is None else setup.model.at(parameters)
    touching = {shape.body for shape in model.contacts if shape.name in geometry.contacts}
    bodies = [body.name for body in model.bodies if body.mass and body.name not in touching]
    if not bodies:
        return ()
    count = len(recorded["t"])
    chosen = np.unique(np.linspace(0, count - 1, min(count, MAX_CHECKED_SAMPLES)).astype(int))
    places = _mass_centers(model, bodies, recorded["q"][chosen])
    distances = np.min([places @ np.asarray(p.normal) - p.height for p in planes], axis=0)
    sample, deepest = np.unravel_index(int(np.argmin(distances)), distances.shape)
    depth = -float(distances[sample, deepest])
    if depth < MIN_SUNK_DEPTH_M:
        return ()
    time = float(recorded["t"][chosen[sample]])
    listed = enumerate_names(sorted(touching))
    return (
        f"{bodies[deepest]} is {depth:.2g} m below the ground at {time:.3g} s; the model has "
        f"contact shapes on {listed} only; model.with_segment_contacts() adds them to all segments",
    )


def _mass_centers(model: Model, bodies: list[str], q: np.ndarray) -> np.ndarray:
    """(samples, bodies, 3), m, world: centers of mass of bodies."""
    index = [model.body_names.index(name) for name in bodies]

    def centers(q: Array) -> dict[str, Array]:
        placements = Tree(model, q).placements
        points = [placements[k].point_back(model.bodies[k].com) for k in index]
        return {"center": ca.horzcat(*points).T}

    shapes: dict[str, int | tuple[int, ...]] = {"center": (len(bodies), 3)}
    name = f"mass centers of {model.name}"
    return np.asarray(kernel(centers, q=model.nq, outputs=shapes, name=name)(q)["center"])
