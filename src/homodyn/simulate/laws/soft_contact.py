"""Soft contact: springs and dampers whose forces are a function of the state.

The normal force is K p + D dp/dt for a penetration p > 0, and never tensile (van den Kieboom eq.
2.91). Friction is either regularized, mu f_n v / sqrt(v^2 + s^2) against the sliding velocity v,
which creeps slowly where it should stick; or a bristle, a spring and damper from the point of
sticking that yields at the friction cone: the three states inactive, active and slipping of the
thesis.
"""

from __future__ import annotations

import casadi as ca

from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.simulate.constants import BatchParameters, Constant, gap_constant, gap_friction
from homodyn.simulate.geometry import ContactGeometry, Gap, gap_velocity
from homodyn.simulate.laws.contact_law import ContactForces, ForceLaw
from homodyn.spatial import Array

NormalForce = tuple[Array, Array, tuple[Array, Array, Array]]
"""Force along the normal (N), velocity of the gap (m/s), and along the tangents stiffness (N/m),
damping (N s/m) and coefficient of friction."""


class SpringContact(ForceLaw):
    """Forces of springs along the normals, with friction of bristles or a regularized one."""

    bristle: bool
    slip: float

    def memory_size(self, geometry: ContactGeometry) -> int:
        """Entries of the bristle deflections (m, world axes)."""
        return 3 * len(geometry.names) if self.bristle else 0

    def begin_step(
        self, geometry: ContactGeometry, tree: Tree, memory: Array, batch: BatchParameters
    ) -> Array:
        """Deflections clipped to the friction cone of the present state; zero without contact.

        Within the step they follow the motion.
        """
        if not self.bristle:
            return memory
        deflections = []
        for k, gap in enumerate(geometry.gaps(tree)):
            normal, _, (kt, _, mu) = self._normal_force(geometry, tree, gap, batch)
            deflection = _tangential(gap, memory[3 * k : 3 * k + 3])
            scale = _cone_scale(kt * ca.norm_2(deflection), mu * normal)
            deflections.append(deflection * ca.if_else(normal > 0, scale, 0.0))
        return ca.vertcat(ca.SX(0, 1), *deflections)

    def forces(
        self, geometry: ContactGeometry, tree: Tree, memory: Array, batch: BatchParameters
    ) -> ContactForces:
        """Contact forces at a state, and rates of the deflections."""
        gaps = geometry.gaps(tree)
        forces, rates = [], []
        for k, gap in enumerate(gaps):
            normal, velocity, (kt, dt, mu) = self._normal_force(geometry, tree, gap, batch)
            sliding = _tangential(gap, velocity)
            if self.bristle:
                trial = -kt * _tangential(gap, memory[3 * k : 3 * k + 3]) - dt * sliding
                friction = _cone_scale(ca.norm_2(trial), mu * normal) * trial
                rates.append(sliding * (normal > 0))
            else:
                friction = (
                    -(mu * normal / ca.sqrt(ca.dot(sliding, sliding) + self.slip**2)) * sliding
                )
            forces.append(normal * gap.normal + friction)
        return ContactForces(gaps, forces, ca.vertcat(ca.SX(0, 1), *rates))

    def _normal_force(
        self, geometry: ContactGeometry, tree: Tree, gap: Gap, batch: BatchParameters
    ) -> NormalForce:
        """Force of a gap along its normal, velocity, and constants along its tangents."""
        raise NotImplementedError


@record(eq=True)
class SoftContact(SpringContact, Record):
    """Spring-damper contact as a force law; any integrator can use it.

    Constants are one number for all contact shapes, numbers by name of the shape with ``"*"`` for
    the others, or names of batch parameters. Regularized friction acts as a damper of
    mu f_n / slip, so steps must be shorter than 2 slip / (mu f_n) times the mass it acts on.

    Raises:
        ModelError: The slip speed is not positive.
    """

    stiffness: Constant = 5e4
    """Along the normal (N/m)."""
    damping: Constant = 100.0
    """Along the normal (N s/m)."""
    friction: Constant = 0.8
    """Coefficient of friction."""
    slip: float = 0.1
    """Speed (m/s) at which regularized friction reaches 71 % of its limit."""
    bristle: bool = True
    """Whether tangential springs hold contact points in place; else friction is regularized."""
    tangential_stiffness: Constant | None = None
    """Stiffness of the bristles (N/m); None: as along the normal."""
    tangential_damping: Constant | None = None
    """Damping of the bristles (N s/m); None: as along the normal."""
    name: str = "soft"

    def __post_init__(self) -> None:
        if not self.slip > 0:
            raise ModelError(f"slip speed of soft contact must be positive, got {self.slip}")

    def _normal_force(
        self, geometry: ContactGeometry, tree: Tree, gap: Gap, batch: BatchParameters
    ) -> NormalForce:
        """Normal force, velocity of the gap, and the tangential constants."""

        def number(value: Constant, what: str) -> Array:
            return gap_constant(value, geometry, gap, batch, what)

        k, d = number(self.stiffness, "stiffness"), number(self.damping, "damping")
        kt = k if self.tangential_stiffness is None else number(self.tangential_stiffness, "kt")
        dt = d if self.tangential_damping is None else number(self.tangential_damping, "dt")
        mu = gap_friction(self.friction, geometry, gap, batch)
        velocity = gap_velocity(tree, gap)
        force = ca.fmax(-k * gap.distance - d * ca.dot(gap.normal, velocity), 0.0)
        return ca.if_else(gap.distance < 0, force, 0.0), velocity, (kt, dt, mu)


def _cone_scale(size: Array, limit: Array) -> Array:
    """Factor that reduces a tangential force of some size to its limit."""
    return ca.if_else(size > limit, limit / ca.if_else(size > 0, size, 1.0), 1.0)


def _tangential(gap: Gap, vector: Array) -> Array:
    return vector - ca.dot(gap.normal, vector) * gap.normal
