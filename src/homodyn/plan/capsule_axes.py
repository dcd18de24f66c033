"""World axes of the capsules of a model."""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.model_cache import ModelCache
from homodyn.symbolic import Kernel, kernel

AXES_KERNELS: ModelCache[Kernel] = ModelCache("kernels of all capsule axes")


def capsule_axes(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the axes of all capsules, and their radii.

    Args:
        model: The model.
        q: Positions, (..., nq).

    Returns:
        Ends (..., capsules, 2, 3), m, world, and radii (capsules,), m.
    """
    q = np.asarray(q, dtype=float)
    radius = np.array([float(capsule.radius) for capsule in model.capsules])

    def compute() -> Kernel:
        def ends(pose: ca.SX) -> ca.SX:
            tree = Tree(model, pose)
            columns = []
            for capsule in model.capsules:
                body, _ = model.locate(capsule.body)
                placement = tree.placements[body]
                columns += [placement.point_back(capsule.start), placement.point_back(capsule.end)]
            return ca.horzcat(*columns).T

        return kernel(ends, pose=model.nq, name=f"capsule axes of {model.name}")

    if not model.capsules:
        return np.zeros((*q.shape[:-1], 0, 2, 3)), radius
    flat = np.asarray(AXES_KERNELS.get(model, "all", compute)(q))
    return flat.reshape(*q.shape[:-1], len(model.capsules), 2, 3), radius
