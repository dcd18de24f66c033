"""The ground wrench that a motion requires, and its distribution over two feet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.dynamics import inverse_dynamics, position
from homodyn.model import Model
from homodyn.synthetic.leg_angles import rotation_about

ROOT_COORDINATES = ("Pelvis_TX", "Pelvis_TY", "Pelvis_TZ", "Pelvis_RY", "Pelvis_RX", "Pelvis_RZ")
"""Coordinates of the root of HeiMan."""


@dataclass(frozen=True, eq=False)
class GroundWrench:
    """The wrench of the ground on the body or on one foot: force at a point, and free moment."""

    force: np.ndarray
    """(times, 3), N."""
    point: np.ndarray
    """(times, 3), m, on the ground: center of pressure, or zero moment point."""
    torque: np.ndarray
    """(times,), N m, about the vertical."""

    def about(self, point: np.ndarray) -> np.ndarray:
        """Moment about a point and force, (times, 6)."""
        moment = np.cross(self.point - point, self.force)
        moment[:, 2] += self.torque
        return np.concatenate([moment, self.force], -1)


def required_wrench(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> GroundWrench:
    """The wrench on the body for which force and moment at the root vanish.

    The root of HeiMan translates along the axes of the world and then rotates about Y, X and Z: its
    generalized forces are the force and the components of the moment along these three axes.
    """
    at = [model.coordinate_index(name) for name in ROOT_COORDINATES]
    tau = np.asarray(inverse_dynamics(model, q, v, a))[:, at]
    force = tau[:, :3]
    pitch = rotation_about("y", q[:, at[3]])
    roll = pitch @ rotation_about("x", q[:, at[4]])
    axes = np.stack([pitch[:, :, 1], roll[:, :, 0], roll[:, :, 2]], 1)
    moment = np.linalg.solve(axes, tau[:, 3:, None])[:, :, 0]
    origin = np.asarray(position(model, q, "Pelvis"))
    moment = moment + np.cross(origin, force)
    point = np.zeros_like(force)
    point[:, 0] = -moment[:, 1] / force[:, 2]
    point[:, 1] = moment[:, 0] / force[:, 2]
    torque = moment[:, 2] - np.cross(point, force)[:, 2]
    return GroundWrench(force, point, torque)


def distribute_wrench(
    total: GroundWrench, shares: np.ndarray, points: np.ndarray, *, strut_curvature: float
) -> tuple[GroundWrench, ...]:
    """The wrench of each foot, for ``shares`` (feet, times) of the weight that add up to one.

    Vertical forces are f_i = s_i f. Centers of pressure p_i are the planned ``points`` (feet,
    times, 3), shifted by the deviation of the zero moment point p from their weighted mean. Each
    foot has its share of the horizontal force plus s_i f_z (p - p_i) c, c = ``strut_curvature``.
    These additions sum to zero: the front foot brakes and the rear foot propels, as if legs were
    struts toward a point 1/c (m) above the ground.
    """
    deviation = total.point - np.einsum("it,itk->tk", shares, points)
    feet = []
    for share, point in zip(shares, points + deviation, strict=True):
        force = share[:, None] * total.force
        force[:, :2] += (
            (share * total.force[:, 2])[:, None] * (total.point - point)[:, :2] * strut_curvature
        )
        feet.append((force, point))
    moments = [np.cross(point - total.point, force)[:, 2] for force, point in feet]
    free_moment = total.torque - sum(moments)
    return tuple(
        GroundWrench(force, point, share * free_moment)
        for (force, point), share in zip(feet, shares, strict=True)
    )
