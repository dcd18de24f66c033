"""An OpenSim document: its version, and its values, which stand in elements and not in attributes.

What differs between versions only in where a value stands is settled here, so that the readers of
joints, bodies and muscles ask for it by its names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

import numpy as np

from homodyn.errors import FormatError
from homodyn.model.formats.xml import Element, read_xml
from homodyn.spatial import Transform

OLDEST, NEWEST = 10901, 40600
"""Versions of OpenSim 1.9 (SpatialTransform in custom joints) and 4.6."""


@dataclass
class OsimDocument:
    """An OpenSim model file: the model's element, and sentences on what is not used of it."""

    path: str
    version: int
    model: Element
    notes: list[str] = field(default_factory=list)

    def objects(self, tag: str) -> list[Element]:
        """The objects of one of the model's sets, and those of its kind among its components."""
        loose = self.model.find("components")
        return members(self.model, tag) + [
            child for child in (loose.children if loose else ()) if _set_of(child.tag) == tag
        ]


_SETS = ("BodySet", "JointSet", "ConstraintSet", "ForceSet", "MarkerSet", "ContactGeometrySet")


def _set_of(tag: str) -> str:
    """The set that an object of a class belongs into; none for classes that are not known."""
    if tag in ("Body", "Marker"):
        return f"{tag}Set"
    if tag.startswith("Contact"):
        return "ContactGeometrySet"
    for ending, name in _ENDINGS.items():
        if tag.endswith(ending):
            return name
    return ""


_ENDINGS = {
    "Joint": "JointSet",
    "Constraint": "ConstraintSet",
    "Force": "ForceSet",
    "Muscle": "ForceSet",
    "Ligament": "ForceSet",
    "Actuator": "ForceSet",
}


def unused_sections(document: OsimDocument) -> list[str]:
    """Sentences on sets and components of the model that nothing is read from."""
    found = []
    for section in document.model.children:
        if section.tag in _SETS:
            continue
        objects = section.find("objects")
        held = objects.children if objects is not None else []
        if section.tag == "components":
            # Frames are read with what they hang on.
            read = (*_SETS, "PhysicalOffsetFrame")
            held = [c for c in section.children if (_set_of(c.tag) or c.tag) not in read]
        if held:
            kinds = ", ".join(dict.fromkeys(child.tag for child in held))
            found.append(f"<{section.tag}> is not used: {len(held)} of {kinds}")
    return found


def read_document(path: str | Path) -> OsimDocument:
    """The document in a file, refused when it is no model or too old."""
    root = read_xml(Path(path))
    if root.tag != "OpenSimDocument":
        raise root.error("an OpenSim file starts with <OpenSimDocument>")
    written = root.attributes.get("Version", "")
    if not written.isdigit():
        raise root.error(f"Version must be a whole number such as 40000, got {written!r}")
    version = int(written)
    if version < OLDEST:
        raise root.error(
            f"version {version} is too old; accepted from {OLDEST}: open and save it in OpenSim"
        )
    model = root.find("Model")
    if model is None:
        held = ", ".join(f"<{child.tag}>" for child in root.children) or "nothing"
        raise root.error(f"this OpenSim document holds no <Model> but {held}")
    document = OsimDocument(str(path), version, model)
    if version > NEWEST:
        document.notes.append(f"version {version} of the file is newer than the known {NEWEST}")
    _fill_defaults(model)
    return document


def _fill_defaults(model: Element) -> None:
    """Values left out of an object are those of the object of its class in <defaults>."""
    given = model.find("defaults")
    if given is None:
        return
    usual = {
        example.tag: [child for child in example.children if child.text and not child.children]
        for example in given.children
    }
    model.children.remove(given)
    for element in model.walk():
        if element.tag in usual:
            present = {child.tag for child in element.children}
            element.children += [child for child in usual[element.tag] if child.tag not in present]


def name_of(element: Element) -> str:
    """The name of an object, which must have one."""
    name = element.get("name").strip()
    if not name:
        raise element.error("its name is empty")
    return name


def text(element: Element, *tags: str, default: str | None = None) -> str:
    """The text of the first of the tags that is inside."""
    for tag in tags:
        found = element.find(tag)
        if found is not None:
            return found.text.strip()
    if default is None:
        raise element.error(f"it needs a <{tags[0]}> inside")
    return default


def numbers(
    element: Element, tag: str, count: int | None = None, default: tuple[float, ...] | None = None
) -> np.ndarray:
    """The finite numbers in a tag."""
    found = _value_element(element, tag, default is None)
    if found is None:
        return np.array(default)
    values = _floats(found)
    if count not in (None, len(values)) or not all(map(isfinite, values)):
        wanted = "finite numbers" if count is None else f"{count} finite numbers"
        raise found.error(f"it must hold {wanted}, got {found.text.strip()!r}")
    return np.array(values)


def any_numbers(element: Element, tag: str, default: tuple[float, ...] | None = None) -> np.ndarray:
    """The numbers in a tag, infinite ones and NaN too."""
    found = _value_element(element, tag, default is None)
    return np.array(default if found is None else _floats(found))


def _value_element(element: Element, tag: str, required: bool) -> Element | None:
    return element.require(tag) if required else element.find(tag)


def _floats(found: Element) -> list[float]:
    try:
        return [float(word) for word in found.text.replace(",", " ").split()]
    except ValueError:
        raise found.error(f"it must hold numbers, got {found.text.strip()!r}") from None


def number(element: Element, tag: str, default: float | None = None) -> float:
    """The finite number in a tag."""
    return float(numbers(element, tag, 1, None if default is None else (default,))[0])


def flag(element: Element, tag: str, default: bool) -> bool:
    """Whether a tag says true."""
    said = text(element, tag, default=str(default)).lower()
    if said not in ("true", "false", "1", "0"):
        raise element.require(tag).error(f"it must be true or false, got {said!r}")
    return said in ("true", "1")


def members(element: Element, tag: str) -> list[Element]:
    """The objects of a set such as <BodySet>; none when there is no such set."""
    found = element.find(tag)
    if found is None:
        return []
    if found.attributes.get("file", "").strip():
        raise found.error("its content is in another file; save the model as one file in OpenSim")
    objects = found.find("objects")
    return objects.children if objects is not None else []


def property_object(element: Element, tag: str, *, unnamed: bool = False) -> Element | None:
    """The object inside a tag, or the object of that name directly inside: <Constant name="tag">.

    Up to version 3 objects are wrapped in the tag of their property; later ones carry its name.
    With ``unnamed``, one without a name will do as well, as it does in OpenSim.
    """
    found = element.find(tag)
    if found is not None:
        return found.children[0] if found.children else None
    for child in element.children:
        if child.attributes.get("name") == tag:
            return child
    if unnamed:
        for child in element.children:
            if child.tag[0].isupper() and not child.attributes.get("name", ""):
                return child
    return None


def placement_of(element: Element, position: str, orientation: str) -> Transform:
    """A frame at a position (m), turned by body-fixed x, y, z angles (rad)."""
    r = numbers(element, position, 3, (0.0, 0.0, 0.0))
    angles = numbers(element, orientation, 3, (0.0, 0.0, 0.0))
    return Transform(rotation_of(angles) if angles.any() else np.eye(3), r)


def rotation_of(angles: np.ndarray) -> np.ndarray:
    """Coordinate rotation of body-fixed x, y, z angles (rad): Rz^T Ry^T Rx^T."""
    (sx, sy, sz), (cx, cy, cz) = np.sin(angles).tolist(), np.cos(angles).tolist()
    return np.array(
        [
            [cy * cz, cx * sz + sx * sy * cz, sx * sz - cx * sy * cz],
            [-cy * sz, cx * cz - sx * sy * sz, sx * cz + cx * sy * sz],
            [sy, -sx * cy, cx * cy],
        ]
    )


def unsupported_error(element: Element, what: str, accepted: object) -> FormatError:
    """An error that an object of this class cannot be represented."""
    return element.error(f"{what} {element.tag} cannot be represented; accepted: {accepted}")
