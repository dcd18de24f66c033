"""Poses of bodies on the supports of a scene: soles, grips and the seat.

A sole lies with its center on the center of a contact patch, its long axis along that of the patch.
A grip is at the position of a grasp, in any orientation. The root of the model on a patch is
seated: where it lands, only its height above the patch is imposed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from homodyn import dynamics
from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.motion import Scene
from homodyn.motion.supports import ContactPatch, Grasp, Support


@dataclass(frozen=True, eq=False)
class SupportBody:
    """A body of the model that supports act on, and where it touches them."""

    model: Model
    name: str

    @cached_property
    def is_seat(self) -> bool:
        """Whether it is the root of the model."""
        return self.name == self.model.body_names[0]

    @cached_property
    def is_sole(self) -> bool:
        """Whether it stands on a sole: it has contacts beside a single grip."""
        return not self.is_seat and len(self.contacts) > 1

    @cached_property
    def family(self) -> tuple[str, ...]:
        """The body and those beyond it that touch the environment too, such as toes."""
        index, _ = self.model.locate(self.name)
        touching = {contact.body for contact in self.model.contacts}
        names = [self.name]
        for k in range(index + 1, len(self.model.body_names)):
            parent = self.model.parents[k]
            name = self.model.body_names[k]
            if parent >= 0 and self.model.body_names[parent] in names and name in touching:
                names.append(name)
        return tuple(names) if not self.is_seat else (self.name,)

    @cached_property
    def contacts(self) -> tuple[str, ...]:
        """Contacts of the body itself."""
        return tuple(each.name for each in self.model.contacts if each.body == self.name)

    @cached_property
    def grip(self) -> str:
        """Contact or body whose origin is at a grasp."""
        return self.contacts[0] if len(self.contacts) == 1 else self.name

    @cached_property
    def sole(self) -> tuple[np.ndarray, np.ndarray]:
        """Center (3,), m, of the sole and its axes as columns (3, 3), in the axes of the body.

        The axes are those of the world in the neutral pose: x forward, z up.
        """
        model, q = self.model, self.model.neutral()
        points = [each.name for each in model.contacts if each.body in self.family]
        if not points:
            raise ModelError(
                f"model {model.name!r}: {self.name} has no contacts, so that its sole is not known"
            )
        places = np.array([dynamics.position(model, q, name) for name in points])
        low, high = places.min(axis=0), places.max(axis=0)
        center = np.r_[(low[:2] + high[:2]) / 2, low[2]]
        turn = np.asarray(dynamics.orientation(model, q, self.name))
        return turn.T @ (center - dynamics.position(model, q, self.name)), turn.T

    def pose(self, support: Support) -> tuple[np.ndarray, np.ndarray]:
        """Position (3,), m, and orientation (3, 3) of the body, or of its grip, on a support."""
        if isinstance(support, Grasp) or not self.is_sole:
            return np.asarray(support.middle, dtype=float), np.eye(3)
        offset, axes = self.sole
        turn = support.axes.T @ axes.T
        return support.middle - turn @ offset, turn


def support_bodies(model: Model, scene: Scene) -> dict[str, SupportBody]:
    """The bodies that the supports of a scene act on.

    Args:
        model: The model.
        scene: The scene.

    Returns:
        Bodies by name.

    Raises:
        ModelError: A support names no body of the model.
    """
    bodies = {}
    for support in scene.supports.values():
        if support.body not in model.body_names:
            message = unknown_name("body", support.body, model.body_names)
            raise ModelError(
                f"scene {scene.name!r}, support {support.name!r}: give the body of the model that "
                f"uses it; {message}"
            )
        bodies[support.body] = SupportBody(model, support.body)
    return bodies


def stance_by_body(scene: Scene, names: Iterable[str]) -> dict[str, Support]:
    """The supports of a phase by the body that uses them.

    Args:
        scene: The scene.
        names: Names of the supports.

    Returns:
        Supports by body.

    Raises:
        ModelError: One body uses two of them.
    """
    stance: dict[str, Support] = {}
    for name in names:
        support = scene.supports[name]
        if support.body in stance:
            raise ModelError(
                f"scene {scene.name!r}: {support.body} uses {stance[support.body].name!r} and "
                f"{name!r} at the same time"
            )
        stance[support.body] = support
    return stance


def heading(supports: Sequence[Support]) -> float:
    """Mean yaw (rad) of the long axes of contact patches; zero without any.

    Args:
        supports: Supports of feet.
    """
    along = [patch.axes[0] for patch in supports if isinstance(patch, ContactPatch)]
    if not along:
        return 0.0
    mean = np.mean(along, axis=0)
    return float(np.arctan2(mean[1], mean[0]))
