"""The residual joint as a force at the root and a moment about the center of mass."""

from __future__ import annotations

import numpy as np

from homodyn.dynamics import angular_velocity, center_of_mass_velocity
from homodyn.motion import Motion


def residual_wrench(motion: Motion, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment on the whole body that do the work of the generalized forces of its root.

    While only the root moves, the body is rigid: its center of mass moves at c_k and it turns at
    w_k for a unit velocity of coordinate k, so tau_k = w_k . moment + c_k . force.

    Args:
        motion: The movement.
        tau: Generalized forces, (frames, nv), N m or N; those of the root are used.

    Returns:
        Force (N) and moment about the center of mass (N m), (frames, 3) each, world of the model;
        zero for a model that is fixed to the world.
    """
    model, frames = motion.model, motion.frames
    root = list(model.root.v)
    if not root:
        return np.zeros((frames, 3)), np.zeros((frames, 3))
    rows = np.zeros((frames, len(root), 6))
    for place, k in enumerate(root):
        rate = np.zeros((frames, model.nv))
        rate[:, k] = 1.0
        rows[:, place, :3] = angular_velocity(model, motion.q, rate, model.root.bodies[0])
        rows[:, place, 3:] = center_of_mass_velocity(model, motion.q, rate)
    wrench = np.einsum("fij,fj->fi", np.linalg.pinv(rows), tau[:, root])
    return wrench[:, 3:], wrench[:, :3]
