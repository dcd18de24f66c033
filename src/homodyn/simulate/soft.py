"""Contact as springs and dampers: forces are a function of the state.

The normal force is K p - D dp/dt for a penetration p > 0, and never pulls (van den Kieboom eq.
2.91). Friction is regularised, mu f_n v / sqrt(v^2 + s^2) against the sliding velocity v, which
creeps slowly where it should stick; or it is a bristle, a spring and damper from where the point
took hold, that gives way beyond the cone: the three states inactive, active and slipping of the
thesis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.simulate.constants import Constant, Lane, constant
from homodyn.simulate.geometry import Gap, Scene, gap_velocity
from homodyn.spatial import Array


@dataclass(frozen=True)
class Soft:
    """Spring-damper contact; constants for all contact shapes or, as mappings, for each by name.

    ``stiffness`` (N/m) and ``damping`` (N s/m) along the normal; ``friction``, a coefficient.
    ``slip`` (m/s) is the speed of regularised friction. With ``bristle`` the tangential constants
    (the normal ones where None) hold points in place.
    """

    stiffness: Constant = 5e4
    damping: Constant = 250.0
    friction: Constant = 0.8
    slip: float = 1e-2
    bristle: bool = False
    tangential_stiffness: Constant | None = None
    tangential_damping: Constant | None = None
    name: str = "soft"

    def __post_init__(self) -> None:
        if not self.slip > 0:
            raise ModelError(f"slip speed of soft contact must be positive, got {self.slip}")

    def memory(self, scene: Scene) -> int:
        """Numbers that the law keeps from step to step: bristle deflections, world axes (m)."""
        return 3 * len(scene.names) if self.bristle else 0

    def begin(self, scene: Scene, tree: Tree, z: Array, lane: Lane) -> Array:
        """Deflections cut to what friction holds in the present state; none where nothing touches.

        Done once before each step, so that within it deflections just follow the motion.
        """
        if not self.bristle:
            return z
        kept = []
        for k, gap in enumerate(scene.gaps(tree)):
            normal, _, (kt, _, mu) = self._normal(scene, tree, gap, lane)
            across = _across(gap, z[3 * k : 3 * k + 3])
            pull = kt * ca.norm_2(across)
            hold = mu * normal
            share = ca.if_else(pull > hold, hold / ca.if_else(pull > 0, pull, 1.0), 1.0)
            kept.append(across * ca.if_else(normal > 0, share, 0.0))
        return ca.vertcat(ca.SX(0, 1), *kept)

    def forces(
        self, scene: Scene, tree: Tree, z: Array, lane: Lane
    ) -> tuple[list[Gap], list[Array], Array]:
        """Gaps, world forces on their bodies (N), and rates of the deflections."""
        gaps = scene.gaps(tree)
        forces, rates = [], []
        for k, gap in enumerate(gaps):
            normal, velocity, (kt, dt, mu) = self._normal(scene, tree, gap, lane)
            sliding = _across(gap, velocity)
            if self.bristle:
                trial = -kt * _across(gap, z[3 * k : 3 * k + 3]) - dt * sliding
                size = ca.norm_2(trial)
                hold = mu * normal
                share = ca.if_else(size > hold, hold / ca.if_else(size > 0, size, 1.0), 1.0)
                friction = share * trial
                rates.append(sliding * (normal > 0))
            else:
                friction = (
                    -(mu * normal / ca.sqrt(ca.dot(sliding, sliding) + self.slip**2)) * sliding
                )
            forces.append(normal * gap.normal + friction)
        return gaps, forces, ca.vertcat(ca.SX(0, 1), *rates)

    def _normal(
        self, scene: Scene, tree: Tree, gap: Gap, lane: Lane
    ) -> tuple[Array, Array, tuple[Array, Array, Array]]:
        """Normal force, velocity of the gap, and the tangential constants."""

        def number(value: Any, what: str) -> Array:
            return constant(value, scene.model.contacts[gap.shape].name, lane, what)

        k, d = number(self.stiffness, "stiffness"), number(self.damping, "damping")
        kt = k if self.tangential_stiffness is None else number(self.tangential_stiffness, "kt")
        dt = d if self.tangential_damping is None else number(self.tangential_damping, "dt")
        mu = number(self.friction, "friction")
        velocity = gap_velocity(tree, gap)
        force = ca.fmax(-k * gap.distance - d * ca.dot(gap.normal, velocity), 0.0)
        return ca.if_else(gap.distance < 0, force, 0.0), velocity, (kt, dt, mu)


def _across(gap: Gap, vector: Array) -> Array:
    return vector - ca.dot(gap.normal, vector) * gap.normal
