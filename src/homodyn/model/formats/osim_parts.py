"""Bodies, markers, contact spheres, meshes and couplers of an OpenSim model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

import numpy as np

from homodyn.foundation.text import unknown_name
from homodyn.model.body import Body
from homodyn.model.formats.osim_capsules import is_capsule_frame
from homodyn.model.formats.osim_document import (
    OsimDocument,
    flag,
    members,
    name_of,
    number,
    numbers,
    property_object,
    rotation_of,
    text,
)
from homodyn.model.formats.osim_frames import GROUND, Frames
from homodyn.model.formats.osim_functions import read_function
from homodyn.model.formats.xml import Element
from homodyn.model.functions import Constant, Linear, ScalarFunction, ScaledFunction
from homodyn.model.joint import WORLD, Coupler, Joint
from homodyn.model.shapes import ContactShape, Frame, Marker, Mesh
from homodyn.spatial import Transform

SOCKET = ("socket_parent_frame", "connector_parent_frame_connectee_name", "body")
_CONTACT_SOCKET = ("socket_frame", "connector_frame_connectee_name", "body_name")
_ENTRIES = ("xx", "yy", "zz", "xy", "xz", "yz")
_ZEROS = (0.0, 0.0, 0.0)


def read_bodies(frames: Frames) -> tuple[Body, ...]:
    """Bodies with their mass, center of mass and inertia about it."""
    return tuple(_body(name, element) for name, element in frames.bodies.items())


def _body(name: str, element: Element) -> Body:
    if element.find("inertia") is not None:
        entries = numbers(element, "inertia", 6)
    else:
        entries = np.array([number(element, f"inertia_{entry}", 0.0) for entry in _ENTRIES])
    xx, yy, zz, xy, xz, yz = entries
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    mass = number(element, "mass")
    if mass < 0:
        raise element.error(f"the mass of {name!r} must be zero or more (kg), got {mass:g}")
    return Body(name, mass, numbers(element, "mass_center", 3, _ZEROS), inertia)


def read_offset_frames(
    document: OsimDocument, frames: Frames, taken: set[str]
) -> tuple[Frame, ...]:
    """Frames of bodies and of the model, without those of joints and of capsules."""
    owners = {"", GROUND, *frames.bodies, document.model.attributes.get("name", "").strip()}
    offset_frames = []
    for (owner, name), element in frames.offsets.items():
        if (owner, name) in frames.inner or is_capsule_frame(element):
            continue
        if owner in owners and name not in taken:
            taken.add(name)
            offset_frames.append(Frame(name, *frames.find(element, name, owner)))
    return tuple(offset_frames)


def read_markers(document: OsimDocument, frames: Frames, taken: set[str]) -> tuple[Marker, ...]:
    """Markers; a number is appended to names that are taken, with a note."""
    markers = []
    for element in document.objects("MarkerSet"):
        if element.tag != "Marker":
            continue
        body, place = frames.find(element, text(element, *SOCKET))
        position = place.point_back(numbers(element, "location", 3, _ZEROS))
        name = _unique_name(document, "marker", name_of(element), "", taken)
        stated = element.find("fixed") is not None
        fixed = flag(element, "fixed", False) if stated else None
        markers.append(Marker(name, body, position, fixed))
    return tuple(markers)


def read_contacts(
    document: OsimDocument, frames: Frames, taken: set[str]
) -> tuple[ContactShape, ...]:
    """Contact spheres; notes list half spaces, meshes and other shapes."""
    contacts = []
    for element in document.objects("ContactGeometrySet"):
        if element.tag != "ContactSphere":
            document.notes.append(f"{element.tag} {name_of(element)!r} is not used")
            continue
        body, place = frames.find(element, text(element, *_CONTACT_SOCKET))
        position = place.point_back(numbers(element, "location", 3, _ZEROS))
        name = _unique_name(document, "contact", name_of(element), "_contact", taken)
        radius = number(element, "radius")
        contacts.append(ContactShape(name, body, "sphere", position, radius))
    return tuple(contacts)


def _unique_name(document: OsimDocument, what: str, name: str, ending: str, taken: set[str]) -> str:
    """A name that is not taken: the given one, or one with an ending and a number."""
    unique, k = name, 2
    while unique in taken or unique == WORLD:
        unique = f"{name}{ending}" if ending and k == 2 else f"{name}{ending}_{k}"
        k += 1
    taken.add(unique)
    if unique != name:
        document.notes.append(f"{what} {name!r} is renamed {unique!r}: the name is taken")
    return unique


def read_meshes(document: OsimDocument, frames: Frames) -> tuple[Mesh, ...]:
    """Mesh files of bodies; notes count other shapes."""
    meshes: list[Mesh] = []
    for element in (*frames.bodies.values(), *frames.grounds):
        body = WORLD if element is frames.ground else name_of(element)
        meshes += _meshes(element, body, Transform.identity())
    for (owner, name), offset in frames.offsets.items():
        if offset.find("attached_geometry") is not None:
            meshes += _meshes(offset, *frames.find(offset, name, owner))
    shapes = Counter(
        shape.tag
        for element in (*frames.bodies.values(), *frames.grounds, *frames.offsets.values())
        if not is_capsule_frame(element)
        for attached in element.all("attached_geometry")
        for shape in attached.children
        if shape.tag != "Mesh"
    )
    document.notes += [f"drawing shapes not kept: {count} x {tag}" for tag, count in shapes.items()]
    return tuple(meshes)


def _meshes(element: Element, body: str, place: Transform) -> Iterator[Mesh]:
    attached = element.find("attached_geometry")
    for mesh in attached.all("Mesh") if attached else ():
        file = text(mesh, "mesh_file", default="")
        if file:
            yield Mesh(body, file, place, numbers(mesh, "scale_factors", 3, (1.0, 1.0, 1.0)))
    visible = element.find("VisibleObject")
    if visible is None:
        return
    whole = numbers(visible, "scale_factors", 3, (1.0, 1.0, 1.0))
    for file in text(visible, "geometry_files", default="").split():
        yield Mesh(body, file, place, whole)
    for shown in members(visible, "GeometrySet"):
        file = text(shown, "geometry_file", default="")
        if file:
            scale = whole * numbers(shown, "scale_factors", 3, (1.0, 1.0, 1.0))
            yield Mesh(body, file, _transform_of(shown) @ place, scale)


def _transform_of(shown: Element) -> Transform:
    """The placement in <transform>: x, y, z angles (rad) and a position (m)."""
    values = numbers(shown, "transform", 6, (0.0,) * 6)
    return Transform(rotation_of(values[:3]), values[3:])


def read_couplers(document: OsimDocument, joints: Collection[Joint]) -> tuple[Coupler, ...]:
    """Coordinate couplers; notes list other constraints."""
    known = [c.name for joint in joints for c in joint.coordinates]
    laws: dict[str, tuple[str, ScalarFunction, Element]] = {}
    for element in document.objects("ConstraintSet"):
        label = f"{element.tag} {name_of(element)!r}"
        enforced = flag(element, "isEnforced", not flag(element, "isDisabled", False))
        if not enforced:
            document.notes.append(f"{label} is disabled in the file and not used")
        elif element.tag != "CoordinateCouplerConstraint":
            document.notes.append(f"{label} is not used")
        else:
            name, of, function = _coupler(element, known)
            if name in laws:
                raise element.error(f"coordinate {name!r} has another coupler already")
            laws[name] = of, function, element
    return tuple(_resolve_chain(name, laws) for name in laws)


def _coupler(element: Element, known: list[str]) -> tuple[str, str, ScalarFunction]:
    dependent = text(element, "dependent_coordinate_name")
    independent = text(element, "independent_coordinate_names").replace(",", " ").split()
    for name in (dependent, *independent):
        if name not in known:
            raise element.error(unknown_name("coordinate", name, known))
    if len(independent) != 1:
        raise element.error(
            f"{dependent!r} depends on {len(independent)} coordinates "
            f"({', '.join(independent)}); only one is supported"
        )
    found = property_object(element, "coupled_coordinates_function", unnamed=True)
    if found is None:
        raise element.error("a <coupled_coordinates_function> is missing inside")
    function, factor = read_function(found), number(element, "scale_factor", 1.0)
    return dependent, independent[0], function if factor == 1 else ScaledFunction(function, factor)


def _resolve_chain(name: str, laws: dict[str, tuple[str, ScalarFunction, Element]]) -> Coupler:
    """The coupler of a coordinate to an independent one, through a chain of couplers."""
    of, function, element = laws[name]
    seen = {name}
    while of in laws:
        if of in seen:
            raise element.error(f"coordinate {name!r} follows itself through {of!r}")
        seen.add(of)
        of, inner, _ = laws[of]
        if isinstance(inner, Constant):
            function = Constant(function.value(inner.number))
        elif isinstance(function, Linear) and isinstance(inner, Linear):
            offset = function.factor * inner.offset + function.offset
            function = Linear(function.factor * inner.factor, offset)
        else:
            raise element.error(
                f"{name!r} follows a coordinate that follows {of!r}; "
                f"this can be represented for linear functions only"
            )
    return Coupler(name, of, function)
