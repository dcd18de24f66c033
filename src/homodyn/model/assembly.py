"""Models built in code, one body after the other."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TypedDict, Unpack

from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.model.body import Body
from homodyn.model.functions import Linear, ScalarFunction
from homodyn.model.joint import WORLD, Coupler, Joint
from homodyn.model.joint_type import JointType
from homodyn.model.model import Model
from homodyn.model.model_parts import ModelParts
from homodyn.model.parameters import Parameter
from homodyn.model.shapes import Capsule, ContactShape, Frame, Marker
from homodyn.spatial import Array, Transform

ORIGIN = (0.0, 0.0, 0.0)


class InertialKeywords(TypedDict, total=False):
    """Fields of a `Body` that `Assembly.add` accepts."""

    mass: Array
    """kg."""
    com: Array
    """Center of mass, (3,), m."""
    inertia: Array
    """About the center of mass, (3, 3) or its diagonal, kg m2."""


class ContactKeywords(TypedDict, total=False):
    """Fields of a `ContactShape` that `Assembly.contact` accepts."""

    position: Array
    """(3,), m."""
    radius: Array
    """m."""
    size: Array
    """Edge lengths, (3,), m."""
    rotation: Array
    """From the body to the shape, (3, 3)."""


@record
class Assembly(ModelParts):
    """A model under construction; every call returns a new assembly, and `model` checks it.

    ::

        pendulum = (
            Assembly("pendulum")
            .add(rod("upper", 1.0, (0, 0, 0), (0, 0, -1)), revolute("y"), at=(0, 0, 2))
            .add(rod("lower", 1.0, (0, 0, 0), (0, 0, -1)), revolute("y"), "upper", at=(0, 0, -1))
            .marker("tip", "lower", (0, 0, -1))
            .model()
        )
    """

    bodies: tuple[Body, ...] = ()
    joints: tuple[Joint, ...] = ()

    def add(
        self,
        body: Body | str,
        joint: JointType,
        parent: str = WORLD,
        *,
        at: Transform | Array = ORIGIN,
        child_at: Transform | Array = ORIGIN,
        joint_name: str = "",
        **inertial: Unpack[InertialKeywords],
    ) -> Assembly:
        """Add a body and the joint that connects it to its parent.

        Args:
            body: The body, or its name.
            joint: Type of the joint, such as ``joints.revolute("y")``.
            parent: Name of the parent body.
            at: Joint frame in the parent: a `Transform` or a position (m).
            child_at: Joint frame in the body: a `Transform` or a position (m).
            joint_name: Name of the joint; that of the body by default.
            inertial: ``mass`` (kg), ``com`` (m) and ``inertia`` (kg m2) of a body given by name.

        Returns:
            The larger assembly.

        Raises:
            ModelError: A keyword is unknown or does not apply.
        """
        if isinstance(body, str):
            unknown = [key for key in inertial if key not in ("mass", "com", "inertia")]
            if unknown:
                raise ModelError(
                    f"body {body!r} takes no {', '.join(unknown)}; accepted: mass, com, inertia"
                )
            body = Body(body, **inertial)
        elif inertial:
            raise ModelError(
                f"{', '.join(inertial)} does not apply: body {body.name!r} is given as a Body"
            )
        added = joint.joint(joint_name or body.name, parent, body.name, at=at, child_at=child_at)
        return replace(self, bodies=(*self.bodies, body), joints=(*self.joints, added))

    def frame(self, name: str, body: str, at: Transform | Array = ORIGIN) -> Assembly:
        """Add a named frame to a body; ``at`` is a `Transform` or a position (m)."""
        return replace(self, frames=(*self.frames, Frame(name, body, at)))

    def marker(self, name: str, body: str, position: Array = ORIGIN) -> Assembly:
        """Add a marker at a position (m) of a body."""
        return replace(self, markers=(*self.markers, Marker(name, body, position)))

    def contact(
        self, name: str, body: str, kind: str = "point", **shape: Unpack[ContactKeywords]
    ) -> Assembly:
        """Add a contact shape to a body; see `ContactShape`."""
        return replace(self, contacts=(*self.contacts, ContactShape(name, body, kind, **shape)))

    def capsule(self, name: str, body: str, start: Array, end: Array, radius: Array) -> Assembly:
        """Add a capsule to a body for collision checks and drawings (m)."""
        return replace(self, capsules=(*self.capsules, Capsule(name, body, start, end, radius)))

    def couple(self, coordinate: str, of: str, function: ScalarFunction | float = 1.0) -> Assembly:
        """Couple a coordinate to another by a function or a factor."""
        law = Linear(function) if isinstance(function, (int, float)) else function
        return replace(self, couplers=(*self.couplers, Coupler(coordinate, of, law)))

    def parameter(self, *parameters: Parameter) -> Assembly:
        """Declare parameters in this order; those of other symbols follow as they occur."""
        return replace(self, parameters=(*self.parameters, *parameters))

    def model(self, gravity: Array = (0.0, 0.0, -9.81), *, as_measured: bool = False) -> Model:
        """The checked model.

        Args:
            gravity: Acceleration of gravity, (3,), m/s2.
            as_measured: Accept inertias that no rigid body can have; see `Model`.

        Returns:
            The model.

        Raises:
            ModelError: The model is invalid; ``reasons`` lists every reason.
        """
        parts = {one.name: getattr(self, one.name) for one in fields(self)}
        return Model(**{**parts, "gravity": gravity, "as_measured": as_measured})
