"""The feet of a model, and points of their soles."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import position
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.model import Model, side
from homodyn.model.side import Side

FOOT_WORDS = ("calcn", "calcaneus", "foot", "hindfoot", "heel")
"""Words in the names of foot bodies, the most specific first."""
MAX_FOOT_HEIGHT_M = 0.15
"""Height (m) above the lowest point of the standing model below which bodies may be feet."""


@record
class Foot(Record):
    """A body in contact with the ground, with all bodies that it carries (toes)."""

    body: str
    """The body that ground forces are applied to."""
    side: Side | None
    """None for a foot in the middle."""
    bodies: tuple[str, ...]
    """The body and those it carries."""
    points: tuple[tuple[str, np.ndarray], ...] = field(repr=False)
    """Points around the sole: a body, and the position in its axes (m)."""

    def positions(self, model: Model, q: np.ndarray) -> np.ndarray:
        """World positions of the points.

        Args:
            model: The model.
            q: (frames, nq): poses.

        Returns:
            (frames, points, 3), m.
        """
        return np.stack(
            [position(model, q, body, point=local) for body, local in self.points], axis=-2
        )


def find_feet(model: Model, names: tuple[str, ...] = ()) -> tuple[Foot, ...]:
    """The feet of a model.

    Bodies named foot, calcn or heel; else bodies with contacts near the ground; else the lowest
    leaves of the tree. Toes belong to the foot that carries them.

    Args:
        model: The model.
        names: Bodies to use instead.

    Returns:
        The feet.

    Raises:
        CaptureError: A body is unknown, or no foot can be found.
    """
    for name in names:
        if name not in model.body_names:
            raise CaptureError(
                f"model {model.name!r} has {unknown_name('body', name, model.body_names)}"
            )
    chosen = (
        list(names) or _feet_by_name(model) or _feet_by_contacts(model) or _lowest_leaves(model)
    )
    if not chosen:
        raise CaptureError(
            f"no body of model {model.name!r} looks like a foot; assign the plates "
            "to bodies with --external-loads (in Python, feet=)"
        )
    return tuple(_foot(model, name) for name in chosen)


def body_side(model: Model, body: str) -> Side | None:
    """Whether a body is on the left or the right: by its name, else by its position."""
    named = side.side_of(body)
    if named is not None:
        return named
    sideways = (world_axes(model) @ position(model, model.neutral(), body))[1]
    if abs(sideways) < 0.01:
        return None
    return Side.LEFT if sideways > 0 else Side.RIGHT


def _feet_by_name(model: Model) -> list[str]:
    for word in FOOT_WORDS:
        named = [body for body in model.bodies if word in body.name.lower()]
        # Joints with several axes are sometimes chains of bodies with almost no mass.
        heaviest = max((float(model.nominal_value(body.mass)) for body in named), default=0.0)
        massive = [b.name for b in named if float(model.nominal_value(b.mass)) > 0.1 * heaviest]
        found = _outermost(model, massive)
        if found:
            return found
    return []


def _feet_by_contacts(model: Model) -> list[str]:
    """Bodies with a contact near the ground in the neutral pose."""
    if not model.contacts:
        return []
    up, pose = world_axes(model)[2], model.neutral()
    heights = [position(model, pose, contact.name) @ up for contact in model.contacts]
    low = {
        contact.body
        for contact, height in zip(model.contacts, heights, strict=True)
        if height < min(heights) + MAX_FOOT_HEIGHT_M
    }
    return _outermost(model, [name for name in model.body_names if name in low])


def _lowest_leaves(model: Model) -> list[str]:
    carrying = {joint.parent for joint in model.joints}
    return _lowest(model, [name for name in model.body_names if name not in carrying])


def _lowest(model: Model, names: list[str]) -> list[str]:
    """The bodies that come nearest to the ground in the neutral pose."""
    if not names:
        return []
    up = world_axes(model)[2]
    feet = [_foot(model, name) for name in names]
    heights = [(foot.positions(model, model.neutral()) @ up).min() for foot in feet]
    return [n for n, h in zip(names, heights, strict=True) if h < min(heights) + MAX_FOOT_HEIGHT_M]


def _outermost(model: Model, names: list[str]) -> list[str]:
    """The bodies that no other listed body carries."""
    return [name for name in names if not set(_ancestors(model, name)) & set(names)]


def _ancestors(model: Model, name: str) -> list[str]:
    """The bodies between a body and the world."""
    chain, body = [], model.parents[model.body_names.index(name)]
    while body >= 0:
        chain.append(model.body_names[body])
        body = model.parents[body]
    return chain


def _foot(model: Model, name: str) -> Foot:
    bodies = tuple(
        other for other in model.body_names if other == name or name in _ancestors(model, other)
    )
    return Foot(name, body_side(model, name), bodies, tuple(_sole(model, bodies)))


def _sole(model: Model, bodies: tuple[str, ...]) -> list[tuple[str, np.ndarray]]:
    """Contacts if there are at least three, else also markers, origins and capsule ends."""
    numbers = model.at(model.parameter_values) if model.parameters else model
    points = [(c.body, np.array(c.position)) for c in numbers.contacts if c.body in bodies]
    if len(points) < 3:
        points += [(m.body, np.array(m.position)) for m in numbers.markers if m.body in bodies]
        points += [(name, np.zeros(3)) for name in bodies]
        points += [
            (c.body, np.array(end))
            for c in numbers.capsules
            if c.body in bodies
            for end in (c.start, c.end)
        ]
    if len(points) < 3:
        points += [(name, np.array(numbers.body(name).com)) for name in bodies]
    return points
