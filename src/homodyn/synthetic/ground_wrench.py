"""The ground wrench a movement needs, and how two feet share it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.dynamics import inverse_dynamics, position
from homodyn.model import Model
from homodyn.synthetic.leg_angles import rotation_about

ROOT_COORDINATES = ("Pelvis_TX", "Pelvis_TY", "Pelvis_TZ", "Pelvis_RY", "Pelvis_RX", "Pelvis_RZ")


@dataclass(frozen=True, eq=False)
class GroundWrench:
    """What the ground does to the body or to one foot: force at a point, and a couple."""

    force: np.ndarray
    """(instants, 3), N."""
    point: np.ndarray
    """(instants, 3), m, on the ground: centre of pressure, or zero moment point."""
    torque: np.ndarray
    """(instants,), N m about the vertical."""

    def about(self, place: np.ndarray) -> np.ndarray:
        """Moment and force at a place, (instants, 6)."""
        moment = np.cross(self.point - place, self.force)
        moment[:, 2] += self.torque
        return np.concatenate([moment, self.force], -1)


def required_wrench(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> GroundWrench:
    """The wrench on the body that makes the forces and moments at its root vanish.

    The root of HeiMan slides along the axes of the world, then turns about Y, X and Z: its
    generalised forces are the force and the parts of the moment along those three axes.
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
    """The wrench of each foot: parts of the weight ``shares`` (feet, instants) that add up to one.

    Vertical forces are f_i = s_i f. Centres of pressure are the planned ``points`` (feet,
    instants, 3), all moved by the little that the zero moment point p is off their mean. Of the
    horizontal force each foot has its share, and s_i f_z (p - p_i) lean more, which adds up to
    nothing: the foot in front brakes while the one behind pushes, as if legs were struts towards
    a point 1/lean (m) above the ground.
    """
    off = total.point - np.einsum("it,itk->tk", shares, points)
    placed = points + off
    feet = []
    for share, point in zip(shares, placed, strict=True):
        force = share[:, None] * total.force
        force[:, :2] += (
            (share * total.force[:, 2])[:, None] * (total.point - point)[:, :2] * strut_curvature
        )
        feet.append((force, point))
    left = total.torque - sum(np.cross(point - total.point, force)[:, 2] for force, point in feet)
    return tuple(
        GroundWrench(force, point, share * left)
        for (force, point), share in zip(feet, shares, strict=True)
    )
