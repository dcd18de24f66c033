"""Points through which the paths of muscles pass, for drawings."""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.model import Model
from homodyn.model.model_cache import ModelCache
from homodyn.muscle.geometry.path_lines import PathLines
from homodyn.muscle.geometry.selects import select
from homodyn.muscle.geometry.tangent_rule import OPENSIM
from homodyn.muscle.paths import traced_paths
from homodyn.spatial import Array
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace

_POINT_KERNELS: ModelCache[tuple[Kernel, tuple[int, ...]]] = ModelCache("muscle path points")


def path_points(
    model: Model, q: np.ndarray, *, wrapping: str = OPENSIM
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Points of the paths of all muscles in the world, in the order of the paths.

    Lines through them are the paths; on a wrap object, the line between both tangent points is a
    chord. A point that does not count in a pose is at the place of the one before it, so that the
    number of points of a muscle is the same in all poses.

    Args:
        model: A model with muscles.
        q: Positions, (poses, nq).
        wrapping: ``"opensim"`` or ``"geodesic"``; see `lengths`.

    Returns:
        (poses, points, 3), m, all muscles one after the other; and the number of points of every
        muscle.

    Raises:
        ModelError: The model has no muscles, or ``wrapping`` is unknown.
    """
    rows = np.atleast_2d(np.asarray(q, dtype=float))
    kernel, counts = _POINT_KERNELS.get(model, (wrapping,), lambda: _build(model, wrapping))
    return np.asarray(kernel(rows)).reshape(len(rows), -1, 3), counts


def _build(model: Model, wrapping: str) -> tuple[Kernel, tuple[int, ...]]:
    counts: list[int] = []

    def points(q: ca.SX) -> ca.SX:
        own = model.at(model.parameter_values) if model.parameters else model
        _, paths = traced_paths(own, q, wrapping, "muscles")
        places = [_places(path) for path in paths]
        counts[:] = [len(one) for one in places]
        return ca.vertcat(*[ca.SX(place) for one in places for place in one])

    # The number of rows is known once the paths are written down.
    total = points(ca.SX.sym("q", model.nq)).shape[0]
    traced = trace(points, {"q": model.nq}, {"points": total}, f"muscle paths of {model.name}")
    return Kernel(traced), tuple(counts)


def _places(path: PathLines) -> list[Array]:
    """Positions along a path; inactive points are at the place of the one before."""
    found: list[Array] = []
    for one in reversed(path.forces):
        place = one.node.position
        found.append(select(one.node.active, place, found[-1]) if found else place)
    return found
