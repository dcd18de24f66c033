"""Elimination of root residuals by the smallest change of accelerations and ground forces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from homodyn.capture.kinetics.feet import find_feet
from homodyn.capture.kinetics.newton_euler import newton_euler_loads, wrench_at_origin
from homodyn.capture.kinetics.plate_assignment import sole_distance
from homodyn.capture.kinetics.plate_sampling import center_of_pressure
from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import angular_jacobian, jacobian, mass_matrix, position
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.model import Model
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.coordinate_columns import angular_coordinates
from homodyn.motion.loads import Loads
from homodyn.motion.motion import Motion

ANGULAR_ACCELERATION_SCALE_RAD_S2 = 5.0
"""Unit of changes of angular accelerations (rad/s2)."""
LINEAR_ACCELERATION_SCALE_M_S2 = 0.5
"""Unit of changes of linear accelerations (m/s2)."""
FORCE_SCALE_SHARE = 0.02
"""Unit of changes of a ground force, as a share of the load on the foot."""
PRESSURE_POINT_SCALE_M = 0.01
"""Unit of shifts of a center of pressure (m); times the load, of its moment."""
FREE_MOMENT_SCALE_M = 0.005
"""Unit of changes of a free moment per load (m)."""
MAX_SOLE_OVERHANG_M = 0.02
"""Distance (m) from the sole that a center of pressure may reach."""


@record(eq=True)
class LoadAdjustment(Record):
    """Size of the changes that eliminated the residuals."""

    angular_acceleration: float
    """rad/s2, rms over frames and angular coordinates."""
    linear_acceleration: float
    """m/s2, rms over frames and linear coordinates."""
    force: float
    """N, rms of the change of the ground forces on loaded feet."""
    peak_force: float
    """N."""
    point: float
    """m, rms shift of the centers of pressure."""
    peak_point: float
    """m."""
    fixed_points: int
    """Times that a center of pressure was fixed, to keep it under the foot."""

    @property
    def sentence(self) -> str:
        """The changes in words."""
        text = (
            "residuals eliminated: accelerations changed by "
            f"{self.angular_acceleration:.3g} rad/s2 and {self.linear_acceleration:.3g} m/s2 rms, "
            "ground forces by "
            f"{self.force:.3g} N rms (at most {self.peak_force:.3g} N), centers of pressure by "
            f"{1000 * self.point:.3g} mm rms (at most {1000 * self.peak_point:.3g} mm); "
            "coordinates and velocities are unchanged"
        )
        if self.fixed_points:
            times = count_of(self.fixed_points, "time")
            text += f"; a center of pressure was fixed {times} to stay under its foot"
        return text


def eliminate_residuals(loads: Loads) -> tuple[Loads, LoadAdjustment]:
    """Remove the residual at the root by the smallest change of accelerations and ground forces.

    In each frame, with changes of accelerations da and of ground wrenches dw, each divided by its
    scale:

        minimize  |da / s_a|^2 + sum_f |dw_f / s_f|^2
        subject to  tau_r + H_r da - sum_f J_fr' dw_f = 0

    With A = [H_r, -J_r'] and S the scales, x = -S^2 A' (A S^2 A')^-1 tau_r, all frames at once.
    Wrenches change at the center of pressure of loaded feet; where it would leave the sole it is
    fixed and the frame is solved again. Coordinates and velocities do not change, so accelerations
    are no longer their exact derivatives. Frames that are not usable are not changed.

    Args:
        loads: Loads with a residual.

    Returns:
        Loads without residual, and the size of the changes.
    """
    motion, model = loads.motion, loads.motion.model
    root = list(model.root.v)
    A = np.concatenate(
        [
            mass_matrix(model, motion.q)[:, root, :],
            *(-_root_wrenches(motion, foot, root) for foot in loads.feet),
        ],
        axis=-1,
    )
    sizes = np.concatenate(
        [
            np.broadcast_to(_acceleration_sizes(model), motion.a.shape),
            *(_wrench_sizes(model, foot) for foot in loads.feet),
        ],
        axis=-1,
    )
    residual = np.where(loads.usable[:, None], loads.tau[:, root], 0.0)
    step = _smallest_step(A, sizes, residual)
    feet = _adjust_forces(model, loads.feet, step)
    up = world_axes(model)[2]
    fixed_points = 0
    for k, (before, after) in enumerate(zip(loads.feet, feet, strict=True)):
        leaving = _leaves_sole(motion, before, after)
        fixed_points += int(leaving.sum())
        column = model.nv + 6 * k
        sizes[leaving, column : column + 3] *= np.abs(up)
        # A foot whose force would become negative keeps its force too.
        negative = leaving & ~(after.force @ up > 0)
        sizes[negative, column : column + 6] = 0.0
    if fixed_points:
        step = _smallest_step(A, sizes, residual)
        feet = _adjust_forces(model, loads.feet, step)
    adjusted = replace(motion, a=motion.a + step[:, : model.nv])
    result = replace(
        newton_euler_loads(adjusted, feet),
        usable=loads.usable,
        method=loads.method,
        notes=loads.notes,
    )
    return result, _load_adjustment(model, loads.feet, feet, step, fixed_points)


def _smallest_step(A: np.ndarray, sizes: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """The smallest change, in units of the sizes, that cancels tau."""
    scaled = A * sizes[:, None, :]
    multipliers = np.linalg.solve(scaled @ scaled.transpose(0, 2, 1), tau[..., None])
    return -sizes * (scaled.transpose(0, 2, 1) @ multipliers)[..., 0]


def _root_wrenches(motion: Motion, foot: ContactForce, root: list[int]) -> np.ndarray:
    """(frames, root, 6): generalized root forces of a moment and a force at the foot."""
    angular = angular_jacobian(motion.model, motion.q, foot.body)[..., root]
    linear = jacobian(motion.model, motion.q, foot.body)[..., root]
    lever = np.nan_to_num(foot.point) - position(motion.model, motion.q, foot.body)
    rotated = np.cross(angular, lever[..., None], axis=1)
    return np.concatenate([angular, linear + rotated], axis=1).transpose(0, 2, 1)


def _acceleration_sizes(model: Model) -> np.ndarray:
    return np.where(
        angular_coordinates(model),
        ANGULAR_ACCELERATION_SCALE_RAD_S2,
        LINEAR_ACCELERATION_SCALE_M_S2,
    )


def _wrench_sizes(model: Model, foot: ContactForce) -> np.ndarray:
    """(frames, 6): moments, then forces, in proportion to the load; zero for unloaded feet."""
    up = np.abs(world_axes(model)[2])
    load = np.where(np.isfinite(foot.point).all(-1), foot.force @ world_axes(model)[2], 0.0)
    return load[:, None] * np.concatenate(
        [
            PRESSURE_POINT_SCALE_M + (FREE_MOMENT_SCALE_M - PRESSURE_POINT_SCALE_M) * up,
            np.full(3, FORCE_SCALE_SHARE),
        ]
    )


def _adjust_forces(
    model: Model, feet: Sequence[ContactForce], step: np.ndarray
) -> list[ContactForce]:
    """The forces on the feet after a change of moments and forces at their centers of pressure."""
    up, adjusted = world_axes(model)[2], []
    for k, foot in enumerate(feet):
        column = model.nv + 6 * k
        moment, force = step[:, column : column + 3], step[:, column + 3 : column + 6]
        wrench = wrench_at_origin(foot)
        new_force = wrench[:, 3:] + force
        new_moment = wrench[:, :3] + moment + np.cross(np.nan_to_num(foot.point), force)
        height = np.nan_to_num(foot.point @ up)
        point, free = center_of_pressure(new_force, new_moment, up, height)
        adjusted.append(replace(foot, force=new_force, point=point, torque=free))
    return adjusted


def _leaves_sole(motion: Motion, before: ContactForce, after: ContactForce) -> np.ndarray:
    """(frames,): True where a loaded foot would lose its force, or its pressure leave the sole."""
    up = world_axes(motion.model)[2]
    (foot,) = find_feet(motion.model, (before.body,))
    points = foot.positions(motion.model, motion.q)
    loaded = np.isfinite(before.point).all(-1)
    old, new = (sole_distance(points, force.point, up) for force in (before, after))
    unloaded = after.force @ up <= 0
    return loaded & (unloaded | (new > np.maximum(MAX_SOLE_OVERHANG_M, old)))


def _load_adjustment(
    model: Model,
    before: Sequence[ContactForce],
    after: Sequence[ContactForce],
    step: np.ndarray,
    fixed_points: int,
) -> LoadAdjustment:
    angular = angular_coordinates(model)
    forces = [
        np.linalg.norm(b.force - a.force, axis=-1)[np.isfinite(b.point).all(-1)]
        for a, b in zip(before, after, strict=True)
    ]
    points = [
        np.linalg.norm(b.point - a.point, axis=-1) for a, b in zip(before, after, strict=True)
    ]
    force = np.concatenate([np.zeros(1), *forces])
    point = np.concatenate([np.zeros(1), *(p[np.isfinite(p)] for p in points)])
    accelerations = step[:, : model.nv]
    return LoadAdjustment(
        angular_acceleration=_rms(accelerations[:, angular]),
        linear_acceleration=_rms(accelerations[:, ~angular]),
        force=_rms(force),
        peak_force=float(force.max()),
        point=_rms(point),
        peak_point=float(point.max()),
        fixed_points=fixed_points,
    )


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2))) if values.size else 0.0
