"""Scaling of muscle paths, ligament paths and wrap objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from homodyn.catalog.standing_height import placements
from homodyn.model import WORLD, Model
from homodyn.model.coordinate_layout import joint_positions
from homodyn.model.functions import ScaledFunction
from homodyn.model.muscles import Muscle, PathPoint, WrapObject
from homodyn.spatial import Array, Transform, stack


def with_scaled_paths(model: Model, scaled: Model, of: Callable[[str], Array]) -> Model:
    """Add the scaled paths of a model to its scaled bodies.

    Args:
        model: The model before scaling.
        scaled: The scaled model without paths.
        of: Scale factors (3,) of a body, by its name.

    Returns:
        The scaled model with paths.
    """
    before, after = _NeutralPose(model), _NeutralPose(scaled)
    muscles = []
    for muscle in model.muscles:
        points = tuple(_point(point, of(point.body)) for point in muscle.points)
        ratio = after.length(points) / before.length(muscle.points)
        muscles.append(_scale_muscle(replace(muscle, points=points), ratio))
    return replace(
        scaled,
        wraps=tuple(_wrap(wrap, of(wrap.body)) for wrap in model.wraps),
        muscles=tuple(muscles),
        ligaments=tuple(
            replace(band, points=tuple(_point(point, of(point.body)) for point in band.points))
            for band in model.ligaments
        ),
    )


def stretch_factor(direction: Array, factor: Array) -> Array:
    """Ratio of the lengths of a line in this direction after and before scaling."""
    after = direction * factor
    squares = [after[k] ** 2 for k in range(3)], [direction[k] ** 2 for k in range(3)]
    return (sum(squares[0]) / sum(squares[1])) ** 0.5


def _scale_muscle(muscle: Muscle, ratio: Array) -> Muscle:
    """Scale fibers and tendon with the path, so that the muscle keeps its operating range."""
    return replace(
        muscle,
        optimal_fiber_length=muscle.optimal_fiber_length * ratio,
        tendon_slack_length=muscle.tendon_slack_length * ratio,
    )


def _point(point: PathPoint, factor: Array) -> PathPoint:
    laws = tuple(
        replace(law, function=ScaledFunction(law.function, factor["xyz".index(law.axis)]))
        for law in point.laws
    )
    return replace(point, position=point.position * factor, laws=laws)


def _wrap(wrap: WrapObject, factor: Array) -> WrapObject:
    """Scale each dimension with its axis, and radii with the mean of two or three axes."""
    x, y, z = (stretch_factor(wrap.placement.E[k, :], factor) for k in range(3))
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


class _NeutralPose:
    """Placements of the bodies and values of the coordinates in the neutral pose."""

    def __init__(self, model: Model) -> None:
        q = model.neutral()
        self.frames = {WORLD: Transform.identity()}
        for name, (_, frame) in zip(model.body_names, placements(model, q), strict=True):
            self.frames[name] = frame
        self.values = {
            coordinate.name: float(value)
            for joint, position in zip(
                model.joints, joint_positions(model.joint_slots, q), strict=True
            )
            if not joint.quaternion
            for coordinate, value in zip(joint.coordinates, position, strict=True)
        }

    def length(self, points: Sequence[PathPoint]) -> Array:
        """Length of a path (m), straight from point to point."""
        active = [self.place(point) for point in points if self.is_active(point)]
        squares = [_squared_distance(a, b) for a, b in pairwise(active)]
        return sum(square**0.5 for square in squares)

    def is_active(self, point: PathPoint) -> bool:
        """Whether the path passes through a point in this pose."""
        when = point.when
        return not when or when.lower <= self.values.get(when.coordinate, 0.0) <= when.upper

    def place(self, point: PathPoint) -> Array:
        """World position of a point (m)."""
        local = [point.position[k] for k in range(3)]
        for law in point.laws:
            local["xyz".index(law.axis)] = law.function.value(self.values.get(law.coordinate, 0.0))
        return self.frames[point.body].point_back(stack(*local))


def _squared_distance(a: Array, b: Array) -> Array:
    return sum((b[k] - a[k]) ** 2 for k in range(3))
