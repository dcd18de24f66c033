"""Paths of muscles and ligaments in a stretched body, and what they wrap around."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from homodyn.catalog.standing_height import placements
from homodyn.errors import ModelError
from homodyn.model import WORLD, Model, Muscle, PathPoint, ScaledFunction, WrapObject
from homodyn.model.coordinate_layout import joint_positions
from homodyn.spatial import Array, Transform, is_symbolic


def with_scaled_paths(model: Model, made: Model, of: Callable[[str], Array]) -> Model:
    """A stretched model ``made`` with the paths of ``model`` stretched along, body by body."""
    if any(is_symbolic(of(name)) for name in model.body_names):
        raise ModelError(
            f"model {model.name!r} has muscles, ligaments or wrap objects, whose numbers cannot be "
            "parameters; leave them out with dataclasses.replace, or scale by numbers"
        )
    before, after = _Standing(model), _Standing(made)
    muscles = []
    for muscle in model.muscles:
        points = tuple(_point(point, of(point.body)) for point in muscle.points)
        ratio = after.length(points) / before.length(muscle.points)
        muscles.append(_scale_muscle(replace(muscle, points=points), ratio))
    return replace(
        made,
        wraps=tuple(_wrap(wrap, of(wrap.body)) for wrap in model.wraps),
        muscles=tuple(muscles),
        ligaments=tuple(
            replace(band, points=tuple(_point(point, of(point.body)) for point in band.points))
            for band in model.ligaments
        ),
    )


def stretch_factor(direction: Array, factor: Array) -> Array:
    """By how much a line in this direction becomes longer."""
    after = direction * factor
    squares = [after[k] ** 2 for k in range(3)], [direction[k] ** 2 for k in range(3)]
    return (sum(squares[0]) / sum(squares[1])) ** 0.5


def _scale_muscle(muscle: Muscle, ratio: float) -> Muscle:
    """Fibres and tendon share the change of the path, so that the muscle works as before."""
    return replace(
        muscle,
        optimal_fiber_length=muscle.optimal_fiber_length * ratio,
        tendon_slack_length=muscle.tendon_slack_length * ratio,
    )


def _point(point: PathPoint, factor: Array) -> PathPoint:
    laws = tuple(
        replace(law, function=ScaledFunction(law.function, float(factor["xyz".index(law.axis)])))
        for law in point.laws
    )
    return replace(point, position=point.position * factor, laws=laws)


def _wrap(wrap: WrapObject, factor: Array) -> WrapObject:
    """Each dimension follows the axes it lies along; round ones the mean of two or three."""
    x, y, z = (float(stretch_factor(wrap.placement.E[k], factor)) for k in range(3))
    ratios = {
        "sphere": ((x + y + z) / 3,),
        "cylinder": ((x + y) / 2, z),
        "ellipsoid": (x, y, z),
        "torus": ((x + y) / 2, (x + y) / 2),
    }[wrap.kind]
    return replace(
        wrap,
        dimensions=tuple(d * r for d, r in zip(wrap.dimensions, ratios, strict=True)),
        placement=Transform(wrap.placement.E, wrap.placement.r * factor),
    )


class _Standing:
    """The neutral pose of a model: where its bodies are, and the values of its coordinates."""

    def __init__(self, model: Model) -> None:
        q = model.neutral()
        self.frames = {WORLD: Transform.identity()}
        for name, (_, frame) in zip(model.body_names, placements(model, q), strict=True):
            self.frames[name] = frame
        self.values = {
            coordinate.name: float(value)
            for joint, position in zip(model.joints, joint_positions(model, q), strict=True)
            if not joint.quaternion
            for coordinate, value in zip(joint.coordinates, position, strict=True)
        }

    def length(self, points: Sequence[PathPoint]) -> float:
        """Length of a path (m), straight from point to point."""
        passed = [self.place(point) for point in points if self.passes(point)]
        return float(sum(np.linalg.norm(b - a) for a, b in pairwise(passed)))

    def passes(self, point: PathPoint) -> bool:
        """Whether the path goes through a point now."""
        when = point.when
        return not when or when.lower <= self.values.get(when.coordinate, 0.0) <= when.upper

    def place(self, point: PathPoint) -> Array:
        """World position of a point (m)."""
        local = np.array(point.position, dtype=float)
        for law in point.laws:
            local["xyz".index(law.axis)] = law.function.value(self.values.get(law.coordinate, 0.0))
        return self.frames[point.body].point_back(local)
