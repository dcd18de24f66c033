"""Motion and ground forces changed as little as possible so that nothing is left at the root."""

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
from homodyn.model import Model
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.coordinate_columns import angular_coordinates
from homodyn.motion.loads import Loads
from homodyn.motion.motion import Motion

ANGULAR_ACCELERATION_SCALE_RAD_S2 = 5.0
"""rad/s2: a change of an angular acceleration that counts as one."""
LINEAR_ACCELERATION_SCALE_M_S2 = 0.5
"""m/s2: a change of a linear acceleration that counts as one."""
FORCE_SCALE_SHARE = 0.02
"""Share of the load on a foot: a change of its force that counts as one."""
PRESSURE_POINT_SCALE_M = 0.01
"""m: a shift of a centre of pressure that counts as one; times the load, its moment."""
FREE_MOMENT_SCALE_M = 0.005
"""m: a change of a free moment, per load, that counts as one."""
MAX_SOLE_OVERHANG_M = 0.02
"""m: how far beyond the points of a sole a centre of pressure may come."""


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
    """m, rms shift of the centres of pressure."""
    peak_point: float
    """m."""
    fixed_points: int
    """Times that a centre of pressure was held where it was, to keep it under the foot."""

    @property
    def sentence(self) -> str:
        """The same in words."""
        told = (
            "residuals eliminated: accelerations changed by "
            f"{self.angular_acceleration:.3g} rad/s2 and {self.linear_acceleration:.3g} m/s2 rms, "
            "ground forces by "
            f"{self.force:.3g} N rms (at most {self.peak_force:.3g} N), centres of pressure by "
            f"{1000 * self.point:.3g} mm rms (at most {1000 * self.peak_point:.3g} mm); "
            "coordinates and speeds stayed"
        )
        if self.fixed_points:
            told += (
                f"; {self.fixed_points} times a centre of pressure was held to stay under its foot"
            )
        return told


def eliminate_residuals(loads: Loads) -> tuple[Loads, LoadAdjustment]:
    """Remove the residual at the root by the smallest change of accelerations and ground forces.

    In each frame, with changes of accelerations da and of ground wrenches dw, each divided by its
    scale:

        minimise  |da / s_a|^2 + sum_f |dw_f / s_f|^2
        subject to  tau_r + H_r da - sum_f J_fr' dw_f = 0

    With A = [H_r, -J_r'] and S the scales, x = -S^2 A' (A S^2 A')^-1 tau_r, all frames at once.
    Wrenches change at the centre of pressure of loaded feet; where it would leave the sole it is
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
    left = np.where(loads.usable[:, None], loads.tau[:, root], 0.0)
    step = _smallest_step(A, sizes, left)
    feet = _adjust_forces(model, loads.feet, step)
    held = 0
    for k, (before, after) in enumerate(zip(loads.feet, feet, strict=True)):
        leaving = _leaves_sole(motion, before, after)
        held += int(leaving.sum())
        place = model.nv + 6 * k
        sizes[leaving, place : place + 3] *= np.abs(world_axes(model)[2])
        # A foot that would be pulled at keeps its force too.
        gone = leaving & ~(after.force @ world_axes(model)[2] > 0)
        sizes[gone, place : place + 6] = 0.0
    if held:
        step = _smallest_step(A, sizes, left)
        feet = _adjust_forces(model, loads.feet, step)
    changed = replace(motion, a=motion.a + step[:, : model.nv])
    result = replace(
        newton_euler_loads(changed, feet),
        usable=loads.usable,
        method=loads.method,
        notes=loads.notes,
    )
    return result, _load_adjustment(model, loads.feet, feet, step, held)


def _smallest_step(A: np.ndarray, sizes: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """The least change, in units of the sizes, that cancels tau."""
    scaled = A * sizes[:, None, :]
    pull = np.linalg.solve(scaled @ scaled.transpose(0, 2, 1), tau[..., None])
    return -sizes * (scaled.transpose(0, 2, 1) @ pull)[..., 0]


def _root_wrenches(motion: Motion, foot: ContactForce, root: list[int]) -> np.ndarray:
    """(frames, root, 6): what moment and force at the centre of pressure do to the root."""
    turning = angular_jacobian(motion.model, motion.q, foot.body)[..., root]
    sliding = jacobian(motion.model, motion.q, foot.body)[..., root]
    arm = np.nan_to_num(foot.point) - position(motion.model, motion.q, foot.body)
    carried = np.cross(turning, arm[..., None], axis=1)
    return np.concatenate([turning, sliding + carried], axis=1).transpose(0, 2, 1)


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
    """The forces on the feet after a change of moments and forces at their centres of pressure."""
    up, changed = world_axes(model)[2], []
    for k, foot in enumerate(feet):
        place = model.nv + 6 * k
        moment, force = step[:, place : place + 3], step[:, place + 3 : place + 6]
        old = wrench_at_origin(foot)
        pushed = old[:, 3:] + force
        about = old[:, :3] + moment + np.cross(np.nan_to_num(foot.point), force)
        point, free = center_of_pressure(pushed, about, up, np.nan_to_num(foot.point @ up))
        changed.append(replace(foot, force=pushed, point=point, torque=free))
    return changed


def _leaves_sole(motion: Motion, before: ContactForce, after: ContactForce) -> np.ndarray:
    """(frames,): True where a loaded foot would lose its force, or the sole its pressure."""
    up = world_axes(motion.model)[2]
    (foot,) = find_feet(motion.model, (before.body,))
    points = foot.positions(motion.model, motion.q)
    loaded = np.isfinite(before.point).all(-1)
    was, is_now = (sole_distance(points, force.point, up) for force in (before, after))
    lost = after.force @ up <= 0
    return loaded & (lost | (is_now > np.maximum(MAX_SOLE_OVERHANG_M, was)))


def _load_adjustment(
    model: Model,
    before: Sequence[ContactForce],
    after: Sequence[ContactForce],
    step: np.ndarray,
    fixed_points: int,
) -> LoadAdjustment:
    turns = angular_coordinates(model)
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
        angular_acceleration=_rms(accelerations[:, turns]),
        linear_acceleration=_rms(accelerations[:, ~turns]),
        force=_rms(force),
        peak_force=float(force.max()),
        point=_rms(point),
        peak_point=float(point.max()),
        fixed_points=fixed_points,
    )


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2))) if values.size else 0.0
