"""Bodies and offset frames of an OpenSim model, found by the paths in sockets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from homodyn.foundation.text import unknown_name
from homodyn.model.formats.osim_document import OsimDocument, name_of, placement_of, text
from homodyn.model.formats.xml import Element
from homodyn.model.joint import WORLD
from homodyn.spatial import Transform

GROUND = "ground"
MAX_BODIES = 10_000
_SOCKETS = ("socket_parent", "socket_parent_frame", "connector_parent_connectee_name")
MAX_FRAME_DEPTH = 64


@dataclass
class Frames:
    """What sockets can refer to: bodies, the ground and offset frames."""

    bodies: dict[str, Element]
    ground: Element | None = None
    offsets: dict[tuple[str, str], Element] = field(default_factory=dict)
    """By the name of the component they belong to and their own name."""
    inner: set[tuple[str, str]] = field(default_factory=set)
    """Those that belong to joints, constraints and forces."""
    _found: dict[tuple[str, str], tuple[str, Transform]] = field(default_factory=dict)

    @property
    def grounds(self) -> tuple[Element, ...]:
        """The element of the ground, if there is one; up to version 3 it is a body."""
        return () if self.ground is None else (self.ground,)

    def find(
        self, element: Element, path: str, owner: str = "", depth: int = 0
    ) -> tuple[str, Transform]:
        """The body that a path refers to, and the placement of the frame in it.

        Args:
            element: The element with the path, for messages.
            path: The path in a socket.
            owner: Name of the component that the socket belongs to.
            depth: Number of frames on the way.

        Returns:
            Name of the body, and placement.
        """
        known = self._found.get((path, owner))
        if known is None:
            known = self._found[path, owner] = self._follow(element, path, owner, depth)
        return known

    def _follow(self, element: Element, path: str, owner: str, depth: int) -> tuple[str, Transform]:
        steps = [step for step in path.split("/") if step not in ("", ".", "..")]
        name = steps[-1] if steps else owner
        key = self._offset(steps, name, owner)
        if key is None:
            if name == GROUND:
                return WORLD, Transform.identity()
            if name in self.bodies:
                return name, Transform.identity()
            known = [GROUND, *self.bodies, *(frame for _, frame in self.offsets)]
            raise element.error(unknown_name("body or frame", name, known))
        offset = self.offsets[key]
        if depth > MAX_FRAME_DEPTH:
            raise offset.error("this frame refers to itself")
        socket = text(offset, *_SOCKETS)
        body, base = self.find(offset, socket, key[0], depth + 1)
        return body, placement_of(offset, "translation", "orientation") @ base

    def _offset(self, steps: list[str], name: str, owner: str) -> tuple[str, str] | None:
        for component in (*steps[-2:-1], owner):
            if (component, name) in self.offsets:
                return component, name
        if name in self.bodies or name == GROUND:
            return None
        return next((key for key in self.offsets if key[1] == name), None)


def read_frames(document: OsimDocument) -> Frames:
    """All bodies and frames of the model."""
    model = document.model
    bodies: dict[str, Element] = {}
    ground = model.find("Ground")
    listed = document.objects("BodySet")
    if len(listed) > MAX_BODIES:
        raise listed[MAX_BODIES].error(f"{len(listed)} bodies are too many; at most {MAX_BODIES}")
    for element in listed:
        name = name_of(element)
        if name in bodies:
            raise element.error(f"there is another body {name!r}, in line {bodies[name].line}")
        if name == GROUND:
            ground = element
        else:
            bodies[name] = element
    frames = Frames(bodies, ground)
    _collect_offsets(frames, [model, *bodies.values(), *frames.grounds])
    outer = set(frames.offsets)
    for set_ in ("JointSet", "ConstraintSet", "ForceSet"):
        _collect_offsets(frames, document.objects(set_))
    frames.inner |= set(frames.offsets) - outer
    return frames


def _collect_offsets(frames: Frames, components: Iterable[Element]) -> None:
    """Add the offset frames of components, and those of these frames."""
    waiting = list(components)
    while waiting:
        component = waiting.pop(0)
        for place in ("frames", "components"):
            listed = component.find(place)
            for offset in listed.all("PhysicalOffsetFrame") if listed else []:
                key = component.attributes.get("name", "").strip(), name_of(offset)
                frames.offsets.setdefault(key, offset)
                waiting.append(offset)
