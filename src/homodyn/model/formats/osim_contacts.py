"""Parameters of the contact forces between spheres and half spaces in OpenSim files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from homodyn.foundation import Record, count_of, record
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.model.formats.osim_document import (
    OsimDocument,
    name_of,
    number,
    placement_of,
    read_document,
    text,
)
from homodyn.model.formats.osim_frames import Frames, read_frames
from homodyn.model.formats.xml import Element
from homodyn.model.joint import WORLD

_FRAME = ("socket_frame", "connector_frame_connectee_name", "body_name")
DEFAULT_TRANSITION_VELOCITY_M_S = 0.01
DEFAULT_CONSTANT_FORCE = 1e-5
DEFAULT_HERTZ_SMOOTHING = 300.0
DEFAULT_HUNT_CROSSLEY_SMOOTHING = 50.0


@record
class SphereContact(Record):
    """The force between a contact sphere and a half space of the ground."""

    sphere: str
    """Name of the contact sphere."""
    smooth: bool
    """Whether it is a SmoothSphereHalfSpaceForce; otherwise a HuntCrossleyForce."""
    stiffness: float
    """Plane strain modulus (N/m2)."""
    dissipation: float
    """s/m."""
    static_friction: float
    dynamic_friction: float
    viscous_friction: float
    """s/m."""
    transition_velocity: float
    """m/s."""
    constant_force: float
    """Added to squares of indentation and slip speed by the smooth force (m2, m2/s2)."""
    hertz_smoothing: float
    """1/m."""
    hunt_crossley_smoothing: float
    """s/m."""
    normal: np.ndarray
    """Out of the half space (world of the file), (3,)."""
    height: float
    """Distance of its surface from the origin along the normal (m)."""

    def headline(self) -> str:
        """Sphere and stiffness."""
        return f"SphereContact of {self.sphere!r}: {self.stiffness:g} N/m2"


@record
class OsimContacts(Record):
    """The contact forces of an OpenSim file that have spheres on half spaces of the ground."""

    forces: tuple[SphereContact, ...]
    notes: tuple[str, ...]
    """Contact forces of the file that are left out."""

    def headline(self) -> str:
        """Number of forces."""
        return f"OsimContacts: {count_of(len(self.forces), 'force')}"


@guarded_reader("OpenSim model")
def read_osim_contacts(path: str | Path) -> OsimContacts:
    """Read the parameters of SmoothSphereHalfSpaceForce and HuntCrossleyForce of an OpenSim file.

    Args:
        path: The file.

    Returns:
        One force for each sphere, and notes about contact forces with other geometry.

    Raises:
        FormatError: The file is not an OpenSim model, or a force is not complete.
    """
    document = read_document(path)
    frames = read_frames(document)
    shapes = {name_of(element): element for element in document.objects("ContactGeometrySet")}
    forces: list[SphereContact] = []
    notes: list[str] = []
    for element in _contact_forces(document):
        if element.tag == "SmoothSphereHalfSpaceForce":
            names = [_last(text(element, f"socket_{end}")) for end in ("sphere", "half_space")]
            forces.append(_force(element, element, True, _pair(element, names, shapes), frames))
            continue
        for parameters in _parameter_sets(element):
            names = text(parameters, "geometry").split()
            spheres = [n for n in names if n in shapes and shapes[n].tag == "ContactSphere"]
            others = [n for n in names if n not in spheres]
            if len(others) != 1:
                notes.append(
                    f"HuntCrossleyForce {name_of(element)!r} has the geometry {', '.join(names)}; "
                    "spheres and one half space are supported"
                )
                continue
            for sphere in spheres:
                pair = _pair(element, [sphere, *others], shapes)
                forces.append(_force(element, parameters, False, pair, frames))
    return OsimContacts(tuple(forces), tuple(notes))


def _contact_forces(document: OsimDocument) -> list[Element]:
    tags = ("SmoothSphereHalfSpaceForce", "HuntCrossleyForce")
    return [element for element in document.objects("ForceSet") if element.tag in tags]


def _parameter_sets(element: Element) -> list[Element]:
    found = element.find("HuntCrossleyForce::ContactParametersSet")
    objects = None if found is None else found.find("objects")
    return [] if objects is None else objects.children


def _last(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _pair(element: Element, names: list[str], shapes: dict[str, Element]) -> tuple[str, Element]:
    """The name of the sphere, and the half space."""
    for name, tag in zip(names, ("ContactSphere", "ContactHalfSpace"), strict=True):
        if name not in shapes or shapes[name].tag != tag:
            known = ", ".join(n for n, shape in shapes.items() if shape.tag == tag) or "none"
            raise element.error(f"{name!r} is not a {tag} of the file; there are: {known}")
    return names[0], shapes[names[1]]


def _force(
    element: Element,
    parameters: Element,
    smooth: bool,
    pair: tuple[str, Element],
    frames: Frames,
) -> SphereContact:
    sphere, half_space = pair
    body, place = frames.find(half_space, text(half_space, *_FRAME))
    if body != WORLD:
        raise half_space.error(f"the half space is on {body!r}; only the ground is supported")
    own = placement_of(half_space, "location", "orientation")
    # The half space fills the positive x of its own axes.
    outward = -(place.E.T @ (own.E.T @ np.array([1.0, 0.0, 0.0])))
    origin = place.point_back(own.r)
    return SphereContact(
        sphere,
        smooth,
        number(parameters, "stiffness", 0.0),
        number(parameters, "dissipation", 0.0),
        number(parameters, "static_friction", 0.0),
        number(parameters, "dynamic_friction", 0.0),
        number(parameters, "viscous_friction", 0.0),
        number(element, "transition_velocity", DEFAULT_TRANSITION_VELOCITY_M_S),
        number(element, "constant_contact_force", DEFAULT_CONSTANT_FORCE),
        number(element, "hertz_smoothing", DEFAULT_HERTZ_SMOOTHING),
        number(element, "hunt_crossley_smoothing", DEFAULT_HUNT_CROSSLEY_SMOOTHING),
        outward,
        float(outward @ origin),
    )
