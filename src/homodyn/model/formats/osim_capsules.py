"""Capsules in OpenSim files: a frame at the center with a cylinder about y, or with a sphere."""

from __future__ import annotations

import numpy as np

from homodyn.model.formats.osim_document import number
from homodyn.model.formats.osim_frames import Frames
from homodyn.model.formats.xml import Element
from homodyn.model.shapes import Capsule

CAPSULE_ENDING = "_capsule"
"""Ending of the name of the frame of a capsule, at its center with y along its axis."""
CAPSULE_END_ENDINGS = ("_capsule_start", "_capsule_end")
"""Endings of the names of the frames of its two spheres."""


def is_capsule_frame(element: Element) -> bool:
    """Whether an element is a frame that only holds a part of a capsule."""
    endings = (CAPSULE_ENDING, *CAPSULE_END_ENDINGS)
    return _shape(element) is not None and _name(element).endswith(endings)


def read_capsules(frames: Frames) -> tuple[Capsule, ...]:
    """The capsules of a file that Homodyn wrote.

    Args:
        frames: The frames of the file.
    """
    capsules = []
    for (owner, name), element in frames.offsets.items():
        shape = _shape(element)
        if shape is None or not name.endswith(CAPSULE_ENDING):
            continue
        body, place = frames.find(element, name, owner)
        half = number(shape, "half_height") if shape.tag == "Cylinder" else 0.0
        start, end = (place.point_back(np.array([0.0, y, 0.0])) for y in (-half, half))
        radius = number(shape, "radius")
        capsules.append(Capsule(name.removesuffix(CAPSULE_ENDING), body, start, end, radius))
    return tuple(capsules)


def _name(element: Element) -> str:
    return element.attributes.get("name", "").strip()


def _shape(element: Element) -> Element | None:
    """The cylinder or sphere of an offset frame."""
    attached = element.find("attached_geometry")
    if element.tag != "PhysicalOffsetFrame" or attached is None or len(attached.children) != 1:
        return None
    shape = attached.children[0]
    return shape if shape.tag in ("Cylinder", "Sphere") else None
