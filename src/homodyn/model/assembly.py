"""Building a model in code, one body after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from homodyn.errors import ModelError
from homodyn.model.body import Body
from homodyn.model.functions import Linear, ScalarFunction
from homodyn.model.joint import WORLD, Coupler, Joint
from homodyn.model.joints import JointType
from homodyn.model.model import Model
from homodyn.model.parameters import Parameter
from homodyn.model.shapes import Capsule, ContactShape, Frame, Marker
from homodyn.spatial import Array, Transform

ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Assembly:
    """A model under construction; every call returns a new one and `model` checks the result.

    ::

        pendulum = (
            Assembly("pendulum")
            .add(rod("upper", 1.0, (0, 0, 0), (0, 0, -1)), revolute("y"), at=(0, 0, 2))
            .add(rod("lower", 1.0, (0, 0, 0), (0, 0, -1)), revolute("y"), "upper", at=(0, 0, -1))
            .marker("tip", "lower", (0, 0, -1))
            .model()
        )
    """

    name: str
    bodies: tuple[Body, ...] = ()
    joints: tuple[Joint, ...] = ()
    frames: tuple[Frame, ...] = ()
    markers: tuple[Marker, ...] = ()
    contacts: tuple[ContactShape, ...] = ()
    capsules: tuple[Capsule, ...] = ()
    couplers: tuple[Coupler, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    notes: tuple[str, ...] = ()

    def add(
        self,
        body: Body | str,
        joint: JointType,
        parent: str = WORLD,
        *,
        at: Transform | Array = ORIGIN,
        child_at: Transform | Array = ORIGIN,
        joint_name: str = "",
        **inertial: Any,
    ) -> Assembly:
        """Hang a body on another one.

        ``at`` places the joint in the parent and ``child_at`` in the body: a `Transform` or a
        position (m). A body given by name takes ``mass``, ``com`` and ``inertia`` as keywords. The
        joint is named like the body unless ``joint_name`` says otherwise.
        """
        if isinstance(body, str):
            unknown = [key for key in inertial if key not in ("mass", "com", "inertia")]
            if unknown:
                raise ModelError(
                    f"body {body!r} takes no {', '.join(unknown)}; accepted: mass, com, inertia"
                )
            body = Body(body, **inertial)
        elif inertial:
            raise ModelError(f"body {body.name!r} is given already; {', '.join(inertial)} is not")
        made = joint.joint(joint_name or body.name, parent, body.name, at=at, child_at=child_at)
        return replace(self, bodies=(*self.bodies, body), joints=(*self.joints, made))

    def frame(self, name: str, body: str, at: Transform | Array = ORIGIN) -> Assembly:
        """Name a frame in a body."""
        made = Frame(name, body, at)
        return replace(self, frames=(*self.frames, made))

    def marker(self, name: str, body: str, position: Array = ORIGIN) -> Assembly:
        """Put a marker on a body (m)."""
        return replace(self, markers=(*self.markers, Marker(name, body, position)))

    def contact(self, name: str, body: str, kind: str = "point", **shape: Any) -> Assembly:
        """Let a body touch things with a shape; see `ContactShape`."""
        return replace(self, contacts=(*self.contacts, ContactShape(name, body, kind, **shape)))

    def capsule(self, name: str, body: str, start: Array, end: Array, radius: Array) -> Assembly:
        """Give a body a capsule to collide and to be drawn with (m)."""
        return replace(self, capsules=(*self.capsules, Capsule(name, body, start, end, radius)))

    def couple(self, coordinate: str, of: str, function: ScalarFunction | float = 1.0) -> Assembly:
        """Let a coordinate follow another, by a function or by a factor."""
        law = Linear(function) if isinstance(function, (int, float)) else function
        return replace(self, couplers=(*self.couplers, Coupler(coordinate, of, law)))

    def parameter(self, *parameters: Parameter) -> Assembly:
        """Declare parameters whose symbols stand in some of the numbers."""
        return replace(self, parameters=(*self.parameters, *parameters))

    def model(self, gravity: Array = (0.0, 0.0, -9.81), *, as_measured: bool = False) -> Model:
        """The finished model, or a `ModelError` with everything that is wrong."""
        parts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return Model(**parts, gravity=gravity, as_measured=as_measured)
