"""The record everything works on: bodies in a tree of joints, with names for all of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import parameter_paths, parameters, tree, validation
from homodyn.model.body import Body
from homodyn.model.coordinate_layout import JointSlots, joint_layout, lay_out_joints
from homodyn.model.joint import WORLD, Coordinate, Coupler, Joint
from homodyn.model.muscles import Ligament, Muscle, WrapObject
from homodyn.model.parameters import Parameter
from homodyn.model.root import Root, declared_chains, find_root, root_of
from homodyn.model.shapes import Capsule, ContactSet, ContactShape, Frame, Marker, Mesh
from homodyn.spatial import Array, Transform, is_symbolic

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

_DECLARED_PARAMETERS: ContextVar[tuple[Parameter, ...]] = ContextVar(
    "declared parameters", default=()
)
_FOREIGN_SYMBOLS_ALLOWED: ContextVar[bool] = ContextVar(
    "symbols other than parameters are welcome", default=False
)


@dataclass(frozen=True, eq=False)
class Model:
    """Bodies joined in a tree, with everything attached to them; immutable and checked.

    Each body hangs on exactly one joint; the parent of the first is ``"world"``. Bodies and joints
    are kept in one order, parents before children: body ``i`` is the child of joint ``i``.

    ``as_measured`` takes inertias that no rigid body can have, and coordinates that move no mass,
    as files of others hold them; `homodyn.model.check` then reports them.

    ``root_joints`` names the joints by which the model floats in the world, where `root` would not
    recognize them; an empty tuple fixes the model to the world, and None leaves it to `root`.
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
    parameters: tuple[Parameter, ...] = ()
    notes: tuple[str, ...] = ()
    as_measured: bool = False
    contact_sets: tuple[ContactSet, ...] = ()
    root_joints: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        parameters.coerce_fields(self, gravity=parameters.VECTOR)
        for part in PARTS:
            object.__setattr__(self, part, tuple(getattr(self, part)))
        if self.root_joints is not None:
            object.__setattr__(self, "root_joints", tuple(self.root_joints))
        known = {parameter.name for parameter in self.parameters}
        added = tuple(p for p in _DECLARED_PARAMETERS.get() if p.name not in known)
        object.__setattr__(self, "parameters", (*self.parameters, *added))
        faults = validation.validation_errors(self, strange_symbols=_FOREIGN_SYMBOLS_ALLOWED.get())
        if faults:
            listed = "\n".join(f"  - {fault}" for fault in faults)
            raise ModelError(f"model {self.name!r} cannot be:\n{listed}", tuple(faults))
        bodies, joints = tree.sorted_tree(self.bodies, self.joints)
        object.__setattr__(self, "bodies", bodies)
        object.__setattr__(self, "joints", joints)

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
        """The degrees of freedom in the order of ``v``; those that follow another are left out."""
        following = {coupler.coordinate for coupler in self.couplers}
        return tuple(
            c for joint in self.joints for c in joint.coordinates if c.name not in following
        )

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the degrees of freedom, one each, in the order of ``v``."""
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
        return lay_out_joints(self)

    @cached_property
    def position_index(self) -> tuple[int | None, ...]:
        """For each entry of ``v`` the entry of ``q`` whose rate it is; None beside quaternions."""
        index: list[int | None] = []
        for joint, place in zip(self.joints, joint_layout(self), strict=True):
            count = place.v.stop - place.v.start
            start = place.q.start
            index += [None] * count if joint.quaternion else range(start, start + count)
        return tuple(index)

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """For each body the index of the one that carries it; -1 for the world."""
        index = {name: i for i, name in enumerate(self.body_names)}
        return tuple(index.get(joint.parent, -1) for joint in self.joints)

    @cached_property
    def root(self) -> Root:
        """The joints by which the model floats in the world; empty where it is fixed to it.

        Recognized from the joints (see `homodyn.model.root`) unless ``root_joints`` names them.
        """
        if self.root_joints is not None:
            chains = declared_chains(self.joints, self.root_joints)
            return root_of(self.joints, self.joint_slots, chains)
        attached = [
            record.body
            for part in ("markers", "contacts", "capsules", "meshes", "wraps")
            for record in getattr(self, part)
        ]
        paths: tuple[Muscle | Ligament, ...] = (*self.muscles, *self.ligaments)
        attached += [point.body for path in paths for point in path.points]
        coupled = {coupler.coordinate for coupler in self.couplers}
        return find_root(
            self.bodies, self.joints, self.joint_slots, set(attached), coupled, self._numeric
        )

    @cached_property
    def actuated(self) -> tuple[int, ...]:
        """Indices in ``v`` of the coordinates that motors or muscles can drive.

        All but those of the root and those declared with ``actuated=False``.
        """
        root = set(self.root.v)
        return tuple(k for k, c in enumerate(self.coordinates) if c.actuated and k not in root)

    @cached_property
    def mass(self) -> float:
        """Total mass (kg), with parameters at their usual values."""
        return float(sum(self._usual_value(body.mass) for body in self.bodies))

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

    def _coordinate_values(self, field: str) -> np.ndarray:
        values = np.array([float(self._usual_value(getattr(c, field))) for c in self.coordinates])
        values.flags.writeable = False
        return values

    # -- parts by name

    def body(self, name: str) -> Body:
        """The body of that name."""
        return self.bodies[self._index("body", self.body_names, name)]

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        return self.joints[self._index("joint", self.joint_names, name)]

    def coordinate_index(self, name: str) -> int:
        """Place of a degree of freedom in ``v``."""
        return self._index("coordinate", self.coordinate_names, name)

    def locate(self, frame: str) -> tuple[int, Transform]:
        """Body index (-1: the world) and placement in it of a body, frame, marker or contact."""
        if frame == WORLD:
            return -1, Transform.identity()
        body, placement = self._places.get(frame, (None, None))
        if body is None or placement is None:
            what = unknown_name("body, frame, marker or contact", frame, self._places)
            raise ModelError(f"model {self.name!r} has {what}")
        return body, placement

    @cached_property
    def _places(self) -> dict[str, tuple[int, Transform]]:
        index = {name: i for i, name in enumerate(self.body_names)}
        places = {name: (i, Transform.identity()) for name, i in index.items()}
        attached: list[tuple[Any, Transform]] = [
            *((m, Transform(np.eye(3), m.position)) for m in self.markers),
            *((c, Transform(c.rotation, c.position)) for c in self.contacts),
            *((f, f.placement) for f in self.frames),
        ]
        for record, placement in attached:
            places[record.name] = (index.get(record.body, -1), placement)
        return places

    def _index(self, what: str, names: tuple[str, ...], name: str) -> int:
        if name not in names:
            raise ModelError(f"model {self.name!r} has {unknown_name(what, name, names)}")
        return names.index(name)

    # -- parameters

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters, in the order kernels take them."""
        return tuple(parameter.name for parameter in self.parameters)

    @cached_property
    def parameter_values(self) -> np.ndarray:
        """The usual values of the parameters."""
        return np.array([parameter.value for parameter in self.parameters])

    @property
    def parameter_symbols(self) -> ca.SX:
        """The symbols of the parameters as one column."""
        return ca.vertcat(ca.SX(0, 1), *[parameter.symbol for parameter in self.parameters])

    def with_parameters(self, *names: str) -> Model:
        """The same model with the named numbers turned into parameters of the same name.

        A name is a path: ``"thigh.mass"``, ``"thigh.com.z"``, ``"thigh.inertia.xx"``,
        ``"knee.position.z"``, ``"LKNE.position"`` (three parameters), ``"knee_angle.stiffness"``,
        ``"gravity.z"``.
        """
        return parameter_paths.with_parameters(self, names)

    def with_numbers(self, values: Mapping[str, Any]) -> Model:
        """The same model with other numbers at the given paths: ``{"thigh.mass": 9.1}``.

        Paths are those of `with_parameters`; one without an entry takes a vector or a matrix.
        """
        return parameter_paths.with_numbers(self, values)

    def at(self, values: Mapping[str, Any] | Array) -> Model:
        """The model with its parameters replaced by values (or by other expressions).

        Expressions may hold symbols of a function being traced, which are no parameters; numbers
        that depend on them are not checked.
        """
        if isinstance(values, Mapping):
            unknown = [name for name in values if name not in self.parameter_names]
            if unknown:
                raise ModelError(
                    f"model {self.name!r} has no parameter {', '.join(unknown)}; "
                    f"it has {', '.join(self.parameter_names) or 'none'}"
                )
            chosen = {name: values[name] for name in self.parameter_names if name in values}
        else:
            count = values.numel() if isinstance(values, ca.SX) else len(values)
            if count != len(self.parameters):
                raise ModelError(
                    f"model {self.name!r} has {len(self.parameters)} parameters, got {count} values"
                )
            chosen = {name: values[i] for i, name in enumerate(self.parameter_names)}
        replaced = [p for p in self.parameters if p.name in chosen]
        old = ca.vertcat(ca.SX(0, 1), *[p.symbol for p in replaced])
        new = ca.vertcat(ca.SX(0, 1), *[chosen[p.name] for p in replaced])
        kept = tuple(p for p in self.parameters if p.name not in chosen)

        def change(expression: ca.SX) -> Any:
            result = ca.substitute(expression, old, new)
            return _constant_value(result) if result.is_constant() else result

        parts = {name: parameters.map_expressions(getattr(self, name), change) for name in PARTS}
        gravity = parameters.map_expressions(self.gravity, change)
        declared, open_ = (
            _DECLARED_PARAMETERS.set(()),
            _FOREIGN_SYMBOLS_ALLOWED.set(is_symbolic(new) and not new.is_constant()),
        )
        try:
            return replace(self, **parts, gravity=gravity, parameters=kept)
        finally:
            _DECLARED_PARAMETERS.reset(declared)
            _FOREIGN_SYMBOLS_ALLOWED.reset(open_)

    def _usual_value(self, value: Array) -> Array:
        """A number or array with the parameters at their usual values."""
        if not isinstance(value, ca.SX):
            return value
        usual = ca.substitute(value, self.parameter_symbols, ca.SX(self.parameter_values))
        return _constant_value(usual)

    def _numeric(self, record: Any) -> Any:
        """A record with parameters at their usual values and other symbols at one."""

        def value(expression: ca.SX) -> Any:
            usual = ca.substitute(expression, self.parameter_symbols, ca.SX(self.parameter_values))
            others = ca.vertcat(ca.SX(0, 1), *ca.symvar(usual))
            return _constant_value(ca.substitute(usual, others, ca.SX.ones(others.numel())))

        return parameters.map_expressions(record, value)

    # -- positions; see homodyn.model.configuration, which is built on this record

    def neutral(self) -> np.ndarray:
        """The pose in which every coordinate has its default."""
        from homodyn.model import configuration

        return configuration.neutral(self)

    def pose(self, values: Mapping[str, float]) -> np.ndarray:
        """The pose with the named coordinates (rad, m) at these values, the others at default."""
        from homodyn.model import configuration

        return configuration.pose(self, values)

    def random(self, seed: int | np.random.Generator | None = None, size: Any = ()) -> np.ndarray:
        """Poses drawn within the limits, ``size`` of them (a number or a batch shape)."""
        from homodyn.model import configuration

        return configuration.random(self, seed, size)

    def integrate(self, q: Array, dv: Array) -> Array:
        """Where ``q`` comes by moving with ``dv``, a velocity times a time."""
        from homodyn.model import configuration

        return configuration.integrate(self, q, dv)

    def difference(self, q0: Array, q1: Array) -> Array:
        """The ``dv`` that brings ``q0`` to ``q1`` the shortest way."""
        from homodyn.model import configuration

        return configuration.difference(self, q0, q1)

    # -- identity

    @cached_property
    def digest(self) -> str:
        """Hash of the content: equal models have equal digests."""
        return hashlib.sha256(parameters.canonical_text(self).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Model {self.name!r}: {len(self.bodies)} bodies, {self.nv} degrees of freedom"


def parametric(builder: Callable[..., Model], **values: float) -> Model:
    """Build a model whose parameters are the arguments of its builder.

    ``parametric(pendulum, length=1.0, mass=2.0)`` calls ``pendulum`` with symbols. Every number
    that the builder computes from them is an expression of the parameters.

    Args:
        builder: Function that returns a model and accepts symbols for the named arguments.
        values: Usual value of each parameter, by argument name of the builder, in the builder's
            units.

    Returns:
        The model, with one `Parameter` per given value.

    Raises:
        ModelError: The builder describes an invalid model.
    """
    made = tuple(Parameter(name, float(value)) for name, value in values.items())
    declared = _DECLARED_PARAMETERS.set(made)
    try:
        return builder(**{parameter.name: parameter.symbol for parameter in made})
    finally:
        _DECLARED_PARAMETERS.reset(declared)


def _constant_value(expression: ca.SX) -> Any:
    """A constant expression as a float or an array."""
    result = np.array(ca.evalf(expression).full())
    if result.shape == (1, 1):
        return float(result[0, 0])
    return result[:, 0] if result.shape[1] == 1 else result
