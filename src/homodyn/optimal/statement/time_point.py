"""A time point of a movement as symbols: the argument of objective terms and constraints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.dynamics import ConstraintSet
from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.constraints import Constraint
from homodyn.dynamics.kinematics import attached_point, point_velocity
from homodyn.dynamics.rnea import armature, newton_euler, passive_force
from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.foundation.text import count_of, unknown_name
from homodyn.model import WORLD, Model
from homodyn.motion.clinical import resolve_coordinate
from homodyn.optimal.statement.muscle_point import MusclePoint
from homodyn.spatial import Array, cross


@dataclass(frozen=True, eq=False, repr=False)
class TimePoint:
    """State, accelerations, torques and contact forces at one time point of a phase, as symbols.

    All functions of ``homodyn.dynamics`` accept them. The methods below share one pass over the
    tree of bodies and are cheaper.
    """

    model: Model
    q: Array
    v: Array
    a: Array
    tau: Array
    """(nv,), N m or N; zero where a coordinate is not actuated."""
    force: Array
    """(rows,), N or N m, one entry per contact row."""
    contacts: Constraint = field(default_factory=ConstraintSet)
    elapsed: Array = 0.0
    """Time since the phase began (s)."""
    duration: Array = 0.0
    """Duration of the phase (s)."""
    parameters: Mapping[str, Array] = field(default_factory=dict)
    generalized_load: Array = 0.0
    """(nv,), N m or N: generalized force of springs and external loads, besides ``tau``."""
    muscle_point: MusclePoint | None = None
    """The muscles, where the problem is driven by them."""

    def __repr__(self) -> str:
        """Model and contact rows, in one line."""
        rows = count_of(len(self.contacts.rows), "contact row")
        return f"TimePoint of {self.model.name!r} with {rows}"

    @cached_property
    def tree(self) -> Tree:
        """The bodies at this state."""
        return Tree(self.model, self.q, self.v)

    @cached_property
    def rows(self) -> ConstraintRows:
        """The contact rows at this state."""
        return ConstraintRows(self.tree, self.contacts)

    @cached_property
    def contact_jacobian(self) -> Array:
        """G, where ``G v`` are the velocities that the contacts prevent."""
        return self.rows.matrix.jacobian

    @cached_property
    def dynamics_residual(self) -> Array:
        """Residual of M a + bias = tau + muscles + passive + loads + G^T force (N m, N)."""
        required = newton_euler(self.tree, self.a) + armature(self.model) * self.a
        acting = self.tau + self.generalized_load + passive_force(self.model, self.q, self.v)
        if self.muscle_point is not None:
            acting = acting + self.muscle_point.torque
        if len(self.contacts.rows):
            acting = acting + self.contact_jacobian.T @ self.force
        return required - acting

    @property
    def muscles(self) -> MusclePoint:
        """Activations, excitations, lengths, fibers, forces and torque of the muscles."""
        if self.muscle_point is None:
            raise ModelError(
                "the problem is not driven by muscles; Problem(..., muscles=MuscleDrive()) is"
            )
        return self.muscle_point

    def coordinate(self, name: str) -> Array:
        """The value (rad, m) of a coordinate by its own name, a clinical or an OpenSim name.

        The value of a clinical name is positive in the direction that the name states.
        """
        if name in self.model.coordinate_names:
            own, sign = name, 1.0
        else:
            found = resolve_coordinate(self.model, name)
            own, sign = found.coordinate, found.sign
        place = self.model.position_index[self.model.coordinate_index(own)]
        if place is None:
            raise ModelError(f"{name!r} belongs to a quaternion and has no value of its own")
        return self.q[place] if sign > 0 else -self.q[place]

    def parameter(self, name: str) -> Array:
        """The value of a parameter of the problem."""
        if name not in self.parameters:
            raise ModelError(f"the problem has {unknown_name('parameter', name, self.parameters)}")
        return self.parameters[name]

    def position(self, frame: str) -> Array:
        """World position of a frame, marker or contact (m)."""
        body, local = attached_point(self.model, frame, None)
        return local if body < 0 else self.tree.placements[body].point_back(local)

    def height(self, frame: str) -> Array:
        """Height (m) of the lowest point of a contact, or of the origin of any other frame."""
        radii = {c.name: c.radius for c in self.model.contacts if c.kind == "sphere"}
        return self.position(frame)[2] - radii.get(frame, 0.0)

    def velocity(self, frame: str) -> Array:
        """World velocity of a frame, marker or contact (m/s)."""
        body, local = attached_point(self.model, frame, None)
        return np.zeros(3) if body < 0 else point_velocity(self.tree, body, local)

    def angular_velocity(self, frame: str) -> Array:
        """World angular velocity of a frame (rad/s)."""
        body, _ = self.model.locate(frame)
        return self.tree.placements[body].E.T @ self.tree.velocities[body][:3]

    def ground_force(self, *frames: str) -> Array:
        """World force (N) of the ground on the named contacts, or on the bodies that carry them.

        Without names it is the force on the whole model.
        """
        bodies = {self.model.locate(frame)[0] for frame in frames if frame in self._bodies}
        total: Array = ca.SX.zeros(3)
        for k, row in enumerate(self.contacts.rows):
            chosen = not frames or row.frame in frames
            if (chosen or self.model.locate(row.frame)[0] in bodies) and row.other == WORLD:
                total = total + np.array(row.slide) * self.force[k]
        return total

    def ground_moment(self, body: str) -> Array:
        """World moment (N m) of the ground on the contacts of a body, about its origin."""
        origin, index = self.position(body), self.model.locate(body)[0]
        radii = {c.name: c.radius for c in self.model.contacts if c.kind == "sphere"}
        total: Array = ca.SX.zeros(3)
        for k, row in enumerate(self.contacts.rows):
            if self.model.locate(row.frame)[0] != index or row.other != WORLD:
                continue
            carrier, local = attached_point(self.model, row.frame, row.point)
            lever = self.tree.placements[carrier].point_back(local) - origin
            radius = radii[row.radius] if isinstance(row.radius, str) else row.radius
            turned = radius * np.array(row.turn)
            total = total + self.force[k] * (cross(lever, np.array(row.slide)) + turned)
        return total

    @property
    def _bodies(self) -> tuple[str, ...]:
        return self.model.body_names
