"""Muscles, ligaments and what their paths wrap around, as data: where they run and their numbers.

Nothing here computes a force; a model carries these records for what does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from homodyn.foundation.text import duplicate_names, unknown_name
from homodyn.model.functions import ScalarFunction
from homodyn.model.joint import WORLD
from homodyn.model.parameters import (
    PLACEMENT,
    PLAIN_SCALARS,
    SCALAR,
    VECTOR,
    ModelRecord,
    coerce_fields,
)
from homodyn.spatial import Array, Transform

if TYPE_CHECKING:
    from homodyn.model.model import Model

WRAP_KINDS = {"sphere": 1, "cylinder": 2, "ellipsoid": 3, "torus": 2}
"""How many dimensions (m) each has: radius; radius, length; semi-axes; inner and outer radius."""


@dataclass(frozen=True, eq=False)
class PointRange(ModelRecord):
    """When a point belongs to its path: while a coordinate is from ``lower`` to ``upper``."""

    coordinate: str
    lower: float
    upper: float

    def __post_init__(self) -> None:
        coerce_fields(self, lower=SCALAR, upper=SCALAR)


@dataclass(frozen=True, eq=False)
class PointLaw(ModelRecord):
    """How one entry of a point's position (``"x"``, ``"y"`` or ``"z"``) follows a coordinate."""

    axis: str
    coordinate: str
    function: ScalarFunction


@dataclass(frozen=True, eq=False)
class PathPoint(ModelRecord):
    """A point of a path, fixed in a body (m) but for the entries that ``laws`` move.

    With ``when`` the path goes through it only in that range.
    """

    name: str
    body: str
    position: Array = field(default_factory=lambda: np.zeros(3))
    when: PointRange | None = None
    laws: tuple[PointLaw, ...] = ()

    def __post_init__(self) -> None:
        coerce_fields(self, position=VECTOR)
        object.__setattr__(self, "laws", tuple(self.laws))


@dataclass(frozen=True, eq=False)
class PathWrap(ModelRecord):
    """That a path wraps around an object, between two of its points (counted from 1; 0: any)."""

    wrap: str
    method: str = "hybrid"
    first: int = 0
    last: int = 0


@dataclass(frozen=True, eq=False)
class WrapObject(ModelRecord):
    """A smooth surface fixed in a body that paths wrap around; see ``WRAP_KINDS``.

    ``quadrant`` is the side that counts: ``"x"``, ``"-y"``, ... or ``"all"``. The axis of a
    cylinder or torus is z.
    """

    name: str
    body: str
    kind: str
    dimensions: tuple[float, ...]
    placement: Transform = field(default_factory=Transform.identity)
    quadrant: str = "all"
    active: bool = True

    def __post_init__(self) -> None:
        coerce_fields(self, dimensions=PLAIN_SCALARS, placement=PLACEMENT)


@dataclass(frozen=True, eq=False)
class Muscle(ModelRecord):
    """A muscle: its path and the numbers every muscle model knows.

    ``kind`` names the muscle model of the file it came from and ``settings`` holds the further
    numbers of that one, unread.
    """

    name: str
    kind: str
    points: tuple[PathPoint, ...]
    wraps: tuple[PathWrap, ...] = ()
    max_isometric_force: float = 1000.0
    """N, of the fibres"""
    optimal_fiber_length: float = 0.1
    """m"""
    tendon_slack_length: float = 0.2
    """m"""
    pennation_angle: float = 0.0
    """rad, at the optimal fibre length"""
    max_contraction_velocity: float = 10.0
    """optimal fibre lengths per second"""
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


@dataclass(frozen=True, eq=False)
class Ligament(ModelRecord):
    """A passive band along a path; ``settings`` holds the numbers of its law, unread."""

    name: str
    kind: str
    points: tuple[PathPoint, ...]
    wraps: tuple[PathWrap, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", tuple(self.points))
        object.__setattr__(self, "wraps", tuple(self.wraps))


def path_errors(model: Model) -> Iterator[str]:
    """Names in paths that the model does not have, and shapes that cannot be."""
    bodies = {WORLD, *(body.name for body in model.bodies)}
    coordinates = {c.name for joint in model.joints for c in joint.coordinates}
    wraps = {wrap.name for wrap in model.wraps}
    for label, records in (
        ("wraps", model.wraps),
        ("muscles", model.muscles),
        ("ligaments", model.ligaments),
    ):
        for name in duplicate_names(record.name for record in records):
            yield f"{label}: the name {name!r} occurs more than once; each must differ"
    for wrap in model.wraps:
        where = f"wrap {wrap.name!r}"
        if wrap.body not in bodies:
            yield f"{where}: {unknown_name('body', wrap.body, bodies)}"
        if wrap.kind not in WRAP_KINDS:
            yield f"{where}: {unknown_name('kind', wrap.kind, WRAP_KINDS)}"
        elif len(wrap.dimensions) != WRAP_KINDS[wrap.kind] or min(wrap.dimensions) < 0:
            yield (
                f"{where}: a {wrap.kind} has {WRAP_KINDS[wrap.kind]} dimensions, none negative; "
                f"got {wrap.dimensions}"
            )
    owners: list[Muscle | Ligament] = [*model.muscles, *model.ligaments]
    for owner in owners:
        where = f"{type(owner).__name__.lower()} {owner.name!r}"
        if len(owner.points) < 2:
            yield f"{where}: a path has 2 points or more, got {len(owner.points)}"
        for point in owner.points:
            if point.body not in bodies:
                yield f"{where}, point {point.name!r}: {unknown_name('body', point.body, bodies)}"
            named = [law.coordinate for law in point.laws]
            named += [point.when.coordinate] if point.when else []
            for name in named:
                if name not in coordinates:
                    what = unknown_name("coordinate", name, coordinates)
                    yield f"{where}, point {point.name!r}: {what}"
        for use in owner.wraps:
            if use.wrap not in wraps:
                yield f"{where}: {unknown_name('wrap', use.wrap, wraps)}"
