"""Whether the forces that a plan counts on are available where the feet really stand.

The wrench set of a stance is the sum of those of its supports. If every corner force of a planned
sole, at the edges of its friction pyramid, is a wrench that the simulated sole can give where it
stands, the planning polytope is inside the simulated one (Qiu 2012, section 7.2.2, figure 7.6).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import nnls

from homodyn.errors import ModelError
from homodyn.motion import Scene
from homodyn.motion.supports import ContactPatch, FrictionPyramid

CONE_EDGES = 24
"""Edges of the pyramid inside the friction cone of the simulation."""
MIN_HALF_WIDTH_M = 0.001
INCLUSION_TOLERANCE = 1e-6
"""Residual of a wrench, relative to its size."""


def robust_scene(scene: Scene, sole_margin: float = 0.015, friction_share: float = 0.9) -> Scene:
    """A scene for planning, with smaller soles and less friction than the real ones.

    Args:
        scene: The scene.
        sole_margin: Width of the strip that every sole loses on all sides, m.
        friction_share: Factor of all coefficients of friction.

    Returns:
        The scene with changed patches of more than two corners; grasps stay as they are.

    Raises:
        ModelError: A patch is too small, or a number is out of its range.
    """
    if not (sole_margin >= 0 and 0 < friction_share <= 1):
        raise ModelError(
            "sole_margin is a length from 0 m up and friction_share a factor above 0 and up to 1, "
            f"got {sole_margin!r} and {friction_share!r}"
        )
    supports = {}
    for name, support in scene.supports.items():
        if isinstance(support, ContactPatch) and len(support.corners) > 2:
            arms = (support.corners - support.middle) @ support.axes[:2].T
            size = np.abs(arms).max(axis=0)
            if (size - sole_margin < MIN_HALF_WIDTH_M).any():
                raise ModelError(
                    f"support {name!r} is {2000 * size.min():.0f} mm wide, so that a strip of "
                    f"{1000 * sole_margin:.0f} mm on each side leaves nothing"
                )
            corners = support.middle + (arms * (1 - sole_margin / size)) @ support.axes[:2]
            support = replace(support, corners=corners, friction=friction_share * support.friction)
        supports[name] = support
    return replace(scene, supports=supports)


def corner_wrenches(patch: ContactPatch) -> np.ndarray:
    """Forces and moments of unit normal forces at the corners, along the edges of the pyramid.

    Args:
        patch: The patch.

    Returns:
        (6, corners edges): moment about the origin (N m), then force (N).
    """
    radius = patch.friction
    if patch.pyramid is FrictionPyramid.OUTER:
        radius = radius / np.cos(np.pi / patch.sides)
    # Edges of an outer pyramid with four sides are at 45 degrees to the axes of the patch.
    turn = np.pi / patch.sides if patch.pyramid is FrictionPyramid.OUTER else 0.0
    angles = turn + 2 * np.pi * np.arange(patch.sides) / patch.sides
    s, t, n = patch.axes
    edges = n + radius * (np.cos(angles)[:, None] * s + np.sin(angles)[:, None] * t)
    forces = np.tile(edges, (len(patch.corners), 1))
    places = np.repeat(patch.corners, len(edges), axis=0)
    return np.vstack([np.cross(places, forces).T, forces.T])


def inclusion_residual(planned: ContactPatch, places: np.ndarray, friction: float) -> float:
    """Largest part of a planned corner wrench that contacts elsewhere cannot give.

    Args:
        planned: The sole of the plan.
        places: (points, 3), m: contact points of the simulated sole.
        friction: Coefficient of friction of the simulation.

    Returns:
        Relative residual, 0 where the planned wrenches are all available. Moments count in N m.
    """
    real = ContactPatch(
        "simulated sole",
        places - np.outer((places - places.mean(axis=0)) @ planned.normal, planned.normal),
        planned.normal,
        friction,
        along=planned.axes[0],
        sides=CONE_EDGES,
        pyramid=FrictionPyramid.INNER,
    )
    # Moments about the sole, so that residuals do not depend on the origin of the world.
    middle = planned.middle
    available, wanted = (
        corner_wrenches(replace(patch, corners=patch.corners - middle)) for patch in (real, planned)
    )
    worst = 0.0
    for wrench in wanted.T:
        _, residual = nnls(available, wrench)
        worst = max(worst, float(residual / np.linalg.norm(wrench)))
    return worst


def is_included(planned: ContactPatch, places: np.ndarray, friction: float) -> bool:
    """Whether a simulated sole can give every wrench of a planned one.

    Args:
        planned: The sole of the plan.
        places: (points, 3), m: contact points of the simulated sole.
        friction: Coefficient of friction of the simulation.
    """
    return inclusion_residual(planned, places, friction) < INCLUSION_TOLERANCE
