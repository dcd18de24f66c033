"""Models as nodes of a network, coupled to oscillators and controllers.

Accelerations are traced from `homodyn.dynamics` into the equations of the network, so a run of both
is one kernel. The node of a body has the states ``q`` and ``v`` and contains

- a node for every coordinate, with its position ``q``, velocity ``v``, the force ``tau`` (N m, N)
  that edges add to, the initial values ``q0`` and ``v0`` and its limits ``lower`` and ``upper``;
- ``segments``, a node for every segment, with ``force`` (N) and ``moment`` (N m) in world axes at
  its origin, which edges add to, and functions ``position(r)``, ``velocity(r)`` of a point ``r`` in
  its frame, ``rotation()`` to the world and ``angular_velocity()`` in world axes;
- ``contacts``, a node for every contact shape: the same for its center, and its ``radius``;
- ``markers``, with a function for the position of every marker;
- ``up``, the direction against gravity;
- functions ``com()``, ``com_velocity()``, ``momentum()``, ``kinetic_energy()`` and
  ``potential_energy()``.

Functions are only evaluated if a formula calls them. Springs and dampers of the coordinates apply;
joint limits and limits of motors do not.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from homodyn import catalog, dynamics
from homodyn.errors import HomodynError, NetworkError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.model.configuration import normalize, rates
from homodyn.model.formats import load
from homodyn.network.source import SourceLocation
from homodyn.network.tree import NativeFunction, Node, Variable

CATALOG_PREFIX = "catalog:"
"""Prefix of the names of catalog models."""

FILE_SETTINGS = ("base", "as_measured")
"""Settings of model files; see `homodyn.load`."""


def to_identifier(name: str) -> str:
    """A name as an identifier of formulas: characters other than letters and digits become _."""
    plain = re.sub(r"\W", "_", name)
    return plain if re.match(r"[^\W\d]", plain) else f"n{plain}"


def add_body(parent: Node, name: str, model: Model) -> Node:
    """Add a model to a network as a node whose states follow the equations of motion.

    The node has the states ``q`` and ``v``. Its children are one node per coordinate, ``segments``,
    ``contacts`` and ``markers``; edges to ``tau`` of a coordinate (N m, N) or to ``force`` (N) and
    ``moment`` (N m) of a segment apply loads.

    Args:
        parent: The node to add to, often the network itself.
        name: Name of the new node, unique in ``parent``.
        model: The model, without open parameters.

    Returns:
        The new node.

    Raises:
        NetworkError: ``parent`` already has a node of that name, or the model has open parameters.
    """
    if name in parent.nodes:
        raise NetworkError(f"there is already a node {name!r}; give the body another name")
    if model.parameters:
        raise NetworkError(
            f"model {model.name!r} has open parameters; give them numbers with at(...)"
        )
    node = parent.node(name)
    node.model = model
    neutral = model.neutral()
    velocity = node.variable("v", 0)
    place = node.variable("q", 0, constraint="normalized(q)" if _quaternions(model) else None)
    state = {"q": place, "v": velocity}
    starts = [repr(float(value)) for value in neutral]
    coordinates = _unique_identifiers(model.coordinate_names)
    for k, (label, at) in enumerate(zip(coordinates, model.position_index, strict=True)):
        coordinate = node.node(label, v=f"{name}.v[{k}]", v0=0, tau=0)
        if at is not None:
            coordinate.variable("q", f"{name}.q[{at}]")
            coordinate.variable("q0", float(neutral[at]))
            starts[at] = f"{label}.q0"
            for limit in ("lower", "upper"):
                bound = float(getattr(model, limit)[k])
                if np.isfinite(bound):
                    coordinate.variable(limit, bound)
    node.variable("q", _column(starts))
    node.variable("v", _column([f"{label}.v0" for label in coordinates]))
    node.variable("tau", _column([f"{label}.tau" for label in coordinates]))
    _add_segments(node, model, state)
    _add_functions(node, model, state)
    node.equation("q'", "rates(v)")
    node.equation("v'", "acceleration(tau, wrenches)")
    return node


def _column(entries: Sequence[str]) -> str:
    return f"[{'; '.join(entries)}]"


def _quaternions(model: Model) -> bool:
    return any(joint.quaternion for joint in model.joints)


def _unique_identifiers(names: Sequence[str]) -> list[str]:
    """Names as identifiers of formulas; equal ones are numbered."""
    found: list[str] = []
    for name in names:
        plain, count = to_identifier(name), 1
        while plain in found or plain in ("segments", "contacts", "markers"):
            count += 1
            plain = f"{to_identifier(name)}_{count}"
        found.append(plain)
    return found


def _add_segments(node: Node, model: Model, state: Mapping[str, Variable]) -> None:
    """Add nodes of segments and contacts with their forces and point functions."""
    frames: list[str] = []
    parts: list[str] = []
    for group, names in (
        ("segments", list(model.body_names)),
        ("contacts", [shape.name for shape in model.contacts]),
    ):
        holder = node.node(group)
        for frame, label in zip(names, _unique_identifiers(names), strict=True):
            part = holder.node(label)
            part.variable("force", "zeros(3, 1)")
            part.variable("moment", "zeros(3, 1)")
            frames.append(frame)
            parts += [f"{group}.{label}.moment", f"{group}.{label}.force"]
            _add_point_functions(part, model, frame, state)
    for part, shape in zip(node.nodes["contacts"].nodes.values(), model.contacts, strict=True):
        part.variable("radius", float(shape.radius))
    node.variable("wrenches", _column(parts))
    gravity = np.asarray(model.gravity, dtype=float)
    size = float(np.linalg.norm(gravity))
    node.variable(
        "up", _column([repr(float(-g / size)) for g in gravity] if size else ["0", "0", "1"])
    )

    def acceleration(value: Callable[[str], ca.SX], tau: ca.SX, wrenches: ca.SX) -> ca.SX:
        q, v = value("q"), value("v")
        external = {}
        for k, frame in enumerate(frames):
            wrench = ca.SX(wrenches[6 * k : 6 * k + 6])
            # Segments without forces are left out: zeros would cost as much as forces.
            if not ca.densify(wrench).is_zero():
                external[frame] = wrench
        total = tau + dynamics.passive_force(model, q, v)
        return dynamics.forward_dynamics(model, q, v, total, external=external or None)

    _add_native(
        node, "acceleration", {"tau": model.nv, "wrenches": 6 * len(frames)}, acceleration, state
    )


def _add_point_functions(
    part: Node, model: Model, frame: str, state: Mapping[str, Variable]
) -> None:
    def position(value: Callable[[str], ca.SX], r: ca.SX) -> ca.SX:
        return dynamics.position(model, value("q"), frame, r)

    def velocity(value: Callable[[str], ca.SX], r: ca.SX) -> ca.SX:
        return dynamics.velocity(model, value("q"), value("v"), frame, r)

    def rotation(value: Callable[[str], ca.SX]) -> ca.SX:
        return dynamics.orientation(model, value("q"), frame)

    def angular_velocity(value: Callable[[str], ca.SX]) -> ca.SX:
        return dynamics.angular_velocity(model, value("q"), value("v"), frame)

    _add_native(part, "position", {"r": 3}, position, state)
    _add_native(part, "velocity", {"r": 3}, velocity, state)
    _add_native(part, "rotation", {}, rotation, state)
    _add_native(part, "angular_velocity", {}, angular_velocity, state)


def _add_functions(node: Node, model: Model, state: Mapping[str, Variable]) -> None:
    def of_q(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda value: function(model, value("q"))

    def of_both(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda value: function(model, value("q"), value("v"))

    _add_native(node, "com", {}, of_q(dynamics.center_of_mass), state)
    _add_native(node, "com_velocity", {}, of_both(dynamics.center_of_mass_velocity), state)
    _add_native(node, "momentum", {}, of_both(dynamics.momentum), state)
    _add_native(node, "kinetic_energy", {}, of_both(dynamics.kinetic_energy), state)
    _add_native(node, "potential_energy", {}, of_q(dynamics.potential_energy), state)
    _add_native(node, "rates", {"v": model.nv}, lambda value, v: rates(model, value("q"), v), state)
    _add_native(node, "normalized", {"q": model.nq}, lambda value, q: normalize(model, q), state)
    markers = node.node("markers")
    names = [marker.name for marker in model.markers]
    for name, label in zip(names, _unique_identifiers(names), strict=True):

        def place(value: Callable[[str], ca.SX], name: str = name) -> ca.SX:
            return dynamics.position(model, value("q"), name)

        _add_native(markers, label, {}, place, state)


def _add_native(
    node: Node,
    name: str,
    arguments: Mapping[str, int],
    traced: Callable[..., Any],
    state: Mapping[str, Variable],
) -> None:
    node.functions[name] = NativeFunction(
        name, tuple(arguments), tuple(arguments.values()), traced, dict(state)
    )


def load_model(
    name: str, path: Path | None, texts: Mapping[str, str], place: SourceLocation
) -> Model:
    """Load the model of a body.

    Args:
        name: Name in the text: a file, or ``catalog:`` and a catalog name.
        path: Path of the file; None for a catalog model.
        texts: Settings as text.
        place: Place in the text, for messages.

    Returns:
        The model.

    Raises:
        NetworkError: The model cannot be loaded, or a setting is unknown.
    """
    settings: dict[str, Any] = {key: _setting(text) for key, text in texts.items()}
    try:
        if path is not None:
            for key in settings:
                if key not in FILE_SETTINGS:
                    raise NetworkError(unknown_name("setting of a file", key, FILE_SETTINGS))
            return load(path, **settings)
        chosen = name.removeprefix(CATALOG_PREFIX)
        entries = {entry.name: entry for entry in catalog.entries()}
        if chosen not in entries:
            raise NetworkError(unknown_name("model in the catalog", chosen, entries))
        known = inspect.signature(entries[chosen].build).parameters
        for key in settings:
            if key not in known:
                raise NetworkError(unknown_name(f"setting of {chosen}", key, known))
        return entries[chosen].build(**settings)
    except NetworkError as error:
        raise place.error(error.message) from None
    except (HomodynError, OSError, TypeError, ValueError) as error:
        raise place.error(f"{name!r} cannot be loaded: {error}") from None


def _setting(text: str) -> float | bool | str:
    """A number, true or false, or a text."""
    try:
        return float(text)
    except ValueError:
        return {"true": True, "false": False}.get(text, text)
