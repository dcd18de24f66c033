"""Rows of constraints at one state: Jacobian G, bias gamma with G a = gamma, and errors.

For the motion of a point p of frame i seen from frame j, with directions d and t fixed in j, a row
and its rate are those of Kieboom 2014, eq. 2.80, written with world vectors:

    G v     = d . (v_i - v_j - w_j x s) + t . (w_i - w_j),          s = p_i - o_j
    -gamma  = d . (a_i - a_j - alpha_j x s - 2 w_j x u + w_j x (w_j x s))
              + t . (alpha_i - alpha_j - w_j x w_i),                u = v_i - v_j

where accelerations are those of zero joint accelerations (Felis 2015, section 3.4.4, has gamma with
the other sign).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics.constraints import Constraint, ConstraintRow, ConstraintSet
from homodyn.dynamics.kinematics import orientation, position
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import PairWrench, WrenchRows, as_column, dot
from homodyn.errors import ModelError
from homodyn.model import WORLD, Model
from homodyn.model.state_function import state_function
from homodyn.spatial import Array, ArrayInput, ParameterValues, cross, unskew

__all__ = [
    "anchor_constraints",
    "constraint_bias",
    "constraint_error",
    "constraint_jacobian",
]


def row_count(model: Model, constraints: Constraint) -> tuple[int]:
    """Shape of an array with one entry per row."""
    return (len(constraints.rows),)


@state_function(q="nq", returns={"jacobian": lambda model, constraints: (len(constraints), "nv")})
def constraint_jacobian(
    model: Model,
    q: ArrayInput,
    constraints: Constraint,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Constraint Jacobian G(q): ``G v`` are the velocities that the constraints forbid.

    Args:
        model: The model.
        q: Positions, (..., nq).
        constraints: One constraint or a set of them.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., rows, nv); rows of ``G v`` in m/s or rad/s.

    Raises:
        ModelError: A constraint refers to an unknown frame or connects a body to itself.
        KernelError: An array has the wrong shape or type.
    """
    return ConstraintRows(Tree(model, q), constraints).matrix.jacobian


@state_function(q="nq", v="nv", returns={"bias": row_count})
def constraint_bias(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    constraints: Constraint,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Bias gamma = -(dG/dt) v: constrained accelerations satisfy G a = gamma.

    Stabilized rows also have -damping G v - stiffness error.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        constraints: One constraint or a set of them.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., rows), m/s2 or rad/s2.

    Raises:
        ModelError: A constraint refers to an unknown frame or connects a body to itself.
        KernelError: An array has the wrong shape or type.
    """
    return as_column(ConstraintRows(Tree(model, q, v), constraints).bias)


@state_function(q="nq", returns={"error": row_count})
def constraint_error(
    model: Model,
    q: ArrayInput,
    constraints: Constraint,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Position error of each row; its rate is G v near zero.

    Contacts without an anchor return the coordinate of their point, rolling rows zero.

    Args:
        model: The model.
        q: Positions, (..., nq).
        constraints: One constraint or a set of them.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., rows), m, or rad for small rotations.

    Raises:
        ModelError: A constraint refers to an unknown frame or connects a body to itself.
        KernelError: An array has the wrong shape or type.
    """
    return as_column(ConstraintRows(Tree(model, q), constraints).errors)


def anchor_constraints(model: Model, q: ArrayInput, constraints: Constraint) -> ConstraintSet:
    """Constraints with the anchors and attitudes of a pose, so that they can be stabilized.

    Args:
        model: The model.
        q: The pose, (nq,).
        constraints: One constraint or a set of them.

    Returns:
        The set of constraints, which the pose satisfies.

    Raises:
        ModelError: A constraint refers to a frame that the model does not have.
    """
    parts: tuple[Any, ...] = ConstraintSet((constraints,)).constraints
    anchored = []
    for constraint in parts:
        changes: dict[str, Any] = {}
        if hasattr(constraint, "anchor"):
            other = getattr(constraint, "other", WORLD)
            axes = orientation(model, q, other) if other != WORLD else np.eye(3)
            origin = position(model, q, other) if other != WORLD else np.zeros(3)
            point = position(model, q, constraint.frame, np.array(constraint.point))
            changes["anchor"] = axes.T @ (point - origin)
            if hasattr(constraint, "attitude"):
                changes["attitude"] = axes.T @ orientation(model, q, constraint.frame)
        anchored.append(replace(constraint, **changes))
    return ConstraintSet(tuple(anchored))


@dataclass(frozen=True, eq=False)
class FramePoint:
    """A point that moves with a body, or is fixed in the world; everything in world axes."""

    tree: Tree
    body: int
    local: Array
    axes: Array
    """Rotation of the named frame: body into frame coordinates."""

    @property
    def is_world(self) -> bool:
        """Whether the point is fixed in the world."""
        return self.body < 0

    def world(self, vector: Array) -> Array:
        """A vector from the axes of the named frame to those of the world."""
        return _rotate_vector(self.rotation.T, vector)

    def _from_body(self, vector: Array) -> Array:
        return self.tree.placements[self.body].E.T @ vector

    @cached_property
    def rotation(self) -> Array:
        """World into frame coordinates."""
        return (
            self.axes
            if self.is_world
            else _rotate_vector(self.axes, self.tree.placements[self.body].E)
        )

    @cached_property
    def position(self) -> Array:
        """Position of the point (m)."""
        return (
            self.local if self.is_world else self.tree.placements[self.body].point_back(self.local)
        )

    @cached_property
    def angular_velocity(self) -> Array:
        """Angular velocity (rad/s)."""
        return (
            np.zeros(3) if self.is_world else self._from_body(self.tree.velocities[self.body][:3])
        )

    @cached_property
    def velocity(self) -> Array:
        """Velocity of the point."""
        if self.is_world:
            return np.zeros(3)
        velocity = self.tree.velocities[self.body]
        return self._from_body(velocity[3:] + cross(velocity[:3], self.local))

    @cached_property
    def _bias(self) -> Array:
        """Spatial acceleration without joint accelerations, minus gravity."""
        return self.tree.bias_accelerations[self.body]

    @cached_property
    def angular_acceleration(self) -> Array:
        """Angular acceleration without joint accelerations."""
        return np.zeros(3) if self.is_world else self._from_body(self._bias[:3])

    @cached_property
    def acceleration(self) -> Array:
        """Acceleration of the point without joint accelerations."""
        if self.is_world:
            return np.zeros(3)
        velocity, bias = self.tree.velocities[self.body], self._bias
        speed = velocity[3:] + cross(velocity[:3], self.local)
        linear = bias[3:] + cross(bias[:3], self.local) + cross(velocity[:3], speed)
        return self._from_body(linear) + self.tree.model.gravity


@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """The rows of a set of constraints on a tree at its state."""

    tree: Tree
    constraints: Constraint

    @cached_property
    def rows(self) -> tuple[ConstraintRow, ...]:
        """The descriptions of the rows."""
        return self.constraints.rows

    @cached_property
    def sides(self) -> list[tuple[FramePoint, FramePoint]]:
        """For each row the moving point and the frame it is relative to, shared between rows."""
        known: dict[Any, FramePoint] = {}

        def side(frame: str, point: Any) -> FramePoint:
            if (frame, point) not in known:
                body, placement = self.tree.model.locate(frame)
                local = placement.r + _rotate_vector(placement.E.T, np.array(point))
                known[frame, point] = FramePoint(self.tree, body, local, placement.E)
            return known[frame, point]

        pairs = [(side(r.frame, r.point), side(r.other, (0.0, 0.0, 0.0))) for r in self.rows]
        for row, (i, j) in zip(self.rows, pairs, strict=True):
            if i.body == j.body:
                raise ModelError(
                    f"constraint {row.name!r} connects {row.frame!r} and {row.other!r}, "
                    "which are fixed to the same body"
                )
        return pairs

    @cached_property
    def directions(self) -> list[tuple[Array, Array]]:
        """For each row, slide and turn in world axes."""
        return [
            (j.world(np.array(row.slide)), self._radius(row) * j.world(np.array(row.turn)))
            for row, (_, j) in zip(self.rows, self.sides, strict=True)
        ]

    def _radius(self, row: ConstraintRow) -> Array:
        if not isinstance(row.radius, str):
            return row.radius
        spheres = {c.name: c.radius for c in self.tree.model.contacts if c.kind == "sphere"}
        if row.radius not in spheres:
            raise ModelError(
                f"constraint {row.name!r} has no radius and {row.radius!r} is not a spherical "
                f"contact of model {self.tree.model.name!r}; it has {', '.join(spheres) or 'none'}"
            )
        return spheres[row.radius]

    @cached_property
    def wrenches(self) -> list[PairWrench]:
        """The wrench of a unit force of each row."""
        return [
            PairWrench(i.body, j.body, i.position, slide, turn)
            for (i, j), (slide, turn) in zip(self.sides, self.directions, strict=True)
        ]

    @cached_property
    def matrix(self) -> WrenchRows:
        """G."""
        return WrenchRows(self.tree, self.wrenches)

    @cached_property
    def bias(self) -> list[Array]:
        """gamma, with stabilization terms."""
        result = []
        for k, (row, (i, j), (slide, turn)) in enumerate(
            zip(self.rows, self.sides, self.directions, strict=True)
        ):
            linear, angular = i.acceleration, i.angular_acceleration
            if not j.is_world:
                reach, speed = i.position - j.position, i.velocity - j.velocity
                linear = (
                    linear
                    - j.acceleration
                    - cross(j.angular_acceleration, reach)
                    - cross(j.angular_velocity, 2 * speed - cross(j.angular_velocity, reach))
                )
                angular = (
                    angular - j.angular_acceleration - cross(j.angular_velocity, i.angular_velocity)
                )
            gamma = -dot(slide, linear) - dot(turn, angular)
            if row.centripetal:
                # slide . (w x (w x rho)) with turn = rho x slide and slide perpendicular to rho.
                gamma = gamma - dot(slide, i.angular_velocity) * dot(
                    i.angular_velocity, cross(slide, turn)
                )
            if row.stabilization is not None:
                gamma = gamma - self._restoring(k, row)
            result.append(gamma)
        return result

    def _restoring(self, k: int, row: ConstraintRow) -> Array:
        """Damping G v + stiffness error."""
        gains = row.stabilization
        assert gains is not None
        if row.measure != "none" and not row.has_anchor and gains.stiffness:
            raise ModelError(
                f"constraint {row.name!r} on {row.frame!r} cannot be stabilized without an anchor: "
                "pass one, or use that of a pose with anchor_constraints()"
            )
        (i, j), (slide, turn) = self.sides[k], self.directions[k]
        rate = dot(slide, i.velocity) + dot(turn, i.angular_velocity)
        if not j.is_world:
            relative = j.velocity + cross(j.angular_velocity, i.position - j.position)
            rate = rate - dot(slide, relative) - dot(turn, j.angular_velocity)
        return gains.damping * rate + gains.stiffness * self.errors[k]

    @cached_property
    def errors(self) -> list[Array]:
        """Position error of each row."""
        result = []
        for row, (i, j), (slide, _) in zip(self.rows, self.sides, self.directions, strict=True):
            if row.measure == "none":
                result.append(ca.SX(0))
            elif row.measure in ("place", "height"):
                along = dot(slide, i.position - j.position) - float(np.dot(row.slide, row.anchor))
                result.append(along - self._radius(row) if row.measure == "height" else along)
            else:
                # Rotation of the frame in the other one, relative to the fixed attitude.
                deviation = (j.rotation @ i.rotation.T) @ np.array(row.attitude).T
                if row.measure == "axis":
                    axis = np.array(row.axis)
                    result.append(dot(np.array(row.turn), cross(axis, deviation @ axis)))
                else:
                    result.append(dot(np.array(row.turn), unskew(deviation)))
        return result


def _rotate_vector(rotation: Array, vector: Array) -> Array:
    """``rotation @ vector``, without instructions for an identity rotation."""
    if isinstance(rotation, np.ndarray) and np.array_equal(rotation, np.eye(3)):
        return vector
    return rotation @ vector
