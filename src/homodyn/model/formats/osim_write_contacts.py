"""Contact spheres, and contact forces of another file, as elements of OpenSim files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from homodyn.model.formats.osim_contacts import SphereContact, read_osim_contacts
from homodyn.model.formats.osim_nodes import body_fixed_angles, component, socket, value
from homodyn.model.formats.xml_write import XmlNode
from homodyn.model.joint import WORLD
from homodyn.model.model import Model
from homodyn.model.shapes import ContactShape

SHARED_NUMBERS = (
    "stiffness",
    "dissipation",
    "static_friction",
    "dynamic_friction",
    "viscous_friction",
)


def sphere_node(contact: ContactShape) -> XmlNode:
    """The element of a contact sphere."""
    return component(
        "ContactSphere",
        contact.name,
        socket("frame", contact.body),
        value("location", contact.position),
        value("radius", contact.radius),
    )


def contact_force_nodes(
    model: Model, like: str | Path | None
) -> tuple[list[XmlNode], list[XmlNode]]:
    """Half spaces and contact forces of a file, for the spheres that a model has.

    Args:
        model: The model.
        like: The OpenSim file; None: there are none.

    Returns:
        Elements of half spaces and of forces.

    Raises:
        FormatError: The file cannot be read.
    """
    if like is None:
        return [], []
    spheres = {c.name for c in model.contacts if c.kind == "sphere"}
    kept = [force for force in read_osim_contacts(like).forces if force.sphere in spheres]
    half_spaces: dict[tuple[float, ...], str] = {}
    forces = []
    for force in kept:
        plane = (*force.normal.tolist(), force.height)
        number = len(half_spaces)
        floor = half_spaces.setdefault(plane, f"floor_{number + 1}" if number else "floor")
        forces.append((_smooth_force if force.smooth else _hunt_crossley_force)(force, floor))
    return [_half_space_node(name, plane) for plane, name in half_spaces.items()], forces


def _half_space_node(name: str, plane: tuple[float, ...]) -> XmlNode:
    """A half space of the ground; it fills the positive x of its own axes."""
    normal, height = np.array(plane[:3]), plane[3]
    across = np.cross(-normal, np.eye(3)[np.argmin(np.abs(normal))])
    across = across / np.linalg.norm(across)
    E = np.array([-normal, across, np.cross(-normal, across)])
    return component(
        "ContactHalfSpace",
        name,
        socket("frame", WORLD),
        value("location", normal * height),
        value("orientation", body_fixed_angles(E)),
    )


def _smooth_force(force: SphereContact, floor: str) -> XmlNode:
    return component(
        "SmoothSphereHalfSpaceForce",
        f"{force.sphere}_on_{floor}",
        value("socket_sphere", f"/contactgeometryset/{force.sphere}"),
        value("socket_half_space", f"/contactgeometryset/{floor}"),
        *(value(tag, getattr(force, tag)) for tag in SHARED_NUMBERS),
        value("transition_velocity", force.transition_velocity),
        value("constant_contact_force", force.constant_force),
        value("hertz_smoothing", force.hertz_smoothing),
        value("hunt_crossley_smoothing", force.hunt_crossley_smoothing),
    )


def _hunt_crossley_force(force: SphereContact, floor: str) -> XmlNode:
    parameters = component(
        "HuntCrossleyForce::ContactParameters",
        "contact",
        value("geometry", f"{floor} {force.sphere}"),
        *(value(tag, getattr(force, tag)) for tag in SHARED_NUMBERS),
    )
    return component(
        "HuntCrossleyForce",
        f"{force.sphere}_on_{floor}",
        XmlNode(
            "HuntCrossleyForce::ContactParametersSet",
            {"name": "contact_parameters"},
            [XmlNode("objects", {}, [parameters])],
        ),
        value("transition_velocity", force.transition_velocity),
    )
