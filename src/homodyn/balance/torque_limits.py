"""Balance that joints can afford: limits of joint torque beside those of the supports.

Contact forces load the joints: ``tau = M a + h - sum J' f``. With torques between bounds these are
more rows on the weights of the generators, so that the set of wrenches, its polygon and its margins
follow as before, now for one posture and motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from homodyn.balance.polytopes.linear_program import Infeasible, maximize
from homodyn.balance.stance import ContactForceSet, Stance
from homodyn.balance.wrench_polytope import WrenchSet, wrench_set
from homodyn.dynamics import angular_jacobian, inverse_dynamics, jacobian, position
from homodyn.errors import ModelError, NoSolution
from homodyn.model import Model


@dataclass(frozen=True, eq=False)
class JointTorqueMap:
    """Joint torques as a function of the generator weights: ``tau = free - weights @ loads``."""

    free: np.ndarray
    """(joints,), N m: torques without any support."""
    loads: np.ndarray
    """(generators, joints), N m for a weight of one."""
    bounds: np.ndarray
    """(joints,), N m: maximum torque in either direction."""
    names: tuple[str, ...]


def joint_torque_map(
    model: Model,
    stance: Stance,
    torque: Mapping[str, float] | float,
    q: np.ndarray,
    v: np.ndarray | None = None,
    a: np.ndarray | None = None,
) -> JointTorqueMap:
    """Map the contact forces of a stance to joint torques in one state.

    Args:
        model: The model.
        stance: Stance in which every support names the ``body`` on which it acts.
        torque: Torque bound (N m), the same in both directions: one number for all actuated
            coordinates, or bounds by coordinate name; coordinates not named are unlimited.
        q: Configuration, (nq,).
        v: Velocity, (nv,); None for zero.
        a: Acceleration, (nv,); None for zero.

    Returns:
        Joint torques as an affine function of the generator weights, with their bounds.

    Raises:
        ModelError: A coordinate is not actuated, a bound is negative, or a support names no body.
    """
    still = np.zeros(model.nv)
    v, a = still if v is None else v, still if a is None else a
    names = [model.coordinate_names[k] for k in model.actuated]
    told = dict.fromkeys(names, float(torque)) if isinstance(torque, int | float) else dict(torque)
    for name, bound in told.items():
        if name not in names:
            raise ModelError(
                f"torque: {name!r} is no driven coordinate; they are {', '.join(names)}"
            )
        if not bound >= 0:
            raise ModelError(f"torque: the bound of {name!r} is from 0 N m up, got {bound!r}")
    columns = [model.coordinate_index(name) for name in told]
    free = np.asarray(inverse_dynamics(model, q, v, a))[columns]
    loads = []
    for support in stance.supports:
        if not support.body:
            raise ModelError(
                f"support {support.name!r} does not say which body it acts on: give it body="
            )
        origin = np.asarray(position(model, q, support.body))
        slide = np.asarray(jacobian(model, q, support.body))
        turn = np.asarray(angular_jacobian(model, q, support.body))
        moments = support.moments + np.cross(support.points - origin, support.forces)
        loads.append((support.forces @ slide + moments @ turn)[:, columns])
    return JointTorqueMap(free, np.vstack(loads), np.array(list(told.values())), tuple(told))


def torque_limited_forces(
    model: Model,
    stance: Stance,
    torque: Mapping[str, float] | float,
    q: np.ndarray,
    v: np.ndarray | None = None,
    a: np.ndarray | None = None,
) -> ContactForceSet:
    """Restrict the forces of a stance to those with joint torques within bounds, in one state.

    The result can be passed to `static_equilibrium_polygon` and `wrench_set`; they need a limit on
    every normal force.

    Args:
        model: The model.
        stance: Stance in which every support names the ``body`` on which it acts.
        torque: Torque bound (N m) of all actuated coordinates, or bounds by coordinate name.
        q: Configuration, (nq,).
        v: Velocity, (nv,); None for zero.
        a: Acceleration, (nv,); None for zero.

    Returns:
        The generators of the stance with the torque bounds as additional inequalities.

    Raises:
        ModelError: A coordinate is not actuated, a bound is negative, or a support names no body.
    """
    known = joint_torque_map(model, stance, torque, q, v, a)
    upper, lower = known.bounds - known.free, known.bounds + known.free
    return stance.forces.with_rows(np.vstack([-known.loads.T, known.loads.T]), np.r_[upper, lower])


def feasible_wrench_set(
    model: Model,
    stance: Stance,
    torque: Mapping[str, float] | float,
    q: np.ndarray,
    v: np.ndarray | None = None,
    a: np.ndarray | None = None,
) -> WrenchSet:
    """Compute the wrenches that both the supports and the joint torques allow, in one state.

    Args:
        model: The model.
        stance: Stance in which every support names the ``body`` on which it acts and every normal
            force is limited.
        torque: Torque bound (N m) of all actuated coordinates, or bounds by coordinate name.
        q: Configuration, (nq,).
        v: Velocity, (nv,); None for zero.
        a: Acceleration, (nv,); None for zero.

    Returns:
        The wrench set.

    Raises:
        ModelError: A coordinate is not actuated, a bound is negative, or a support names no body.
        Unbounded: A normal force has no limit.
        NoSolution: No contact force satisfies the torque bounds, or the set has too many vertices.
    """
    found = wrench_set(torque_limited_forces(model, stance, torque, q, v, a))
    return WrenchSet(stance, found.forces, found.polytope)


@dataclass(frozen=True, eq=False)
class TorqueUtilization:
    """The smallest share of the torque bounds that a state requires, and the joint torques."""

    share: float
    """At most 1 where the bounds suffice; above 1, some joint needs this multiple of its bound."""
    torques: np.ndarray
    """(joints,), N m."""
    bounds: np.ndarray
    names: tuple[str, ...]

    @property
    def limiting_joint(self) -> str:
        """The joint nearest to its bound."""
        return self.names[int(np.argmax(np.abs(self.torques) / np.maximum(self.bounds, 1e-300)))]


def torque_utilization(
    model: Model,
    stance: Stance,
    torque: Mapping[str, float] | float,
    q: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    *,
    force: np.ndarray,
    moment: np.ndarray,
) -> TorqueUtilization:
    """Distribute a wrench over the supports such that the joint torque utilisation is smallest.

    Solves one linear program: ``min s`` subject to the limits of the supports and ``|tau| <= s
    bound``.

    Args:
        model: The model.
        stance: Stance in which every support names the ``body`` on which it acts.
        torque: Torque bound (N m) of all actuated coordinates, or bounds by coordinate name.
        q: Configuration, (nq,).
        v: Velocity, (nv,).
        a: Acceleration, (nv,).
        force: Required force, (3,), N.
        moment: Required moment about the world origin, (3,), N m.

    Returns:
        The utilisation, at most 1 where the bounds suffice, and the joint torques (N m).

    Raises:
        ModelError: A coordinate is not actuated, a bound is negative, or a support names no body.
        NoSolution: The supports cannot give the wrench with any joint torques.
    """
    known = joint_torque_map(model, stance, torque, q, v, a)
    forces = stance.forces
    k = len(forces.wrenches)
    arm = np.cross(-stance.reference, force)
    wrench = np.r_[np.asarray(moment) + arm, force]
    scale = np.abs(forces.wrenches).max(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    none = np.zeros((len(forces.C), 1))
    rows = np.vstack(
        [
            np.c_[-np.eye(k), np.zeros((k, 1))],
            np.c_[forces.C, none],
            np.c_[-known.loads.T, -known.bounds],
            np.c_[known.loads.T, -known.bounds],
        ]
    )
    bounds = np.r_[np.zeros(k), forces.d, -known.free, known.free]
    equations = np.c_[(forces.wrenches / scale).T, np.zeros(6)]
    try:
        found = maximize(np.r_[np.zeros(k), -1.0], rows, bounds, equations, wrench / scale)
    except Infeasible as error:
        raise NoSolution("the supports cannot give the wrench, whatever the joints do") from error
    torques = known.free - found.x[:k] @ known.loads
    return TorqueUtilization(float(found.x[k]), torques, known.bounds, known.names)
