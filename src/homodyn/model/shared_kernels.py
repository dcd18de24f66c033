"""One kernel for all people of one build: what differs between them becomes a parameter.

A kernel is text, and the numbers of a model stand in it. Models that differ in lengths and masses
alone give the same text when those are parameters, and so one compiled library.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca

from homodyn.model.body import Body
from homodyn.model.functions import ScaledFunction
from homodyn.model.joint import Joint, JointAxis
from homodyn.model.model import Model
from homodyn.model.parameters import Parameter
from homodyn.spatial import Array, Transform, is_symbolic


def with_dimension_parameters(model: Model, *, masses: bool = False) -> Model:
    """The model with joint and marker positions and stretched motions as its parameters.

    With ``masses`` also masses, centres of mass and inertias. Zeros stay numbers, since they
    shorten a kernel: models share one when they are zero in the same places.
    """
    symbols = _Symbols()
    bodies = tuple(_body(body, symbols) for body in model.bodies) if masses else model.bodies
    return replace(
        model,
        bodies=bodies,
        joints=tuple(_joint(joint, symbols) for joint in model.joints),
        markers=tuple(replace(m, position=symbols.vector(m.position)) for m in model.markers),
        parameters=(*model.parameters, *symbols.parameters),
    )


class _Symbols:
    """Parameters made one after another; numbers that are expressions already stay."""

    def __init__(self) -> None:
        self.parameters: list[Parameter] = []

    def number(self, value: Array) -> Array:
        if is_symbolic(value) or value == 0:
            return value
        parameter = Parameter(f"measure {len(self.parameters)}", value)
        self.parameters.append(parameter)
        return parameter.symbol

    def vector(self, values: Array) -> Array:
        if is_symbolic(values) or not values.any():
            return values
        return ca.vertcat(*[self.number(value) for value in values])

    def symmetric(self, values: Array) -> Array:
        if is_symbolic(values) or not values.any():
            return values
        made: dict[tuple[int, int], Any] = {}
        for i in range(3):
            for j in range(i, 3):
                made[i, j] = made[j, i] = self.number(values[i, j])
        return ca.vertcat(*[ca.horzcat(*[made[i, j] for j in range(3)]) for i in range(3)])

    def placement(self, placed: Transform) -> Transform:
        return Transform(placed.E, self.vector(placed.r))


def _body(body: Body, symbols: _Symbols) -> Body:
    return replace(
        body,
        mass=symbols.number(body.mass),
        com=symbols.vector(body.com),
        inertia=symbols.symmetric(body.inertia),
    )


def _joint(joint: Joint, symbols: _Symbols) -> Joint:
    return replace(
        joint,
        placement=symbols.placement(joint.placement),
        child_placement=symbols.placement(joint.child_placement),
        axes=tuple(_motion(motion, symbols) for motion in joint.axes),
    )


def _motion(motion: JointAxis, symbols: _Symbols) -> JointAxis:
    function = motion.function
    if not isinstance(function, ScaledFunction):
        return motion
    return replace(motion, function=replace(function, factor=symbols.number(function.factor)))
