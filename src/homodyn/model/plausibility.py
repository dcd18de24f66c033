"""Implausible values of a valid model, which often are mistakes in its file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from homodyn.model.functions import Linear, Piecewise, ScalarFunction, ScaledFunction
from homodyn.model.model import Model
from homodyn.model.validation import impossible_inertia, joints_without_inertia

SPLINE_RANGE_SAMPLES = 65
"""Points at which the range of a function is evaluated."""


def implausibilities(model: Model) -> list[str]:
    """Sentences on masses, inertias and ranges that no real body has.

    Args:
        model: The model; its parameters have their nominal values.

    Returns:
        Sentences without a full stop; empty if everything is plausible.
    """
    return [*_bodies(model), *joints_without_inertia(model), *_ranges(model), *_splines(model)]


def _bodies(model: Model) -> Iterator[str]:
    if model.mass == 0:
        yield "the model has no mass at all"
    by_inertia: dict[bytes, list[tuple[str, float]]] = {}
    for body in model.bodies:
        mass, inertia = model.nominal_value(body.mass), model.nominal_value(body.inertia)
        broken = impossible_inertia(inertia)
        if broken:
            yield f"body {body.name!r}: {broken}"
        if mass == 0 and inertia.any():
            yield f"body {body.name!r} has inertia but no mass"
        if inertia.any():
            by_inertia.setdefault(inertia.tobytes(), []).append((body.name, mass))
    for group in by_inertia.values():
        masses = [mass for _, mass in group]
        if len(group) > 2 and max(masses) > 2 * min(masses):
            names = ", ".join(name for name, _ in group)
            yield f"bodies {names} have the same inertia although their masses differ"


def _ranges(model: Model) -> Iterator[str]:
    for coordinate in model.coordinates:
        lower, upper, default = (
            model.nominal_value(getattr(coordinate, name)) for name in ("lower", "upper", "default")
        )
        if not lower <= default <= upper:
            yield (
                f"coordinate {coordinate.name!r}: its default {default:.6g} is outside its range "
                f"{lower:.6g} to {upper:.6g}"
            )


def _splines(model: Model) -> Iterator[str]:
    ranges = _spans(model)
    uses = [
        (f"joint {joint.name!r}", joint.coordinates[motion.coordinate].name, motion.function)
        for joint in model.joints
        for motion in joint.axes
        if motion.coordinate is not None
    ]
    uses += [(f"coupler of {c.coordinate!r}", c.of, c.function) for c in model.couplers]
    reported = set()
    for where, name, function in uses:
        knots, (lower, upper) = _knots(function), ranges[name]
        if knots and (
            (np.isfinite(lower) and lower < knots[0]) or (np.isfinite(upper) and upper > knots[-1])
        ):
            sentence = (
                f"{where}: {name!r} ranges from {lower:.4g} to {upper:.4g} but its "
                f"spline has knots from {knots[0]:.4g} to {knots[-1]:.4g} only"
            )
            if sentence not in reported:
                reported.add(sentence)
                yield sentence


def _spans(model: Model) -> dict[str, tuple[float, float]]:
    """Range of every coordinate; for a coupled one, the range of its function."""
    spans: dict[str, tuple[float, float]] = {
        c.name: (float(model.nominal_value(c.lower)), float(model.nominal_value(c.upper)))
        for joint in model.joints
        for c in joint.coordinates
    }
    for coupler in model.couplers:
        lower, upper = spans[coupler.of]
        values = np.array([-np.inf, np.inf])
        if np.isfinite([lower, upper]).all() and not isinstance(coupler.function, Linear):
            values = np.asarray(
                coupler.function.value(np.linspace(lower, upper, SPLINE_RANGE_SAMPLES))
            )
        elif isinstance(coupler.function, Linear):
            factor, offset = (
                float(model.nominal_value(number))
                for number in (coupler.function.factor, coupler.function.offset)
            )
            values = factor * np.array([lower, upper]) + offset if factor else np.array([offset])
        spans[coupler.coordinate] = float(values.min()), float(values.max())
    return spans


def _knots(function: ScalarFunction) -> tuple[float, ...]:
    while isinstance(function, ScaledFunction):
        function = function.function
    return function.x if isinstance(function, Piecewise) else ()
