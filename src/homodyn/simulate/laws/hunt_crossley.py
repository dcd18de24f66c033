"""Contact of spheres by Hertz' theory with dissipation: the compliant contact of OpenSim.

For an indentation x of a sphere of radius R with velocity v along the normal (inwards positive),
the force along the normal is

    f = 4/3 k sqrt(R k) x^(3/2) (1 + 3/2 c v),        k = K^(2/3) / 2

with the plane strain modulus K of both materials (Hunt and Crossley 1975; Sherman et al. 2011),
and friction against the sliding velocity u is

    f (min(u / u_t, 1) (mu_d + 2 (mu_s - mu_d) / (1 + (u / u_t)^2)) + mu_v u).

The smooth variant (Serrancoli et al. 2019) has derivatives of all orders: hyperbolic tangents
replace the conditions x > 0 and 1 + 3/2 c v > 0, and it acts a little before the sphere touches.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import casadi as ca

from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.formats.osim_contacts import SphereContact, read_osim_contacts
from homodyn.motion import PlaneObstacle
from homodyn.simulate.constants import BatchParameters, Constant, gap_constant
from homodyn.simulate.geometry import ContactGeometry, Gap, gap_velocity
from homodyn.simulate.laws.contact_law import ContactForces, ForceLaw
from homodyn.spatial import Array

_CONSTANTS = (
    "stiffness",
    "dissipation",
    "static_friction",
    "dynamic_friction",
    "viscous_friction",
    "transition_velocity",
    "constant_force",
    "hertz_smoothing",
    "hunt_crossley_smoothing",
)
MIN_SLIP_M_S = 1e-12
"""Slip speed below which its direction has no meaning."""


@record(eq=True)
class HuntCrossleyContact(ForceLaw, Record):
    """Hertz contact of spheres with Hunt-Crossley dissipation, as a force law.

    Constants are one number for all contact spheres, numbers by name of the sphere with ``"*"`` for
    the others, or names of batch parameters. ``smooth`` selects the SmoothSphereHalfSpaceForce of
    OpenSim, else it is its HuntCrossleyForce.
    """

    stiffness: Constant = 1e6
    """Plane strain modulus of both materials (N/m2)."""
    dissipation: Constant = 2.0
    """s/m."""
    static_friction: Constant = 0.8
    dynamic_friction: Constant = 0.8
    viscous_friction: Constant = 0.0
    """s/m."""
    transition_velocity: Constant = 0.01
    """Slip speed of the largest friction (m/s)."""
    smooth: bool = False
    constant_force: Constant = 1e-5
    """Added to the squares of indentation and slip speed by the smooth variant (m2, m2/s2)."""
    hertz_smoothing: Constant = 300.0
    """1/m; larger is steeper."""
    hunt_crossley_smoothing: Constant = 50.0
    """s/m; larger is steeper."""
    name: str = "Hunt-Crossley"

    def forces(
        self, geometry: ContactGeometry, tree: Tree, memory: Array, batch: BatchParameters
    ) -> ContactForces:
        """Contact forces at a state; they act midway between both surfaces."""
        gaps, forces = [], []
        for gap in geometry.gaps(tree):
            shape = geometry.model.contacts[gap.shape] if gap.shape >= 0 else None
            if shape is None or shape.kind != "sphere":
                raise ModelError(
                    f"{gap.name}: Hunt-Crossley contact is for spheres; use SoftContact for points "
                    "and shapes with edges"
                )
            place = replace(gap, point=gap.point - gap.distance / 2 * gap.normal)
            gaps.append(place)
            forces.append(self._force(geometry, tree, place, shape.radius, batch))
        return ContactForces(gaps, forces)

    def _force(
        self,
        geometry: ContactGeometry,
        tree: Tree,
        gap: Gap,
        radius: Array,
        batch: BatchParameters,
    ) -> Array:
        """Force on the sphere (N, world), (3,)."""
        c = {
            what: gap_constant(getattr(self, what), geometry, gap, batch, what)
            for what in _CONSTANTS
        }
        static, dynamic = c["static_friction"], c["dynamic_friction"]
        if gap.friction is not None:
            static = dynamic = float(gap.friction)
        velocity = gap_velocity(tree, gap)
        closing = -ca.dot(gap.normal, velocity)
        sliding = velocity + closing * gap.normal
        k = 0.5 * c["stiffness"] ** (2 / 3)
        scale = 4 / 3 * k * ca.sqrt(radius * k)
        if self.smooth:
            normal = _smooth_normal_force(scale, -gap.distance, closing, c)
            slip = ca.sqrt(ca.dot(sliding, sliding) + c["constant_force"])
        else:
            depth = ca.fmax(-gap.distance, 0)
            hertz = scale * depth * ca.sqrt(depth)
            normal = ca.fmax(hertz * (1 + 1.5 * c["dissipation"] * closing), 0)
            slip = ca.sqrt(ca.dot(sliding, sliding) + MIN_SLIP_M_S**2)
        relative = slip / c["transition_velocity"]
        coefficient = (
            ca.fmin(relative, 1) * (dynamic + 2 * (static - dynamic) / (1 + relative**2))
            + c["viscous_friction"] * slip
        )
        return normal * (gap.normal - coefficient / slip * sliding)


def _smooth_normal_force(
    scale: Array, indentation: Array, closing: Array, c: dict[str, Array]
) -> Array:
    """Force of the smooth variant along the normal."""
    size = ca.sqrt(indentation * indentation + c["constant_force"])
    hertz = scale * size * ca.sqrt(size)
    hertz = hertz * (0.5 + 0.5 * ca.tanh(c["hertz_smoothing"] * indentation))
    dissipation = c["dissipation"]
    force = hertz * (1 + 1.5 * dissipation * closing)
    if isinstance(dissipation, float) and dissipation == 0:
        return force
    limit = closing + 2 / (3 * dissipation)
    return force * (0.5 + 0.5 * ca.tanh(c["hunt_crossley_smoothing"] * limit))


def osim_contact(model: Model, path: str | Path) -> tuple[HuntCrossleyContact, ContactGeometry]:
    """The contact forces of an OpenSim file: a law with their parameters, and what can touch.

    Args:
        model: The model of the same file, or one with contact spheres of the same names.
        path: The file.

    Returns:
        The law, and a contact geometry with the spheres that have a force on their half space.

    Raises:
        FormatError: The file is not an OpenSim model, or a force is not complete.
        ModelError: The file has no such forces, a sphere has several, a sphere is not in the model,
            or half spaces or kinds of forces differ.
    """
    found = read_osim_contacts(path)
    if not found.forces:
        notes = "; ".join(found.notes)
        raise ModelError(
            f"{path} has no SmoothSphereHalfSpaceForce or HuntCrossleyForce between spheres and a "
            f"half space{': ' + notes if notes else ''}"
        )
    first = found.forces[0]
    names = [force.sphere for force in found.forces]
    for force in found.forces:
        _check_force(model, force, first, names)
    constants = {
        what: {force.sphere: getattr(force, what) for force in found.forces} for what in _CONSTANTS
    }
    plane = PlaneObstacle(first.normal, first.height, name="half space")
    law = HuntCrossleyContact(smooth=first.smooth, **constants)  # type: ignore[arg-type]
    return law, ContactGeometry(model, tuple(names), plane)


def _check_force(
    model: Model, force: SphereContact, first: SphereContact, names: list[str]
) -> None:
    if names.count(force.sphere) > 1:
        raise ModelError(f"sphere {force.sphere!r} has several contact forces; leave one")
    if force.smooth is not first.smooth:
        raise ModelError("the file has smooth and other contact forces; leave one kind")
    plane = [*force.normal, force.height]
    if max(abs(a - b) for a, b in zip(plane, [*first.normal, first.height], strict=True)) > 1e-12:
        raise ModelError(
            f"spheres {first.sphere!r} and {force.sphere!r} have different half spaces; one plane "
            "for all is supported"
        )
    if force.sphere not in [shape.name for shape in model.contacts]:
        raise ModelError(f"model {model.name!r} has no contact sphere {force.sphere!r}")
