"""Clamped B-splines: Cox-de Boor on one span, derivative control points, conditions at the ends.

The formulas of one span are plain arithmetic, so that the same text serves numbers, batches and
CasADi symbols: a planner has knots among its unknowns and differentiates exactly through them.
Knots are instants (s), not fractions of the duration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record


def span_basis(knots: Sequence[Any], u: Any) -> list[Any]:
    """The k + 1 basis functions of degree k that are not zero between the two middle knots.

    ``knots`` are the 2 k knots around the span, k before and at its start, k at and after its end
    (Cox-de Boor as in Qiu 2012, algorithm 2, with corrected loops). ``u`` lies in the span.
    """
    degree = len(knots) // 2
    values: list[Any] = [1.0]
    for d in range(1, degree + 1):
        carry: Any = 0.0
        next_values = []
        for r, value in enumerate(values):
            before = knots[degree - d + r]
            after = knots[degree + r]
            ratio = value / (after - before)
            next_values.append(carry + (after - u) * ratio)
            carry = (u - before) * ratio
        values = [*next_values, carry]
    return values


def span_derivatives(knots: Sequence[Any], points: Sequence[Any], u: Any, order: int) -> list[Any]:
    """Value and derivatives up to ``order`` at ``u``, from the k + 1 control points of a span.

    ``a_i' = k / (t_{i+k+1} - t_{i+1}) (a_{i+1} - a_i)`` (Qiu eq. 2.32): a derivative is a spline of
    one degree less on the same knots without the outer two.
    """
    around, control = list(knots), list(points)
    derivatives = []
    for _ in range(order + 1):
        degree = len(control) - 1
        basis = span_basis(around, u)
        derivatives.append(
            sum(
                (b * a for b, a in zip(basis[1:], control[1:], strict=True)),
                basis[0] * control[0],
            )
        )
        if degree == 0:
            break
        control = [
            (control[i + 1] - control[i]) * (degree / (around[i + degree] - around[i]))
            for i in range(degree)
        ]
        around = around[1:-1]
    return derivatives


def clamped_knots(instants: np.ndarray, degree: int) -> np.ndarray:
    """Knots in which the ends occur ``degree + 1`` times: 2 (k + 1) plus the inner instants."""
    instants = np.asarray(instants, dtype=float)
    return np.r_[np.full(degree, instants[0]), instants, np.full(degree, instants[-1])]


@record
class ComSpline(Record):
    """A path of the center of mass: a clamped B-spline of points over time.

    Raises:
        ModelError: The degree is below 1, the instants do not increase, or the number of control
            points does not fit.
    """

    degree: int
    instants: np.ndarray
    """(spans + 1,), s: start, inner knots, end; strictly increasing."""
    points: np.ndarray
    """(spans + degree, n), m: control points."""

    def __post_init__(self) -> None:
        instants = np.array(self.instants, dtype=float)
        points = np.array(self.points, dtype=float)
        if self.degree < 1:
            raise ModelError(f"a spline has degree 1 or more, got {self.degree!r}")
        if instants.ndim != 1 or len(instants) < 2 or not (np.diff(instants) > 0).all():
            raise ModelError(f"the instants of a spline must increase, got {instants.tolist()}")
        if points.ndim != 2 or len(points) != len(instants) - 1 + self.degree:
            raise ModelError(
                f"{len(instants) - 1} spans of degree {self.degree} need "
                f"{len(instants) - 1 + self.degree} control points, got shape {points.shape}"
            )
        object.__setattr__(self, "instants", instants)
        object.__setattr__(self, "points", points)

    @property
    def knots(self) -> np.ndarray:
        """(spans + 2 degree + 1,), s: all knots; the ends occur degree + 1 times."""
        return clamped_knots(self.instants, self.degree)

    @property
    def duration(self) -> float:
        """Duration, s."""
        return float(self.instants[-1] - self.instants[0])

    def basis(self, time: np.ndarray, derivative: int = 0) -> np.ndarray:
        """Compute the matrix from control points to values or derivatives.

        Args:
            time: Instants, (instants,), s.
            derivative: Order of the time derivative.

        Returns:
            (instants, control points), 1/s^derivative.

        Raises:
            ModelError: An instant lies outside the spline.
        """
        return basis_matrix(self.instants, self.degree, time, derivative)

    def at(self, time: np.ndarray | float, derivative: int = 0) -> np.ndarray:
        """Evaluate the spline or a time derivative.

        Args:
            time: Instants, (...,), s.
            derivative: Order of the time derivative.

        Returns:
            (..., n).

        Raises:
            ModelError: An instant lies outside the spline.
        """
        instants = np.asarray(time, dtype=float)
        values = self.basis(instants.reshape(-1), derivative) @ self.points
        return values.reshape(*instants.shape, self.points.shape[1])

    def headline(self) -> str:
        """Degree, spans and duration."""
        spans = len(self.instants) - 1
        return f"ComSpline of degree {self.degree}: {spans} spans in {self.duration:g} s"

    def derivative(self) -> ComSpline:
        """Differentiate the spline by time.

        Returns:
            A spline of one degree less, with one control point less.

        Raises:
            ModelError: The degree is less than 2.
        """
        if self.degree < 2:
            raise ModelError("the derivative of a spline of degree 1 is not continuous")
        points = _differences(self.knots, self.degree, 1) @ self.points
        return ComSpline(self.degree - 1, self.instants, points)


def basis_matrix(
    instants: np.ndarray, degree: int, time: np.ndarray, derivative: int = 0
) -> np.ndarray:
    """(times, control points): values of the basis, or of a derivative, at times (s).

    Instants outside the spline are refused; an inner knot belongs to the span after it.
    """
    time = np.asarray(time, dtype=float)
    instants = np.asarray(instants, dtype=float)
    slack = 1e-9 * (instants[-1] - instants[0])
    if time.size and (time.min() < instants[0] - slack or time.max() > instants[-1] + slack):
        raise ModelError(
            f"the spline lasts from {instants[0]:g} to {instants[-1]:g} s; "
            f"it cannot be evaluated from {time.min():g} to {time.max():g} s"
        )
    if derivative > degree:
        return np.zeros((len(time), len(instants) - 1 + degree))
    time = np.clip(time, instants[0], instants[-1])
    span = np.clip(np.searchsorted(instants, time, side="right") - 1, 0, len(instants) - 2)
    lower = degree - derivative
    knots = clamped_knots(instants, lower)
    matrix = np.zeros((len(time), len(instants) - 1 + lower))
    # Column r holds knot r of the span of each time.
    around = [knots[span + 1 + r] for r in range(2 * lower)]
    for r, values in enumerate(span_basis(around, time)):
        matrix[np.arange(len(time)), span + r] = values
    if not derivative:
        return matrix
    return matrix @ _differences(clamped_knots(instants, degree), degree, derivative)


def _differences(knots: np.ndarray, degree: int, order: int) -> np.ndarray:
    """The matrix from control points to those of a derivative, T_d0 of Qiu section 2.4.2."""
    count = len(knots) - degree - 1
    total = np.eye(count)
    for d in range(order):
        k, inner = degree - d, knots[d : len(knots) - d]
        n = count - d - 1
        scale = k / (inner[1 + k : 1 + k + n] - inner[1 : 1 + n])
        total = scale[:, None] * (total[1:] - total[:-1])
    return total


def first_points(instants: np.ndarray, degree: int, conditions: Sequence[np.ndarray]) -> np.ndarray:
    """(m, n): the first control points for a value and derivatives at the start (Qiu 2.46-2.48)."""
    return _end_points(np.asarray(instants, dtype=float), degree, conditions)


def last_points(instants: np.ndarray, degree: int, conditions: Sequence[np.ndarray]) -> np.ndarray:
    """(m, n): the last control points for a value and derivatives at the end.

    The index in Qiu 2.49 is shifted by one: ``a_{n-1} = a_n - (t_{n+k} - t_n) / k p'``.
    """
    reversed_instants = -np.asarray(instants, dtype=float)[::-1]
    reversed_conditions = [np.asarray(c, dtype=float) * (-1) ** d for d, c in enumerate(conditions)]
    return _end_points(reversed_instants, degree, reversed_conditions)[::-1]


def _end_points(instants: np.ndarray, degree: int, conditions: Sequence[np.ndarray]) -> np.ndarray:
    """Triangular: the value of derivative d at the start is in the first d + 1 control points."""
    count = len(conditions)
    start = np.array([instants[0]])
    rows = np.vstack([basis_matrix(instants, degree, start, d)[:, :count] for d in range(count)])
    return np.linalg.solve(rows, np.array([np.asarray(c, dtype=float) for c in conditions]))
