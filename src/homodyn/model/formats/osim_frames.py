"""Bodies and offset frames of an OpenSim model, found by the paths that sockets hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from homodyn.foundation.text import unknown_name
from homodyn.model.formats.osim_document import OsimDocument, name_of, placement_of, text
from homodyn.model.formats.xml import Element
from homodyn.model.joint import WORLD
from homodyn.spatial import Transform

GROUND = "ground"
MOST_BODIES = 10_000
_SOCKETS = ("socket_parent", "socket_parent_frame", "connector_parent_connectee_name")
MAX_FRAME_DEPTH = 64


@dataclass
class Frames:
    """What a socket can be connected to: bodies, the ground and frames fixed in them."""

    bodies: dict[str, Element]
    ground: Element | None = None
    offsets: dict[tuple[str, str], Element] = field(default_factory=dict)
    """By the name of the component that holds them and their own."""
    _found: dict[tuple[str, str], tuple[str, Transform]] = field(default_factory=dict)

    @property
    def grounds(self) -> tuple[Element, ...]:
        """The element of the ground: an object of its own, up to version 3 a body, or none."""
        return () if self.ground is None else (self.ground,)

    def find(
        self, element: Element, path: str, owner: str = "", depth: int = 0
    ) -> tuple[str, Transform]:
        """The body that a path leads to and the place of the frame in it.

        ``element`` is where the path stands, for messages; ``owner`` the component that holds it.
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
            raise offset.error("this frame hangs on itself")
        socket = text(offset, *_SOCKETS)
        body, base = self.find(offset, socket, key[0], depth + 1)
        return body, placement_of(offset, "translation", "orientation") @ base

    def _offset(self, steps: list[str], name: str, owner: str) -> tuple[str, str] | None:
        for holder in (*steps[-2:-1], owner):
            if (holder, name) in self.offsets:
                return holder, name
        if name in self.bodies or name == GROUND:
            return None
        return next((key for key in self.offsets if key[1] == name), None)


def read_frames(document: OsimDocument) -> Frames:
    """Every body and frame of the model."""
    model = document.model
    bodies: dict[str, Element] = {}
    ground = model.find("Ground")
    listed = document.objects("BodySet")
    if len(listed) > MOST_BODIES:
        raise listed[MOST_BODIES].error(f"{len(listed)} bodies are too many; up to {MOST_BODIES}")
    for element in listed:
        name = name_of(element)
        if name in bodies:
            raise element.error(f"the body {name!r} is there already, in line {bodies[name].line}")
        if name == GROUND:
            ground = element
        else:
            bodies[name] = element
    frames = Frames(bodies, ground)
    holders: list[Element] = [model, *bodies.values(), *frames.grounds]
    for set_ in ("JointSet", "ConstraintSet", "ForceSet"):
        holders += document.objects(set_)
    _collect(frames, holders)
    return frames


def _collect(frames: Frames, holders: Iterable[Element]) -> None:
    waiting = list(holders)
    while waiting:
        holder = waiting.pop()
        for place in ("frames", "components"):
            listed = holder.find(place)
            for offset in listed.all("PhysicalOffsetFrame") if listed else []:
                key = holder.attributes.get("name", "").strip(), name_of(offset)
                frames.offsets.setdefault(key, offset)
                waiting.append(offset)
