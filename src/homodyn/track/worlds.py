"""The two simulated bodies of tracking: one that markers pull, and one that motors drive.

The first follows the markers: springs from its markers to bodies of infinite mass that move along
the recording, weak springs to the neutral pose, joint limits and the ground. The second follows the
joint angles of the first by motors with limited torques. It stands on the ground by itself, but for
the limited torques of the residual joint, and the forces of its rows are the result: joint
torques, ground forces and residuals.

The equations are those of Liu, Cooper and Ballard (HDM) in reduced coordinates: joints have no
error that a constraint would have to correct. All rows are evaluated at the end of the step. The
constants of the laws are inputs of the steps, so that other options need no other native code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import angular_velocity, marker_positions
from homodyn.errors import ModelError
from homodyn.foundation import unknown_name
from homodyn.model import Model
from homodyn.simulate import ImplicitSprings, Simulation, SpringLaw, start
from homodyn.simulate.rows import JointSpring, MarkerSprings, TargetRows
from homodyn.track.foot_forces import foot_springs
from homodyn.track.options import TrackingOptions
from homodyn.track.reference_rows import ReferenceRows

BATCH_QUANTITIES = ("forces", "constraint_forces", "residual")
"""Quantities of the steps of a batch."""
MOTOR_TOLERANCE = 1e-7
"""Residual of a step with motors, relative to its largest impulse. Stiff motors amplify rounding:
1e-8 rad/(N m s) turns 1e-14 rad/s into 1e-6 N m."""
MAX_ITERATIONS = 200
"""Iterations of a step. One or two are usual; stiff motors at their limits may need a hundred."""
MIN_TILT = 0.5
"""Horizontal part of the unit axis of a rotation of the root that is not a heading."""


@dataclass(frozen=True, eq=False)
class LawConstants:
    """Constants of laws by name, as inputs of the steps."""

    dt: float
    """Usual step (s), for laws by ERP and CFM."""
    values: dict[str, float] = field(default_factory=dict)
    """Values by name."""

    def law(self, name: str, law: SpringLaw) -> SpringLaw:
        """The law with inputs for its constants.

        Args:
            name: What the inputs are named after.
            law: A law with numbers. One with a dead zone or pieces is returned as it is.

        Returns:
            The law.
        """
        if law.dead_zone != 0.0 or law.breaks:
            return law
        kp, kd = law.constants(self.dt, {}, name)
        force: float | str = np.inf
        self.values.update({f"{name}_kp": float(kp), f"{name}_kd": float(kd)})
        if law.max_force != np.inf:
            force = f"{name}_force"
            self.values[force] = float(law.max_force)
        return SpringLaw(kp=f"{name}_kp", kd=f"{name}_kd", max_force=force)

    def contact(
        self, model: Model, options: TrackingOptions, tolerance: float | None = None
    ) -> ImplicitSprings:
        """The law of the ground with inputs for its constants.

        Args:
            model: The model.
            options: Law and friction.
            tolerance: Relative residual of a step; that of `ImplicitSprings` when left out.

        Returns:
            The law.
        """
        law = self.law("contact", options.contact_law or foot_springs(model))
        self.values["friction"] = float(options.friction)
        springs = ImplicitSprings(law.kp or 0.0, law.kd, "friction", iterations=MAX_ITERATIONS)
        return springs if tolerance is None else replace(springs, tolerance=tolerance)


def fit_world(
    model: Model, q: np.ndarray, dt: float, markers: Sequence[str], options: TrackingOptions
) -> Simulation:
    """The body that follows markers.

    Args:
        model: The model.
        q: Pose at the start, (nq,) or (batch, nq).
        dt: Usual step (s).
        markers: Names of the markers that it follows.
        options: Laws and limits.

    Returns:
        A simulation whose targets are those of its markers (`marker_values`).
    """
    constants = LawConstants(dt)
    first = q if q.ndim == 1 else q[0]
    places = np.asarray(marker_positions(model, first)).reshape(-1, 3)
    index = [marker.name for marker in model.markers]
    positions = places[[index.index(name) for name in markers]][None]
    law = constants.law("marker", options.marker_law)
    rows: list[TargetRows] = [MarkerSprings(tuple(markers), [0.0], positions, law)]
    neutral, pose = model.neutral(), constants.law("pose", options.pose_law)
    for k in model.actuated:
        place = model.position_index[k]
        if place is not None and not _is_dependent(model, k):
            rows.append(JointSpring(model.coordinate_names[k], pose, neutral[place]))
    contact = constants.contact(model, options) if options.ground and model.contacts else None
    return _start(model, q, dt, contact, rows, constants)


def motor_world(
    model: Model,
    q: np.ndarray,
    dt: float,
    options: TrackingOptions,
    tolerance: float = MOTOR_TOLERANCE,
) -> Simulation:
    """The body that motors drive.

    Args:
        model: The model.
        q: Pose at the start, (nq,) or (batch, nq).
        dt: Usual step (s).
        options: Laws and limits.
        tolerance: Residual of a step, relative to its largest impulse.

    Returns:
        A simulation whose targets are pose and velocity of the reference.
    """
    constants = LawConstants(dt)
    motor = constants.law("motor", options.motor_law)
    laws = {model.coordinate_names[k]: motor for k in model.actuated if not _is_dependent(model, k)}
    limits = residual_limits(model, options.residual_limits)
    law = options.residual_law
    kp, kd = law.constants(dt, {}, "residual")
    for name, limit in limits.items():
        limited = SpringLaw(kp=kp, kd=kd, max_force=limit, dead_zone=law.dead_zone)
        laws[name] = constants.law(f"residual_{name}", limited)
    rows = ReferenceRows(laws, model.nq + model.nv)
    return _start(model, q, dt, constants.contact(model, options, tolerance), [rows], constants)


def torque_world(
    model: Model,
    q: np.ndarray,
    dt: float,
    options: TrackingOptions,
    tolerance: float = MOTOR_TOLERANCE,
) -> Simulation:
    """A body that given torques move, on the ground of the driven body.

    Args:
        model: The model.
        q: Pose at the start, (nq,) or (batch, nq).
        dt: Usual step (s).
        options: Law of the ground.
        tolerance: Residual of a step, relative to its largest impulse.

    Returns:
        A simulation that takes torques, residual forces in the columns of the root.
    """
    constants = LawConstants(dt)
    return _start(model, q, dt, constants.contact(model, options, tolerance), [], constants)


def _start(
    model: Model,
    q: np.ndarray,
    dt: float,
    contact: ImplicitSprings | None,
    rows: Sequence[TargetRows],
    constants: LawConstants,
) -> Simulation:
    used = dict(constants.values)
    return start(
        model,
        q,
        None,
        dt,
        contact=contact,
        rows=rows,
        batch_parameters=used,
        torque_limits=False,
        recorded_quantities=() if q.ndim == 1 else BATCH_QUANTITIES,
    )


def residual_limits(model: Model, limits: Mapping[str, float] | float) -> dict[str, float]:
    """Largest residual forces by coordinate of the root.

    Args:
        model: The model.
        limits: By coordinate (N, N m); or one number for the rotations about horizontal axes.

    Returns:
        Limits of all coordinates of the root, zero for those that are free; empty for a model that
        is fixed to the world.

    Raises:
        ModelError: A coordinate is not one of the root.
    """
    names = [model.coordinate_names[k] for k in model.root.v]
    if not isinstance(limits, Mapping):
        limits = {name: float(limits) for name in tilt_coordinates(model)}
    for name in limits:
        if name not in names:
            raise ModelError(
                f"residual_limits: {unknown_name('coordinate of the root', name, names)}"
            )
    return {name: float(limits.get(name, 0.0)) for name in names}


def tilt_coordinates(model: Model) -> tuple[str, ...]:
    """The coordinates of the root that rotate it about horizontal axes.

    Args:
        model: The model.

    Returns:
        Their names; empty for a model that is fixed to the world.
    """
    if not model.root:
        return ()
    neutral, up = model.neutral(), world_axes(model)[2]
    found = []
    for k in model.root.v:
        rate = np.zeros(model.nv)
        rate[k] = 1.0
        axis = np.asarray(angular_velocity(model, neutral, rate, model.root.bodies[0])).reshape(3)
        level = axis - (axis @ up) * up
        if np.linalg.norm(level) > MIN_TILT:
            found.append(model.coordinate_names[k])
    return tuple(found)


def _is_dependent(model: Model, entry: int) -> bool:
    """Whether a coordinate is locked, or follows another one."""
    name = model.coordinate_names[entry]
    coupled = any(coupler.coordinate == name for coupler in model.couplers)
    return coupled or bool(model.coordinates[entry].locked)
