"""The parts of a model as data, with the layout of its coordinates and its parameters."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.foundation.record import record
from homodyn.model.body import Body
from homodyn.model.coordinate_layout import JointSlots, lay_out_joints
from homodyn.model.joint import Coordinate, Coupler, Joint
from homodyn.model.muscles import Ligament, Muscle, WrapObject
from homodyn.model.parameters import (
    VECTOR,
    ModelRecord,
    Parameter,
    coerce_fields,
    constant_value,
)
from homodyn.model.shapes import Capsule, ContactSet, ContactShape, Frame, Marker, Mesh
from homodyn.spatial import Array

PARTS = (
    "bodies",
    "joints",
    "frames",
    "markers",
    "contacts",
    "capsules",
    "couplers",
    "contact_sets",
    "meshes",
    "wraps",
    "muscles",
    "ligaments",
)
"""Fields that hold records, one tuple each."""


@record
class ModelParts(ModelRecord):
    """Bodies, joints and everything attached to them, not yet checked.

    A `Model` is checked and has its bodies in order; an `Assembly` is still growing.
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    frames: tuple[Frame, ...] = ()
    markers: tuple[Marker, ...] = ()
    contacts: tuple[ContactShape, ...] = ()
    capsules: tuple[Capsule, ...] = ()
    couplers: tuple[Coupler, ...] = ()
    meshes: tuple[Mesh, ...] = ()
    wraps: tuple[WrapObject, ...] = ()
    muscles: tuple[Muscle, ...] = ()
    ligaments: tuple[Ligament, ...] = ()
    gravity: Array = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    """(3,), m/s2."""
    parameters: tuple[Parameter, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences on what a file contains that has no effect here."""
    as_measured: bool = False
    """Accept inertias that no rigid body can have, and coordinates that move no mass."""
    contact_sets: tuple[ContactSet, ...] = ()
    root_joints: tuple[str, ...] | None = None
    """Joints by which the model floats in the world; empty: fixed to it; None: recognized."""

    def __post_init__(self) -> None:
        coerce_fields(self, gravity=VECTOR)
        for part in PARTS:
            object.__setattr__(self, part, tuple(getattr(self, part)))
        if self.root_joints is not None:
            object.__setattr__(self, "root_joints", tuple(self.root_joints))

    # -- names and sizes

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, parents before children."""
        return tuple(body.name for body in self.bodies)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of the bodies they carry."""
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The degrees of freedom in the order of ``v``; coupled coordinates are left out."""
        following = {coupler.coordinate for coupler in self.couplers}
        return tuple(
            c for joint in self.joints for c in joint.coordinates if c.name not in following
        )

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the degrees of freedom, in the order of ``v``."""
        return tuple(coordinate.name for coordinate in self.coordinates)

    @cached_property
    def nv(self) -> int:
        """Number of degrees of freedom."""
        return len(self.coordinates)

    @cached_property
    def nq(self) -> int:
        """Number of position entries: one more than ``nv`` for each quaternion."""
        return self.nv + sum(joint.quaternion for joint in self.joints)

    @cached_property
    def joint_slots(self) -> tuple[JointSlots, ...]:
        """For each joint its entries of q and v."""
        return lay_out_joints(self.joints, self.couplers)

    @cached_property
    def position_index(self) -> tuple[int | None, ...]:
        """For each entry of ``v`` the entry of ``q`` whose rate it is; None at quaternions."""
        index: list[int | None] = []
        for joint, place in zip(self.joints, self.joint_slots, strict=True):
            count = place.v.stop - place.v.start
            start = place.q.start
            index += [None] * count if joint.quaternion else range(start, start + count)
        return tuple(index)

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """For each body the index of its parent body; -1 for the world."""
        index = {name: i for i, name in enumerate(self.body_names)}
        return tuple(index.get(joint.parent, -1) for joint in self.joints)

    # -- limits

    @cached_property
    def lower(self) -> np.ndarray:
        """Lower limits (rad, m) in the order of ``v``; minus infinity where there is none."""
        return self._coordinate_values("lower")

    @cached_property
    def upper(self) -> np.ndarray:
        """Upper limits (rad, m) in the order of ``v``; infinity where there is none."""
        return self._coordinate_values("upper")

    @cached_property
    def max_velocity(self) -> np.ndarray:
        """Largest speeds (rad/s, m/s) in the order of ``v``."""
        return self._coordinate_values("max_velocity")

    @cached_property
    def max_force(self) -> np.ndarray:
        """Largest actuator torques and forces (N m, N) in the order of ``v``."""
        return self._coordinate_values("max_force")

    def _coordinate_values(self, name: str) -> np.ndarray:
        values = np.array([float(self.nominal_value(getattr(c, name))) for c in self.coordinates])
        values.flags.writeable = False
        return values

    # -- parameters

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters, in the order in which kernels take them."""
        return tuple(parameter.name for parameter in self.parameters)

    @cached_property
    def parameter_values(self) -> np.ndarray:
        """Nominal values of the parameters."""
        return np.array([parameter.value for parameter in self.parameters])

    @property
    def parameter_symbols(self) -> ca.SX:
        """Symbols of the parameters as one column."""
        return ca.vertcat(ca.SX(0, 1), *[parameter.symbol for parameter in self.parameters])

    def nominal_value(self, value: Array) -> Array:
        """A number or array of the model with all parameters at their nominal values.

        Args:
            value: A number, an array, or an expression of the parameters.

        Returns:
            A float or an array.
        """
        if not isinstance(value, ca.SX):
            return value
        nominal = ca.substitute(value, self.parameter_symbols, ca.SX(self.parameter_values))
        return constant_value(nominal)
