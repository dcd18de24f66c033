"""OpenSim documents: their version, and access to values, which are elements, not attributes.

Values have different places in different versions. This is handled here, so that the readers of
joints, bodies and muscles only name a value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

import numpy as np

from homodyn.errors import FormatError
from homodyn.model.formats.xml import Element, read_xml
from homodyn.spatial import Transform

OLDEST_VERSION, NEWEST_VERSION = 10901, 40600
"""File versions of OpenSim 1.9 (SpatialTransform in custom joints) and 4.6."""


@dataclass
class OsimDocument:
    """An OpenSim model file: the model's element, and sentences on what is not used."""

    path: str
    version: int
    model: Element
    notes: list[str] = field(default_factory=list)

    def objects(self, tag: str) -> list[Element]:
        """The objects of a set of the model, and components of the same kind."""
        components = self.model.find("components")
        children = components.children if components else ()
        return members(self.model, tag) + [c for c in children if _set_of(c.tag) == tag]


_SETS = ("BodySet", "JointSet", "ConstraintSet", "ForceSet", "MarkerSet", "ContactGeometrySet")


def _set_of(tag: str) -> str:
    """The set that objects of a class belong to; empty for unknown classes."""
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
    """Sentences on sets and components of the model that are not read."""
    found = []
    for section in document.model.children:
        if section.tag in _SETS:
            continue
        objects = section.find("objects")
        unused = objects.children if objects is not None else []
        if section.tag == "components":
            # Offset frames are read with their bodies and joints.
            read = (*_SETS, "PhysicalOffsetFrame")
            unused = [c for c in section.children if (_set_of(c.tag) or c.tag) not in read]
        if unused:
            kinds = ", ".join(dict.fromkeys(child.tag for child in unused))
            found.append(f"<{section.tag}> is not used: {len(unused)} of {kinds}")
    return found


def read_document(path: str | Path) -> OsimDocument:
    """Read the document in a file.

    Raises:
        FormatError: The file is not an OpenSim model, or too old.
    """
    root = read_xml(Path(path))
    if root.tag != "OpenSimDocument":
        raise root.error("an OpenSim file starts with <OpenSimDocument>")
    number = root.attributes.get("Version", "")
    if not number.isdigit():
        raise root.error(f"Version must be a whole number such as 40000, got {number!r}")
    version = int(number)
    if version < OLDEST_VERSION:
        raise root.error(
            f"version {version} is too old; the oldest accepted is {OLDEST_VERSION}; open and save "
            f"it in OpenSim"
        )
    model = root.find("Model")
    if model is None:
        tags = ", ".join(f"<{child.tag}>" for child in root.children) or "nothing"
        raise root.error(f"this OpenSim document contains no <Model> but {tags}")
    document = OsimDocument(str(path), version, model)
    if version > NEWEST_VERSION:
        document.notes.append(f"version {version} of the file is newer than {NEWEST_VERSION}")
    _fill_defaults(model)
    return document


def _fill_defaults(model: Element) -> None:
    """Copy missing values of objects from the object of their class in <defaults>."""
    section = model.find("defaults")
    if section is None:
        return
    defaults = {
        example.tag: [child for child in example.children if child.text and not child.children]
        for example in section.children
    }
    model.children.remove(section)
    for element in model.walk():
        if element.tag in defaults:
            present = {child.tag for child in element.children}
            element.children += [c for c in defaults[element.tag] if c.tag not in present]


def name_of(element: Element) -> str:
    """The name of an object; an error if it has none."""
    name = element.get("name").strip()
    if not name:
        raise element.error("its name is empty")
    return name


def text(element: Element, *tags: str, default: str | None = None) -> str:
    """The text of the first child with one of the tags, or the default."""
    for tag in tags:
        found = element.find(tag)
        if found is not None:
            return found.text.strip()
    if default is None:
        raise element.error(f"a <{tags[0]}> is missing inside")
    return default


def numbers(
    element: Element, tag: str, count: int | None = None, default: tuple[float, ...] | None = None
) -> np.ndarray:
    """The finite numbers in a child."""
    found = _value_element(element, tag, default is None)
    if found is None:
        return np.array(default)
    values = _floats(found)
    if count not in (None, len(values)) or not all(map(isfinite, values)):
        expected = "finite numbers" if count is None else f"{count} finite numbers"
        raise found.error(f"{expected} are expected, got {found.text.strip()!r}")
    return np.array(values)


def any_numbers(element: Element, tag: str, default: tuple[float, ...] | None = None) -> np.ndarray:
    """The numbers in a child, which may be infinite or NaN."""
    found = _value_element(element, tag, default is None)
    return np.array(default if found is None else _floats(found))


def _value_element(element: Element, tag: str, required: bool) -> Element | None:
    return element.require(tag) if required else element.find(tag)


def _floats(found: Element) -> list[float]:
    try:
        return [float(word) for word in found.text.replace(",", " ").split()]
    except ValueError:
        raise found.error(f"numbers are expected, got {found.text.strip()!r}") from None


def number(element: Element, tag: str, default: float | None = None) -> float:
    """The finite number in a child."""
    return float(numbers(element, tag, 1, None if default is None else (default,))[0])


def flag(element: Element, tag: str, default: bool) -> bool:
    """The boolean in a child."""
    value = text(element, tag, default=str(default)).lower()
    if value not in ("true", "false", "1", "0"):
        raise element.require(tag).error(f"true or false is expected, got {value!r}")
    return value in ("true", "1")


def members(element: Element, tag: str) -> list[Element]:
    """The objects of a set such as <BodySet>; empty if there is no such set."""
    found = element.find(tag)
    if found is None:
        return []
    if found.attributes.get("file", "").strip():
        raise found.error("its content is in another file; save the model as one file in OpenSim")
    objects = found.find("objects")
    return objects.children if objects is not None else []


def property_object(element: Element, tag: str, *, unnamed: bool = False) -> Element | None:
    """The object inside a tag, or the object of that name directly inside: <Constant name="tag">.

    Up to version 3 an object is inside the tag of its property; later it has the name of the
    property. With ``unnamed``, an object without a name is accepted too, as in OpenSim.
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
    """A frame at a position (m), rotated by body-fixed x, y, z angles (rad)."""
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
    """The error for an object of a class that cannot be represented."""
    return element.error(f"{what} {element.tag} cannot be represented; accepted: {accepted}")
