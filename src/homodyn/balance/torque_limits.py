"""Balance within joint torque limits, in one state of a model.

Contact forces load the joints: ``tau = M a + h - sum J' f``. Torque bounds are therefore further
inequalities on the weights of the force generators, so that the set of wrenches, its polygon and
its margins follow as for a stance alone, but for one posture and motion.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from homodyn.balance.polytopes.linear_program import Infeasible, maximize
from homodyn.balance.stance import ContactForceSet, Stance
from homodyn.balance.wrench_polytope import WrenchSet, wrench_set
from homodyn.dynamics import angular_jacobian, inverse_dynamics, jacobian, position
from homodyn.errors import ModelError, NoSolution
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.model import Model

__all__ = [
    "JointTorqueMap",
    "TorqueUtilization",
    "feasible_wrench_set",
    "joint_torque_map",
    "torque_limited_forces",
    "torque_utilization",
]


@record
class JointTorqueMap(Record):
    """Joint torques as a function of the generator weights: ``tau = free - weights @ loads``."""

    stance: Stance
    free: np.ndarray
    """(joints,), N m: torques without any support."""
    loads: np.ndarray
    """(generators, joints), N m for a weight of one."""
    bounds: np.ndarray
    """(joints,), N m: maximum torque in either direction."""
    names: tuple[str, ...]
    """Names of the coordinates."""


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
    zero = np.zeros(model.nv)
    v, a = zero if v is None else v, zero if a is None else a
    names = [model.coordinate_names[k] for k in model.actuated]
    limits = (
        dict.fromkeys(names, float(torque)) if isinstance(torque, int | float) else dict(torque)
    )
    for name, bound in limits.items():
        if name not in names:
            raise ModelError(f"torque: {unknown_name('actuated coordinate', name, names)}")
        if not bound >= 0:
            raise ModelError(f"torque: the bound of {name!r} is from 0 N m up, got {bound!r}")
    columns = [model.coordinate_index(name) for name in limits]
    free = np.asarray(inverse_dynamics(model, q, v, a))[columns]
    loads = []
    for support, generators in zip(stance.supports, stance.generators, strict=True):
        if not support.body:
            raise ModelError(
                f"support {support.name!r} does not name the body it acts on: set its field body"
            )
        origin = np.asarray(position(model, q, support.body))
        linear = np.asarray(jacobian(model, q, support.body))
        angular = np.asarray(angular_jacobian(model, q, support.body))
        moments = generators.moments + np.cross(generators.points - origin, generators.forces)
        loads.append((generators.forces @ linear + moments @ angular)[:, columns])
    bounds = np.array(list(limits.values()))
    return JointTorqueMap(stance, free, np.vstack(loads), bounds, tuple(limits))


def torque_limited_forces(torques: JointTorqueMap) -> ContactForceSet:
    """Restrict the forces of a stance to those with joint torques within bounds, in one state.

    The result can be passed to `static_equilibrium_polygon` and `wrench_set`; they need a limit on
    every normal force.

    Args:
        torques: Joint torques as a function of the contact forces, from `joint_torque_map`.

    Returns:
        The generators of the stance with the torque bounds as additional inequalities.
    """
    upper, lower = torques.bounds - torques.free, torques.bounds + torques.free
    rows = np.vstack([-torques.loads.T, torques.loads.T])
    return torques.stance.forces.with_rows(rows, np.r_[upper, lower])


def feasible_wrench_set(torques: JointTorqueMap) -> WrenchSet:
    """Compute the wrenches that both the supports and the joint torques allow, in one state.

    Args:
        torques: Joint torques as a function of the contact forces, from `joint_torque_map`; every
            normal force of its stance is limited.

    Returns:
        The wrench set.

    Raises:
        Unbounded: A normal force has no limit.
        NoSolution: No contact force satisfies the torque bounds, or the set has too many vertices.
    """
    limited = wrench_set(torque_limited_forces(torques))
    return WrenchSet(torques.stance, limited.forces, limited.polytope)


@record
class TorqueUtilization(Record):
    """The smallest fraction of the torque bounds that a state requires, and the joint torques."""

    share: float
    """At most 1 where the bounds suffice; above 1, some joint needs this multiple of its bound."""
    torques: np.ndarray
    """(joints,), N m."""
    bounds: np.ndarray
    """(joints,), N m."""
    names: tuple[str, ...]
    """Names of the coordinates."""

    @property
    def limiting_joint(self) -> str:
        """The joint nearest to its bound."""
        return self.names[int(np.argmax(np.abs(self.torques) / np.maximum(self.bounds, 1e-300)))]

    def headline(self) -> str:
        """Utilization and limiting joint."""
        return f"TorqueUtilization: {100 * self.share:.1f} %, limited by {self.limiting_joint}"


def torque_utilization(
    torques: JointTorqueMap, *, force: np.ndarray, moment: np.ndarray
) -> TorqueUtilization:
    """Distribute a wrench over the supports such that the joint torque utilization is smallest.

    Solves one linear program: ``min s`` subject to the limits of the supports and ``|tau| <= s
    bound``.

    Args:
        torques: Joint torques as a function of the contact forces, from `joint_torque_map`.
        force: Required force, (3,), N.
        moment: Required moment about the world origin, (3,), N m.

    Returns:
        The utilization, at most 1 where the bounds suffice, and the joint torques (N m).

    Raises:
        NoSolution: The supports cannot give the wrench with any joint torques.
    """
    forces = torques.stance.forces
    k = len(forces.wrenches)
    arm = np.cross(-torques.stance.reference, force)
    wrench = np.r_[np.asarray(moment) + arm, force]
    scale = np.abs(forces.wrenches).max(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    rows = np.vstack(
        [
            np.c_[-np.eye(k), np.zeros((k, 1))],
            np.c_[forces.C, np.zeros((len(forces.C), 1))],
            np.c_[-torques.loads.T, -torques.bounds],
            np.c_[torques.loads.T, -torques.bounds],
        ]
    )
    bounds = np.r_[np.zeros(k), forces.d, -torques.free, torques.free]
    equations = np.c_[(forces.wrenches / scale).T, np.zeros(6)]
    try:
        optimum = maximize(np.r_[np.zeros(k), -1.0], rows, bounds, equations, wrench / scale)
    except Infeasible as error:
        raise NoSolution(
            "the supports cannot give the wrench, whatever the joint torques"
        ) from error
    needed = torques.free - optimum.x[:k] @ torques.loads
    return TorqueUtilization(float(optimum.x[k]), needed, torques.bounds, torques.names)
