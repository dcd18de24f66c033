"""Functions of one coordinate: how far an axis of a joint moves, with its first two derivatives.

Each is a frozen record with ``value``, ``slope`` and ``curvature``, written over numbers or
symbols. Together they cover every axis function and coordinate coupler met in OpenSim models.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import casadi as ca
import numpy as np
from scipy.interpolate import CubicSpline

from homodyn.errors import ModelError
from homodyn.model.numbers import PLAIN, SCALAR, SEVERAL, Record, settle
from homodyn.spatial import Array


class Function(Protocol):
    """A twice differentiable function of one coordinate."""

    def value(self, x: Array) -> Array:
        """f(x)."""

    def slope(self, x: Array) -> Array:
        """df/dx."""

    def curvature(self, x: Array) -> Array:
        """d2f/dx2."""


@dataclass(frozen=True, eq=False)
class Constant(Record):
    """The same number everywhere."""

    number: float

    def __post_init__(self) -> None:
        settle(self, number=SCALAR)

    def value(self, x: Array) -> Array:
        """The number."""
        return self.number + 0 * x

    def slope(self, x: Array) -> Array:
        """Zero."""
        return 0 * x

    def curvature(self, x: Array) -> Array:
        """Zero."""
        return 0 * x


@dataclass(frozen=True, eq=False)
class Linear(Record):
    """``factor * x + offset``; the identity by default."""

    factor: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        settle(self, factor=SCALAR, offset=SCALAR)

    def value(self, x: Array) -> Array:
        """``factor * x + offset``."""
        return self.factor * x + self.offset

    def slope(self, x: Array) -> Array:
        """The factor."""
        return self.factor + 0 * x

    def curvature(self, x: Array) -> Array:
        """Zero."""
        return 0 * x


@dataclass(frozen=True, eq=False)
class Polynomial(Record):
    """``sum of coefficients[k] * x**k``: constant term first."""

    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        settle(self, coefficients=SEVERAL)

    def value(self, x: Array) -> Array:
        """Horner's rule."""
        return _horner(self.coefficients, x)

    def slope(self, x: Array) -> Array:
        """Horner's rule on the derived coefficients."""
        return _horner(_derived(self.coefficients), x)

    def curvature(self, x: Array) -> Array:
        """Horner's rule on the coefficients derived twice."""
        return _horner(_derived(_derived(self.coefficients)), x)


@dataclass(frozen=True, eq=False)
class Spline(Record):
    """Natural cubic spline through ``(x[k], y[k])``, continued by straight lines outside."""

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        settle(self, x=PLAIN, y=PLAIN)
        if len(self.x) != len(self.y) or len(self.x) < 2:
            raise ModelError(
                f"spline: x and y must have equally many knots, 2 or more; got {len(self.x)} and "
                f"{len(self.y)}"
            )
        if not (np.isfinite([*self.x, *self.y]).all() and (np.diff(self.x) > 0).all()):
            raise ModelError(f"spline: knots must be finite and x must increase; got x = {self.x}")

    def value(self, x: Array) -> Array:
        """Value of the piece that ``x`` lies in."""
        return self._evaluate(x, 0)

    def slope(self, x: Array) -> Array:
        """First derivative."""
        return self._evaluate(x, 1)

    def curvature(self, x: Array) -> Array:
        """Second derivative; zero outside the knots."""
        return self._evaluate(x, 2)

    @cached_property
    def _pieces(self) -> tuple[np.ndarray, np.ndarray]:
        """Break points and, for each piece, its origin and four coefficients in ``x - origin``."""
        if len(self.x) == 2:
            slope = (self.y[1] - self.y[0]) / (self.x[1] - self.x[0])
            inner = np.array([[self.x[0], self.y[0], slope, 0.0, 0.0]])
        else:
            spline = CubicSpline(self.x, self.y, bc_type="natural")
            inner = np.column_stack([self.x[:-1], spline.c[::-1].T])
        last = inner[-1]
        h = self.x[-1] - last[0]
        end_slope = last[2] + h * (2 * last[3] + 3 * h * last[4])
        before = [self.x[0], self.y[0], inner[0][2], 0.0, 0.0]
        after = [self.x[-1], self.y[-1], end_slope, 0.0, 0.0]
        return np.array(self.x), np.vstack([before, inner, after])

    def _evaluate(self, x: Array, order: int) -> Array:
        knots, pieces = self._pieces
        if not isinstance(x, (ca.SX, ca.MX)):
            chosen = pieces[np.searchsorted(knots, x, side="right")]
            origin, *c = np.moveaxis(chosen, -1, 0)
        else:
            # The coefficients are chosen, not the values: one polynomial is evaluated, and
            # differentiation passes through x alone.
            columns = []
            for column in pieces.T:
                entry: Array = column[0]
                for knot, number in zip(knots, column[1:], strict=True):
                    entry = ca.if_else(x >= knot, number, entry)
                columns.append(entry)
            origin, *c = columns
        h = x - origin
        if order == 0:
            return c[0] + h * (c[1] + h * (c[2] + h * c[3]))
        if order == 1:
            return c[1] + h * (2 * c[2] + 3 * h * c[3])
        return 2 * c[2] + 6 * h * c[3]


@dataclass(frozen=True, eq=False)
class Scaled(Record):
    """Another function times a factor (OpenSim's MultiplierFunction)."""

    function: Function
    factor: float

    def __post_init__(self) -> None:
        settle(self, factor=SCALAR)

    def value(self, x: Array) -> Array:
        """``factor * f(x)``."""
        return self.factor * self.function.value(x)

    def slope(self, x: Array) -> Array:
        """``factor * f'(x)``."""
        return self.factor * self.function.slope(x)

    def curvature(self, x: Array) -> Array:
        """``factor * f''(x)``."""
        return self.factor * self.function.curvature(x)


IDENTITY = Linear()


def _horner(coefficients: tuple[float, ...], x: Array) -> Array:
    total: Array = 0 * x
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total


def _derived(coefficients: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(k * c for k, c in enumerate(coefficients))[1:]
