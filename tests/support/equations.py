"""The equations of motion as a test of what a motion says about itself."""

import numpy as np

from homodyn.dynamics import inverse_dynamics, passive_force, position


def motion_residual(motion):
    """(frames, nv), N m or N: what torques and contact forces of a motion leave unexplained."""
    model = motion.model
    external = {}
    for force in motion.contact_forces:
        origin = np.asarray(position(model, motion.q, force.body))
        moment = np.cross(np.nan_to_num(force.point - origin), force.force) + force.torque
        external[force.body] = np.concatenate([moment, force.force], axis=1)
    required = inverse_dynamics(model, motion.q, motion.v, motion.a, external=external or None)
    passive = np.asarray(passive_force(model, motion.q, motion.v))
    return np.asarray(required) - motion.tau - passive
