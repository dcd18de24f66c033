"""Muscles, ligaments and wrap objects as data: their paths and their parameters.

Nothing here computes a force: these records are the input of packages that do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from homodyn.foundation.record import record
from homodyn.foundation.text import duplicate_names, unknown_name
from homodyn.model.functions import ScalarFunction
from homodyn.model.joint import WORLD
from homodyn.model.parameters import (
    PLACEMENT,
    SCALAR,
    SCALARS,
    VECTOR,
    ModelRecord,
    coerce_fields,
)
from homodyn.spatial import Array, Transform, is_symbolic

__all__ = [
    "Ligament",
    "Muscle",
    "PathPoint",
    "PathWrap",
    "PointLaw",
    "PointRange",
    "WrapObject",
]

WRAP_KINDS = {"sphere": 1, "cylinder": 2, "ellipsoid": 3, "torus": 2}
"""Number of dimensions (m): radius; radius and length; semi-axes; inner and outer radius."""


@record
class PointRange(ModelRecord):
    """The range of a coordinate (rad, m) in which a point is part of its path."""

    coordinate: str
    lower: float
    upper: float

    def __post_init__(self) -> None:
        coerce_fields(self, lower=SCALAR, upper=SCALAR)


@record
class PointLaw(ModelRecord):
    """A component of a point's position (``"x"``, ``"y"`` or ``"z"``) driven by a coordinate."""

    axis: str
    coordinate: str
    function: ScalarFunction


@record
class PathPoint(ModelRecord):
    """A point of a path, fixed in a body except for the components that ``laws`` move."""

    name: str
    body: str
    position: Array = field(default_factory=lambda: np.zeros(3))
    """(3,), m, in the body frame."""
    when: PointRange | None = None
    """The range in which the path passes through the point; None: always."""
    laws: tuple[PointLaw, ...] = ()

    def __post_init__(self) -> None:
        coerce_fields(self, position=VECTOR)
        object.__setattr__(self, "laws", tuple(self.laws))


@record
class PathWrap(ModelRecord):
    """An object that a path wraps around, between two of its points (counted from 1; 0: any)."""

    wrap: str
    method: str = "hybrid"
    first: int = 0
    last: int = 0


@record
class WrapObject(ModelRecord):
    """A smooth surface fixed in a body that paths wrap around; see ``WRAP_KINDS``.

    The axis of a cylinder or torus is z.
    """

    name: str
    body: str
    kind: str
    dimensions: tuple[Array, ...]
    placement: Transform = field(default_factory=Transform.identity)
    quadrant: str = "all"
    """The side that paths wrap around: ``"x"``, ``"-y"``, ... or ``"all"``."""
    active: bool = True

    def __post_init__(self) -> None:
        coerce_fields(self, dimensions=SCALARS, placement=PLACEMENT)


@record
class Muscle(ModelRecord):
    """A muscle: its path and the parameters that all muscle models share.

    ``kind`` is the muscle model named in the file, and ``settings`` are its further parameters as
    they are in the file.
    """

    name: str
    kind: str
    points: tuple[PathPoint, ...]
    wraps: tuple[PathWrap, ...] = ()
    max_isometric_force: Array = 1000.0
    """N, of the fibers."""
    optimal_fiber_length: Array = 0.1
    """m."""
    tendon_slack_length: Array = 0.2
    """m."""
    pennation_angle: Array = 0.0
    """rad, at the optimal fiber length."""
    max_contraction_velocity: Array = 10.0
    """Optimal fiber lengths per second."""
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        coerce_fields(self, **dict.fromkeys(MUSCLE_NUMBERS, SCALAR))
        object.__setattr__(self, "points", tuple(self.points))
        object.__setattr__(self, "wraps", tuple(self.wraps))


MUSCLE_NUMBERS = (
    "max_isometric_force",
    "optimal_fiber_length",
    "tendon_slack_length",
    "pennation_angle",
    "max_contraction_velocity",
)


@record
class Ligament(ModelRecord):
    """A passive band along a path; ``settings`` are the parameters of its force law in the file."""

    name: str
    kind: str
    points: tuple[PathPoint, ...]
    wraps: tuple[PathWrap, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", tuple(self.points))
        object.__setattr__(self, "wraps", tuple(self.wraps))


def path_errors(
    bodies: Collection[str],
    coordinates: Collection[str],
    wraps: Sequence[WrapObject],
    muscles: Sequence[Muscle],
    ligaments: Sequence[Ligament],
) -> Iterator[str]:
    """Sentences on duplicate and unknown names in paths, and on invalid wrap objects.

    Args:
        bodies: Names of the bodies of the model.
        coordinates: Names of the coordinates of its joints.
        wraps: Its wrap objects.
        muscles: Its muscles.
        ligaments: Its ligaments.

    Yields:
        Sentences without a full stop.
    """
    frames = {WORLD, *bodies}
    groups: dict[str, Sequence[WrapObject | Muscle | Ligament]] = {
        "wraps": wraps,
        "muscles": muscles,
        "ligaments": ligaments,
    }
    for label, group in groups.items():
        for name in duplicate_names(one.name for one in group):
            yield f"{label}: the name {name!r} occurs more than once; each must differ"
    for wrap in wraps:
        yield from (f"wrap {wrap.name!r}: {reason}" for reason in _wrap_errors(wrap, frames))
    wrap_names = {wrap.name for wrap in wraps}
    owners: list[Muscle | Ligament] = [*muscles, *ligaments]
    for owner in owners:
        where = f"{type(owner).__name__.lower()} {owner.name!r}"
        if len(owner.points) < 2:
            yield f"{where}: a path has 2 points or more, got {len(owner.points)}"
        for point in owner.points:
            for reason in _point_errors(point, frames, coordinates):
                yield f"{where}, point {point.name!r}: {reason}"
        for use in owner.wraps:
            if use.wrap not in wrap_names:
                yield f"{where}: {unknown_name('wrap', use.wrap, wrap_names)}"


def _wrap_errors(wrap: WrapObject, bodies: Collection[str]) -> Iterator[str]:
    if wrap.body not in bodies:
        yield unknown_name("body", wrap.body, bodies)
    if wrap.kind not in WRAP_KINDS:
        yield unknown_name("kind", wrap.kind, WRAP_KINDS)
    elif len(wrap.dimensions) != WRAP_KINDS[wrap.kind] or any(
        not is_symbolic(size) and size < 0 for size in wrap.dimensions
    ):
        yield (
            f"a {wrap.kind} has {WRAP_KINDS[wrap.kind]} dimensions, none negative; "
            f"got {wrap.dimensions}"
        )


def _point_errors(
    point: PathPoint, bodies: Collection[str], coordinates: Collection[str]
) -> Iterator[str]:
    if point.body not in bodies:
        yield unknown_name("body", point.body, bodies)
    names = [law.coordinate for law in point.laws]
    names += [point.when.coordinate] if point.when else []
    for name in names:
        if name not in coordinates:
            yield unknown_name("coordinate", name, coordinates)
