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
    """Joint torques as a function of the weights: ``tau = free - weights @ loads``."""

    free: np.ndarray
    """(joints,), N m: torques without any support."""
    loads: np.ndarray
    """(generators, joints), N m for a weight of one."""
    bounds: np.ndarray
    """(joints,), N m: largest torque either way."""
    names: tuple[str, ...]


def joint_torque_map(
    model: Model,
    stance: Stance,
    torque: Mapping[str, float] | float,
    q: np.ndarray,
    v: np.ndarray | None = None,
    a: np.ndarray | None = None,
) -> JointTorqueMap:
    """How supports load joints in one state; every support names the ``body`` it acts on.

    ``torque`` (N m) is one bound for all coordinates but the root's, or one for each that has any.
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
    """The forces of a stance that keep joint torques (N m) within bounds, in one state.

    For ``static_polygon`` and ``actuated_wrenches``; every normal force needs a limit for these.
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
    """The admissible wrenches that joint torques allow too, in one state."""
    found = wrench_set(torque_limited_forces(model, stance, torque, q, v, a))
    return WrenchSet(stance, found.forces, found.polytope)


@dataclass(frozen=True, eq=False)
class TorqueUtilization:
    """The least share of torque bounds with which a state can be held, and where it is needed."""

    share: float
    """1 and less: possible; above 1: some joint would need this many times its bound."""
    torques: np.ndarray
    """(joints,), N m."""
    bounds: np.ndarray
    names: tuple[str, ...]

    @property
    def limiting_joint(self) -> str:
        """The joint that is nearest to its bound."""
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
    """Contact forces that give a wrench about the origin with the smallest share of joint torques.

    One linear program: ``min s`` subject to the limits of the supports and ``|tau| <= s bound``.
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
