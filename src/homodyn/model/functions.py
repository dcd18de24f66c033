"""Functions of one coordinate for joint axes and couplers, with their first two derivatives.

Each is a frozen record with ``value``, ``slope`` and ``curvature``, over numbers or symbols.
Together they cover the axis functions and coordinate couplers of OpenSim models.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import casadi as ca
import numpy as np
import scipy

from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.foundation.text import unknown_name
from homodyn.model.parameters import PLAIN_SCALARS, SCALAR, SCALARS, ModelRecord, coerce_fields
from homodyn.spatial import Array, reuse_graph

__all__ = [
    "Constant",
    "Linear",
    "Piecewise",
    "Polyline",
    "Polynomial",
    "ScalarFunction",
    "ScaledFunction",
    "Spline",
]


class ScalarFunction(Protocol):
    """A twice differentiable function of one coordinate."""

    def value(self, x: Array) -> Array:
        """f(x)."""

    def slope(self, x: Array) -> Array:
        """df/dx."""

    def curvature(self, x: Array) -> Array:
        """d2f/dx2."""


@record
class Constant(ModelRecord):
    """A constant."""

    number: float

    def __post_init__(self) -> None:
        coerce_fields(self, number=SCALAR)

    def value(self, x: Array) -> Array:
        """The number."""
        return self.number + 0 * x

    def slope(self, x: Array) -> Array:
        """Zero."""
        return 0 * x

    def curvature(self, x: Array) -> Array:
        """Zero."""
        return 0 * x


@record
class Linear(ModelRecord):
    """``factor * x + offset``; the identity by default."""

    factor: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        coerce_fields(self, factor=SCALAR, offset=SCALAR)

    def value(self, x: Array) -> Array:
        """``factor * x + offset``."""
        return self.factor * x + self.offset

    def slope(self, x: Array) -> Array:
        """The factor."""
        return self.factor + 0 * x

    def curvature(self, x: Array) -> Array:
        """Zero."""
        return 0 * x


@record
class Polynomial(ModelRecord):
    """``sum of coefficients[k] * x**k``: constant term first."""

    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        coerce_fields(self, coefficients=SCALARS)

    def value(self, x: Array) -> Array:
        """Horner's rule."""
        return _horner(self.coefficients, x)

    def slope(self, x: Array) -> Array:
        """Horner's rule with the coefficients of the derivative."""
        return _horner(_derivative_coefficients(self.coefficients), x)

    def curvature(self, x: Array) -> Array:
        """Horner's rule with the coefficients of the second derivative."""
        return _horner(_derivative_coefficients(_derivative_coefficients(self.coefficients)), x)


class Piecewise(ModelRecord):
    """Cubic pieces between knots, continued by straight lines outside."""

    x: tuple[float, ...]
    y: tuple[float, ...]

    @property
    def _inner(self) -> np.ndarray:
        """Origin and four coefficients in ``x - origin`` of each piece between knots."""
        raise NotImplementedError

    def _check(self) -> None:
        coerce_fields(self, x=PLAIN_SCALARS, y=PLAIN_SCALARS)
        name = type(self).__name__.lower()
        if len(self.x) != len(self.y) or len(self.x) < 2:
            raise ModelError(
                f"{name}: x and y must have the same number of knots, at least 2; got "
                f"{len(self.x)} and {len(self.y)}"
            )
        if not (np.isfinite([*self.x, *self.y]).all() and (np.diff(self.x) > 0).all()):
            raise ModelError(f"{name}: knots must be finite and x must increase; got x = {self.x}")

    @cached_property
    def _pieces(self) -> tuple[np.ndarray, np.ndarray]:
        """Knots and all pieces, including the straight lines before and after them."""
        x, y, inner = np.array(self.x), np.array(self.y), self._inner
        last = inner[-1]
        h = x[-1] - last[0]
        end_slope = last[2] + h * (2 * last[3] + 3 * h * last[4])
        before = [x[0], y[0], inner[0][2], 0.0, 0.0]
        after = [x[-1], y[-1], end_slope, 0.0, 0.0]
        return x, np.vstack([before, inner, after])

    def value(self, x: Array) -> Array:
        """Value of the piece that ``x`` lies in."""
        return self._at(x)[0]

    def slope(self, x: Array) -> Array:
        """First derivative."""
        return self._at(x)[1]

    def curvature(self, x: Array) -> Array:
        """Second derivative; zero outside the knots."""
        return self._at(x)[2]

    def _at(self, x: Array) -> Sequence[Array]:
        """Value, slope and curvature."""
        if not isinstance(x, (ca.SX, ca.MX)):
            knots, pieces = self._pieces
            piece = pieces[np.searchsorted(knots, x, side="right")]
            origin, *c = np.moveaxis(piece, -1, 0)
            return _cubic(x - origin, *c)
        # Value, slope and curvature at one symbol share the selection of the piece, which is most
        # of the work.
        known = self._last_evaluation.get("last")
        if known is None or not _is_same_symbol(known[0], x):
            known = self._last_evaluation["last"] = (x, _evaluate_pieces(x, *self._pieces))
        return known[1]

    @cached_property
    def _last_evaluation(self) -> dict[str, tuple[Array, Sequence[Array]]]:
        return {}


@reuse_graph
def _evaluate_pieces(x: Array, knots: Array, pieces: Array) -> Sequence[Array]:
    """Value, slope and curvature of the piece that ``x`` lies in.

    Coefficients are selected, not values: one polynomial is evaluated, and differentiation passes
    through x alone. Only one term of each sum is nonzero, so the sums are exact.
    """
    last = knots.shape[0] - 1
    beyond = x >= knots
    before = ca.logic_not(beyond)
    inside = ca.vertcat(before[0], ca.logic_and(beyond[:last], before[1:]), beyond[last])
    origin, *c = ca.horzsplit(inside.T @ pieces)
    return _cubic(x - origin, *c)


def _cubic(h: Array, c0: Array, c1: Array, c2: Array, c3: Array) -> Sequence[Array]:
    """A cubic in ``h`` and its first two derivatives."""
    return (
        c0 + h * (c1 + h * (c2 + h * c3)),
        c1 + h * (2 * c2 + 3 * h * c3),
        2 * c2 + 6 * h * c3,
    )


SPLINE_ENDS = ("natural", "simm")


@record
class Spline(Piecewise):
    """Cubic spline through ``(x[k], y[k])``, continued by straight lines outside.

    ``end`` is the condition at the first and last knot. ``"natural"``: no curvature. ``"simm"``:
    the third derivative of the cubic through the four outermost knots, as in SIMM and OpenSim's
    SimmSpline (Forsythe, Malcolm and Moler 1977, section 4.4); the curvature then jumps to zero.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    end: str = "natural"

    def __post_init__(self) -> None:
        self._check()
        if self.end not in SPLINE_ENDS:
            raise ModelError(f"spline: {unknown_name('end', self.end, SPLINE_ENDS)}")

    @property
    def _inner(self) -> np.ndarray:
        x, y = np.array(self.x), np.array(self.y)
        if len(x) == 2:
            return _line_pieces(x, y)
        if self.end == "natural":
            spline = scipy.interpolate.CubicSpline(x, y, bc_type="natural")
            return np.column_stack([x[:-1], spline.c[::-1].T])
        return np.column_stack([x[:-1], y[:-1], _simm_coefficients(x, y)])


@record
class Polyline(Piecewise):
    """Straight lines through ``(x[k], y[k])``; the first and the last extend beyond the knots.

    The slope jumps at the knots.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        self._check()

    @property
    def _inner(self) -> np.ndarray:
        return _line_pieces(np.array(self.x), np.array(self.y))


def _line_pieces(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    zeros = np.zeros(len(x) - 1)
    return np.column_stack([x[:-1], y[:-1], np.diff(y) / np.diff(x), zeros, zeros])


def _is_same_symbol(a: Array, b: Array) -> bool:
    return type(a) is type(b) and ca.is_equal(a, b)


def _simm_coefficients(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Linear, quadratic and cubic coefficient of every piece; three knots or more.

    The unknowns are sixths of the curvatures at the knots. The first and last equation set the
    third derivative of the outer pieces to that of the cubic through the four outermost knots; with
    three knots it is zero.
    """
    n = len(x)
    step, rise = np.diff(x), np.diff(y) / np.diff(x)
    system = np.diag([-step[0], *(2 * (step[:-1] + step[1:])), -step[-1]])
    system += np.diag(step, 1) + np.diag(step, -1)
    right = np.zeros(n)
    right[1:-1] = np.diff(rise)
    if n > 3:
        second = right[1:-1] / (x[2:] - x[:-2])
        right[0] = (second[1] - second[0]) * step[0] ** 2 / (x[3] - x[0])
        right[-1] = -(second[-1] - second[-2]) * step[-1] ** 2 / (x[-1] - x[-4])
    sixth = np.linalg.solve(system, right)
    linear = rise - step * (sixth[1:] + 2 * sixth[:-1])
    return np.column_stack([linear, 3 * sixth[:-1], np.diff(sixth) / step])


@record
class ScaledFunction(ModelRecord):
    """Another function times a factor (OpenSim's MultiplierFunction)."""

    function: ScalarFunction
    factor: float

    def __post_init__(self) -> None:
        coerce_fields(self, factor=SCALAR)

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


def _derivative_coefficients(coefficients: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(k * c for k, c in enumerate(coefficients))[1:]
