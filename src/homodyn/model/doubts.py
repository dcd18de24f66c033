"""What is odd about a model though it can be computed with: often a slip in its file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from homodyn.model.functions import Function, Scaled, Spline
from homodyn.model.validation import broken_triangle, unmoved_by_mass

if TYPE_CHECKING:
    from homodyn.model.model import Model


def doubts(model: Model) -> list[str]:
    """Sentences on masses, inertias and ranges that no real body has; empty when there are none."""
    return [*_bodies(model), *unmoved_by_mass(model), *_ranges(model), *_splines(model)]


def _bodies(model: Model) -> Iterator[str]:
    if model.mass == 0:
        yield "the model has no mass at all"
    alike: dict[bytes, list[tuple[str, float]]] = {}
    for body in model.bodies:
        mass, inertia = model._usual(body.mass), model._usual(body.inertia)
        broken = broken_triangle(inertia)
        if broken:
            yield f"body {body.name!r}: {broken}"
        if mass == 0 and inertia.any():
            yield f"body {body.name!r} has inertia but no mass"
        if inertia.any():
            alike.setdefault(inertia.tobytes(), []).append((body.name, mass))
    for group in alike.values():
        masses = [mass for _, mass in group]
        if len(group) > 2 and max(masses) > 2 * min(masses):
            names = ", ".join(name for name, _ in group)
            yield f"bodies {names} have one and the same inertia though their masses differ"


def _ranges(model: Model) -> Iterator[str]:
    for coordinate in model.coordinates:
        lower, upper, default = (
            model._usual(getattr(coordinate, name)) for name in ("lower", "upper", "default")
        )
        if not lower <= default <= upper:
            yield (
                f"coordinate {coordinate.name!r}: its default {default:.6g} is outside its range "
                f"{lower:.6g} to {upper:.6g}"
            )


def _splines(model: Model) -> Iterator[str]:
    by_name = {c.name: c for joint in model.joints for c in joint.coordinates}
    uses = [
        (f"joint {joint.name!r}", joint.coordinates[motion.coordinate], motion.function)
        for joint in model.joints
        for motion in joint.motions
        if motion.coordinate is not None
    ]
    uses += [(f"coupler of {c.coordinate!r}", by_name[c.of], c.function) for c in model.couplers]
    for where, coordinate, function in uses:
        knots = _knots(function)
        lower, upper = model._usual(coordinate.lower), model._usual(coordinate.upper)
        if knots and (
            (np.isfinite(lower) and lower < knots[0]) or (np.isfinite(upper) and upper > knots[-1])
        ):
            yield (
                f"{where}: {coordinate.name!r} ranges from {lower:.4g} to {upper:.4g} but its "
                f"spline is known from {knots[0]:.4g} to {knots[-1]:.4g} only"
            )


def _knots(function: Function) -> tuple[float, ...]:
    while isinstance(function, Scaled):
        function = function.function
    return function.x if isinstance(function, Spline) else ()
