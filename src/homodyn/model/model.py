"""The model that everything works on: bodies in a tree of joints, each part with a name."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, Self

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.foundation.text import count_of, enumerate_names, unknown_name
from homodyn.model import configuration, decoding, encoding, parameter_paths, tree, validation
from homodyn.model.body import Body
from homodyn.model.coordinate_names import unknown_coordinate
from homodyn.model.joint import WORLD, Joint
from homodyn.model.model_parts import PARTS, ModelParts
from homodyn.model.muscles import Ligament, Muscle
from homodyn.model.parameters import (
    VECTOR,
    Parameter,
    canonical_text,
    coerce_fields,
    constant_value,
    map_expressions,
)
from homodyn.model.root import Root, declared_chains, find_root, root_of
from homodyn.model.segment_contacts import segment_contacts
from homodyn.spatial import Array, Transform, is_symbolic


@record
class Model(ModelParts):
    """Bodies joined in a tree, with everything attached to them; immutable and checked.

    Every body is the child of exactly one joint; the parent of the first is ``"world"``. Bodies and
    joints are in one order, parents before children: body ``i`` is the child of joint ``i``.

    ``as_measured`` accepts inertias that no rigid body can have, and coordinates that move no mass,
    as some files contain them; `homodyn.model.check` then reports them.

    ``root_joints`` names the joints by which the model floats in the world, where `root` would not
    recognize them; an empty tuple fixes the model to the world, and None leaves it to `root`.

    Parameters whose symbols occur in the numbers are added to ``parameters``.

    Raises:
        ModelError: The model is invalid; ``reasons`` lists every reason.
    """

    def __getstate__(self) -> dict[str, Any]:
        # Without kernels and other caches, which hold locks: each process makes its own.
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __post_init__(self) -> None:
        super().__post_init__()
        self._complete()

    def _complete(self, *, allow_foreign_symbols: bool = False) -> None:
        """Declare parameters, check everything and sort bodies and joints."""
        expressions = validation.find_expressions(self)
        if not allow_foreign_symbols:
            added = validation.undeclared_parameters(self, expressions)
            object.__setattr__(self, "parameters", (*self.parameters, *added))
        reasons = validation.validation_errors(
            self, expressions, allow_foreign_symbols=allow_foreign_symbols
        )
        if reasons:
            listed = "\n".join(f"  - {reason}" for reason in reasons)
            raise ModelError(f"model {self.name!r} is invalid:\n{listed}", tuple(reasons))
        bodies, joints = tree.sorted_tree(self.bodies, self.joints)
        object.__setattr__(self, "bodies", bodies)
        object.__setattr__(self, "joints", joints)

    # -- structure

    @cached_property
    def root(self) -> Root:
        """The joints by which the model floats in the world; empty if it is fixed to it.

        Recognized from the joints (see `homodyn.model.root`) unless ``root_joints`` names them.
        """
        if self.root_joints is not None:
            chains = declared_chains(self.joints, self.root_joints)
            return root_of(self.joints, self.joint_slots, chains)
        attached = [
            one.body
            for part in ("markers", "contacts", "capsules", "meshes", "wraps")
            for one in getattr(self, part)
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
        """Total mass (kg), with parameters at their nominal values."""
        return float(sum(self.nominal_value(body.mass) for body in self.bodies))

    # -- parts by name

    def body(self, name: str) -> Body:
        """The body of that name."""
        return self.bodies[self._index("body", self.body_names, name)]

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        return self.joints[self._index("joint", self.joint_names, name)]

    def coordinate_index(self, name: str) -> int:
        """Index of a degree of freedom in ``v``."""
        if name not in self.coordinate_names:
            raise ModelError(unknown_coordinate(self.name, name, self.coordinate_names))
        return self.coordinate_names.index(name)

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
        for one, placement in attached:
            places[one.name] = (index.get(one.body, -1), placement)
        return places

    def _index(self, what: str, names: tuple[str, ...], name: str) -> int:
        if name not in names:
            raise ModelError(f"model {self.name!r} has {unknown_name(what, name, names)}")
        return names.index(name)

    # -- parameters

    def with_parameters(self, *names: str) -> Model:
        """The same model with the numbers at some paths replaced by parameters of the same name.

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

    def with_gravity(self, acceleration: float) -> Model:
        """The same model under another gravity in the same direction.

        Args:
            acceleration: Gravitational acceleration (m/s2), such as 1.62 on the Moon; 0 for none.

        Returns:
            A new model.

        Raises:
            ModelError: The acceleration is negative or not finite, or the model has no gravity, so
                that its vertical is unknown.
        """
        gravity = np.ravel(self.nominal_value(self.gravity))
        size = float(np.linalg.norm(gravity))
        if np.ndim(acceleration) != 0:
            raise ModelError(
                f"with_gravity takes one number (m/s2), got {acceleration!r}; for a vector use "
                f'with_numbers({{"gravity": {tuple(np.ravel(acceleration).tolist())}}})'
            )
        if not 0 <= acceleration < np.inf:
            raise ModelError(
                f"gravity is a size (m/s2) that is not negative, got {acceleration!r}; it acts "
                "along the vertical of the model"
            )
        if size == 0.0:
            raise ModelError(
                f"model {self.name!r} has no gravity, so that its vertical is unknown; use "
                'with_numbers({"gravity": (0, 0, -9.81)})'
            )
        return self.with_numbers({"gravity": acceleration / size * gravity})

    def with_segment_contacts(self, bodies: Sequence[str] | None = None) -> Model:
        """The model with contact shapes of the size of its capsules, so that it can lie and fall.

        Args:
            bodies: Names of bodies; None for all that have capsules and no contact shapes.

        Returns:
            A new model; its contact shapes are those of this one and one per capsule.

        Raises:
            ModelError: A body is unknown or has no capsule, or the model has parameters.
        """
        return replace(self, contacts=(*self.contacts, *segment_contacts(self, bodies)))

    def at(self, values: Mapping[str, Any] | Array) -> Model:
        """The model with its parameters replaced by values (or by other expressions).

        Expressions may contain symbols of a function that is being traced. Numbers that depend on
        such symbols are not checked.

        Args:
            values: Values of some parameters by name, or of all in their order.

        Returns:
            A model without the parameters that have a value now.

        Raises:
            ModelError: A parameter is unknown, the number of values is wrong, or the values make
                the model invalid.
        """
        chosen = self._values_by_name(values)
        replaced = [p for p in self.parameters if p.name in chosen]
        old = ca.vertcat(ca.SX(0, 1), *[p.symbol for p in replaced])
        new = ca.vertcat(ca.SX(0, 1), *[chosen[p.name] for p in replaced])

        def change(expression: ca.SX) -> Any:
            result = ca.substitute(expression, old, new)
            return constant_value(result) if result.is_constant() else result

        changes: dict[str, Any] = {
            name: map_expressions(getattr(self, name), change) for name in PARTS
        }
        changes["gravity"] = map_expressions(self.gravity, change)
        changes["parameters"] = tuple(p for p in self.parameters if p.name not in chosen)
        if is_symbolic(new) and not new.is_constant():
            return self._with_foreign_symbols(changes)
        return replace(self, **changes)

    def _with_foreign_symbols(self, changes: Mapping[str, Any]) -> Model:
        """A copy with other fields, whose numbers may depend on symbols of any function."""
        model = object.__new__(Model)
        for one in fields(self):
            object.__setattr__(model, one.name, changes.get(one.name, getattr(self, one.name)))
        coerce_fields(model, gravity=VECTOR)
        model._complete(allow_foreign_symbols=True)
        return model

    def _values_by_name(self, values: Mapping[str, Any] | Array) -> dict[str, Any]:
        if isinstance(values, Mapping):
            unknown = [name for name in values if name not in self.parameter_names]
            if unknown:
                raise ModelError(
                    f"model {self.name!r} has no parameter {', '.join(unknown)}; "
                    f"it has {', '.join(self.parameter_names) or 'none'}"
                )
            return {name: values[name] for name in self.parameter_names if name in values}
        count = values.numel() if isinstance(values, ca.SX) else len(values)
        if count != len(self.parameters):
            raise ModelError(
                f"model {self.name!r} has {len(self.parameters)} parameters, got {count} values"
            )
        return {name: values[i] for i, name in enumerate(self.parameter_names)}

    def _numeric(self, part: Any) -> Any:
        """A record with parameters at their nominal values and other symbols at one."""

        def value(expression: ca.SX) -> Any:
            nominal = ca.substitute(
                expression, self.parameter_symbols, ca.SX(self.parameter_values)
            )
            others = ca.vertcat(ca.SX(0, 1), *ca.symvar(nominal))
            return constant_value(ca.substitute(nominal, others, ca.SX.ones(others.numel())))

        return map_expressions(part, value)

    # -- configurations

    def neutral(self) -> np.ndarray:
        """The pose in which every coordinate has its default value, (nq,)."""
        return configuration.neutral(self)

    def pose(self, values: Mapping[str, float]) -> np.ndarray:
        """The pose with the given values (rad, m) of named coordinates, the others at default."""
        return configuration.pose(self, values)

    def random(
        self, seed: int | np.random.Generator | None = None, size: int | tuple[int, ...] = ()
    ) -> np.ndarray:
        """Random poses within the limits; ``size`` is their number or a batch shape."""
        return configuration.random(self, seed, size)

    def integrate(self, q: Array, dv: Array) -> Array:
        """The configuration reached from ``q`` by the displacement ``dv`` (velocity times time)."""
        return configuration.integrate(self, q, dv)

    def difference(self, q0: Array, q1: Array) -> Array:
        """The displacement ``dv`` from ``q0`` to ``q1`` along the shortest path."""
        return configuration.difference(self, q0, q1)

    # -- identity, text and plain data

    @cached_property
    def digest(self) -> str:
        """Hash of the content: equal models have equal digests."""
        return hashlib.sha256(canonical_text(self).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def headline(self) -> str:
        """Name and size."""
        bodies = count_of(len(self.bodies), "body", "bodies")
        dof = count_of(self.nv, "degree of freedom", "degrees of freedom")
        return f"Model {self.name!r}: {bodies}, {dof}"

    def __repr__(self) -> str:
        return self.headline()

    def summary(self) -> str:
        """Size, mass, root and attachments, and one line per body with its joint.

        Returns:
            Several lines of text.
        """
        facts = self._facts()
        width = max(map(len, facts))
        lines = [self.headline(), *(f"  {name:<{width}}  {facts[name]}" for name in facts)]
        rows = [_BODY_COLUMNS, *self._body_rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(_BODY_COLUMNS))]
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            lines.append("  " + "  ".join(cells).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The summary as tables, for notebooks."""

        def table(rows: Sequence[tuple[str, ...]]) -> str:
            cells = [
                "".join(f"<td style='text-align:left'>{html.escape(c)}</td>" for c in row)
                for row in rows
            ]
            return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"

        heads = "".join(f"<th>{html.escape(name)}</th>" for name in _BODY_COLUMNS)
        bodies = table(self._body_rows()).replace("<table>", f"<table><tr>{heads}</tr>", 1)
        facts = table(list(self._facts().items()))
        return f"<b>{html.escape(self.headline())}</b>{facts}{bodies}"

    def _facts(self) -> dict[str, str]:
        """What `summary` says about the whole model."""
        gravity = ", ".join(f"{entry:g}" for entry in np.ravel(self.nominal_value(self.gravity)))
        facts = {
            "mass": f"{self.mass:.4g} kg",
            "gravity": f"({gravity}) m/s2",
            "root": self.root.headline().removeprefix("Root: "),
            "actuated": f"{len(self.actuated)} of {self.nv} coordinates",
        }
        counts = {part: len(getattr(self, part)) for part in PARTS if part not in _TREE_PARTS}
        attached = [f"{n} {part.replace('_', ' ')}" for part, n in counts.items() if n]
        if attached:
            facts["attached"] = ", ".join(attached)
        if self.parameters:
            facts["parameters"] = enumerate_names(self.parameter_names)
        if self.notes:
            facts["notes"] = count_of(len(self.notes), "sentence")
        return facts

    def _body_rows(self) -> list[tuple[str, ...]]:
        """Body, mass, parent, joint, kind and coordinates of every body."""
        return [
            (
                body.name,
                f"{float(self.nominal_value(body.mass)):.4g}",
                joint.parent,
                joint.name,
                joint.kind,
                enumerate_names([coordinate.name for coordinate in joint.coordinates]),
            )
            for body, joint in zip(self.bodies, self.joints, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The model as plain data: numbers, strings, lists and dictionaries.

        The keys are those of Homodyn's TOML files. `from_dict` restores an equal model.

        Returns:
            A dictionary with the class name under ``"record"``.

        Raises:
            FormatError: A number is a formula of parameters.
        """
        return {"record": type(self).__name__, **encoding.to_plain_data(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The model that `to_dict` described.

        Args:
            data: What `to_dict` returned, or the content of a Homodyn TOML file.

        Returns:
            The model.

        Raises:
            FormatError: The data is not a model; the message says where.
            ModelError: The data describes an invalid model.
        """
        content = dict(data)
        kind = content.pop("record", cls.__name__)
        if kind != cls.__name__:
            raise ModelError(f"this describes a {kind!r}; a {cls.__name__} is expected")
        return cls(**decoding.from_plain_data(content))


_TREE_PARTS = ("bodies", "joints")
_BODY_COLUMNS = ("body", "mass (kg)", "parent", "joint", "kind", "coordinates")


def parametric(builder: Callable[..., Model], **values: float) -> Model:
    """Build a model whose parameters are the arguments of its builder.

    ``parametric(pendulum, length=1.0, mass=2.0)`` calls ``pendulum`` with symbols. Every number
    that the builder computes from them is an expression of the parameters.

    Args:
        builder: Function that returns a model and accepts symbols for the named arguments.
        values: Nominal value of each parameter, by argument name of the builder, in the builder's
            units.

    Returns:
        The model. Its last parameters are those of the given values, in their order.

    Raises:
        ModelError: The builder describes an invalid model.
    """
    own = tuple(Parameter(name, float(value)) for name, value in values.items())
    model = builder(**{parameter.name: parameter.symbol for parameter in own})
    others = [one for one in model.parameters if not any(one is p for p in own)]
    ordered = (*others, *own)
    same = list(map(id, ordered)) == list(map(id, model.parameters))
    return model if same else replace(model, parameters=ordered)
