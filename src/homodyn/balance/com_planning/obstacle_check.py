"""Obstacles on the path of the center of mass, which a plan must not pass through."""

from __future__ import annotations

import numpy as np

from homodyn.control.collision.obstacle_distance import nearest_on_obstacles
from homodyn.control.collision.segment_distance import SURFACES
from homodyn.errors import NoSolution
from homodyn.motion import Scene
from homodyn.motion.bspline import ComSpline

PATH_INSTANTS = 1001
"""Instants at which a path is compared with obstacles."""


def require_free_path(scene: Scene, spline: ComSpline) -> None:
    """Refuse a path of the center of mass that passes through an obstacle.

    Args:
        scene: Obstacles; those without known distances (meshes, height fields) are not checked.
        spline: The path.

    Raises:
        NoSolution: The path is inside an obstacle; the message names it, with time and depth.
    """
    solids = tuple(each for each in scene.obstacles if type(each) in SURFACES)
    if not solids:
        return
    time = np.linspace(spline.instants[0], spline.instants[-1], PATH_INSTANTS)
    places = spline.at(time)
    distance = nearest_on_obstacles(solids, places, places)[1]
    instant, which = np.unravel_index(int(distance.argmin()), distance.shape)
    depth = -float(distance[instant, which])
    if depth <= 0:
        return
    within = time[distance[:, which] < 0]
    raise NoSolution(
        f"scene {scene.name!r}: the path of the center of mass passes through "
        f"{solids[which].title} from {within[0]:.2f} to {within[-1]:.2f} s, up to "
        f"{1000 * depth:.0f} mm deep; the search does not go around obstacles: change supports, "
        "start, finish or the corridor"
    )
