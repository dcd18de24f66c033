"""Forces of the environment on bodies, from the contact rows and external loads of a phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.dynamics import position
from homodyn.dynamics.constraints import Constraint, ConstraintRow
from homodyn.model import WORLD, Model
from homodyn.motion import Axes, ContactForce, Side, side_of
from homodyn.motion.foot_names import is_foot_name
from homodyn.optimal.statement.external_loads import ExternalLoad


@dataclass(frozen=True, eq=False)
class _PointForce:
    """Force and couple at one point of a body, (frames, 3) each."""

    body: str
    force: np.ndarray
    point: np.ndarray
    couple: np.ndarray


def contact_forces(
    model: Model,
    contacts: Constraint,
    q: np.ndarray,
    force: np.ndarray,
    loads: Sequence[tuple[ExternalLoad, np.ndarray]] = (),
) -> tuple[ContactForce, ...]:
    """Resultant forces of the environment, one per body.

    The force of a contact acts on the surface of its shape, an external load at the origin of its
    frame. Contacts between two bodies of the model are internal and left out.

    Args:
        model: The model.
        contacts: The contacts of a phase.
        q: (frames, nq), rad or m.
        force: (frames, rows), N or N m: one column per contact row.
        loads: External loads, each with its wrenches (frames, 6) about the origin of the world.

    Returns:
        Force, center of pressure or point of application, and free moment of each body.
    """
    up = Axes.of(model).up
    parts = [
        *_row_forces(model, contacts, q, force, up),
        *(_load_force(model, load, wrench, q) for load, wrench in loads),
    ]
    forces = []
    for body in dict.fromkeys(part.body for part in parts):
        own = [part for part in parts if part.body == body]
        force = np.stack([part.force for part in own], axis=1)
        point = np.stack([part.point for part in own], axis=1)
        couple = np.stack([part.couple for part in own], axis=1)
        forces.append(ContactForce.from_points(body, force, point, up, couples=couple))
    return tuple(forces)


def touching_feet(model: Model, contacts: Constraint) -> set[Side]:
    """The sides on which a foot is in contact with the environment, by the names of contacts."""
    sides = set()
    for row in _external_rows(contacts):
        body = _body_name(model, row.frame)
        side = side_of(row.frame) or side_of(body)
        if side is not None and (is_foot_name(row.frame) or is_foot_name(body)):
            sides.add(side)
    return sides


def _external_rows(contacts: Constraint) -> list[ConstraintRow]:
    return [row for row in contacts.rows if row.other == WORLD]


def _body_name(model: Model, frame: str) -> str:
    return model.body_names[model.locate(frame)[0]]


def _row_forces(
    model: Model, contacts: Constraint, q: np.ndarray, force: np.ndarray, up: np.ndarray
) -> list[_PointForce]:
    """The rows of each contact point together, at the surface of its shape."""
    radii = {c.name: float(c.radius) for c in model.contacts if c.kind == "sphere"}
    rows = list(enumerate(contacts.rows))
    points = []
    for frame, local in dict.fromkeys((row.frame, row.point) for row in _external_rows(contacts)):
        total, couple = np.zeros((len(q), 3)), np.zeros((len(q), 3))
        for k, row in rows:
            if (row.frame, row.point, row.other) != (frame, local, WORLD):
                continue
            radius = radii[row.radius] if isinstance(row.radius, str) else row.radius
            total += force[:, k, None] * np.array(row.slide)
            couple += force[:, k, None] * radius * np.array(row.turn)
        center = np.asarray(position(model, q, frame, np.array(local)))
        depth = radii.get(frame, 0.0) * up
        # Moved from the center of a sphere to its lowest point, the wrench stays the same.
        points.append(
            _PointForce(
                _body_name(model, frame), total, center - depth, couple + np.cross(depth, total)
            )
        )
    return points


def _load_force(model: Model, load: ExternalLoad, wrench: np.ndarray, q: np.ndarray) -> _PointForce:
    """A wrench about the origin of the world, at the origin of the frame it acts on."""
    moment, force = wrench[:, :3], wrench[:, 3:]
    point = np.asarray(position(model, q, load.frame))
    return _PointForce(_body_name(model, load.frame), force, point, moment - np.cross(point, force))
