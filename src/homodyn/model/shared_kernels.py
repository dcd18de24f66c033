"""One kernel for all models of the same structure: their dimensions become parameters.

The numbers of a model are constants in its kernels. Models that differ in lengths and masses alone
have the same kernels, and so one compiled library, if these numbers are parameters.
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
    """The model with joint positions, marker positions and scaled axes as parameters.

    Zeros stay constants, since they shorten a kernel: models share a kernel if their zeros are in
    the same places.

    Args:
        model: The model.
        masses: Whether masses, centers of mass and inertias become parameters too.

    Returns:
        The model with more parameters.
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
    """Collects parameters; numbers that are expressions already stay."""

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
        entries: dict[tuple[int, int], Any] = {}
        for i in range(3):
            for j in range(i, 3):
                entries[i, j] = entries[j, i] = self.number(values[i, j])
        return ca.vertcat(*[ca.horzcat(*[entries[i, j] for j in range(3)]) for i in range(3)])

    def placement(self, transform: Transform) -> Transform:
        return Transform(transform.E, self.vector(transform.r))


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
        axes=tuple(_axis(axis, symbols) for axis in joint.axes),
    )


def _axis(axis: JointAxis, symbols: _Symbols) -> JointAxis:
    function = axis.function
    if not isinstance(function, ScaledFunction):
        return axis
    return replace(axis, function=replace(function, factor=symbols.number(function.factor)))
