"""Curves of quintic Bezier sections, as functions of their abscissa.

Millard M., Uchida T., Seth A., Delp S. L., "Flexing computational muscle: modeling and simulation
of musculotendon dynamics", Journal of Biomechanical Engineering 135, 2013.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.muscle.geometry.selects import select
from homodyn.muscle.models.monotone_root import monotone_root
from homodyn.spatial import Array

GUESS_DEGREE = 4
"""Degree of the polynomial that guesses the parameter of a section."""
MAX_NEWTON_STEPS = 8
CHECK_POINTS = 201
PARAMETER_TOLERANCE = 1e-13
"""Largest error of the parameter of a section at the check points."""
FIRST_BLEND = np.array([0.0, 5.0, -10.0, 0.0, 10.0, -5.0])
"""Coefficients by power of the parameter: sum of the second and third Bernstein polynomial."""
SECOND_BLEND = np.array([0.0, 0.0, 0.0, 10.0, -15.0, 5.0])
"""The same of the fourth and fifth."""
LAST_BLEND = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


@dataclass(frozen=True)
class CurvePoint:
    """A point of a curve with its slope."""

    x: float
    y: float
    slope: float


@dataclass(frozen=True)
class CornerSection:
    """A section between two points whose inner control points are on both end tangents."""

    x_start: float
    width: float
    x_first: float
    """Second and third control point, as a fraction of the width."""
    x_second: float
    """Fourth and fifth control point."""
    y: tuple[float, float, float, float]
    """Ordinates of the start, both double control points and the end."""

    @staticmethod
    def of(start: CurvePoint, end: CurvePoint, curviness: float) -> CornerSection:
        """A corner between two points; its tangents meet between them.

        Args:
            start: First point.
            end: Last point.
            curviness: 0 (nearly straight) to 1 (nearly a corner).

        Raises:
            ModelError: The tangents do not meet between the points.
        """
        part = 0.1 + 0.8 * curviness
        steep = start.slope - end.slope
        x = 0.5 * (start.x + end.x)
        if abs(steep) > np.sqrt(np.finfo(float).eps):
            x = (end.y - start.y - end.x * end.slope + start.x * start.slope) / steep
        y = end.y + (x - end.x) * end.slope
        width = end.x - start.x
        if not (0 <= curviness <= 1 and width > 0 and start.x < x < end.x):
            raise ModelError(
                f"a curve section from ({start.x:g}, {start.y:g}) with slope {start.slope:g} to "
                f"({end.x:g}, {end.y:g}) with slope {end.slope:g} and curviness {curviness:g} has "
                "no corner: the tangents must meet between the points, the curviness be 0 to 1"
            )
        first, second = start.x + part * (x - start.x), end.x + part * (x - end.x)
        heights = (start.y, start.y + part * (y - start.y), end.y + part * (y - end.y), end.y)
        return CornerSection(
            start.x, width, (first - start.x) / width, (second - start.x) / width, heights
        )

    @cached_property
    def abscissa(self) -> np.ndarray:
        """Coefficients of the abscissa by power of the parameter, as a fraction of the width."""
        return self.x_first * FIRST_BLEND + self.x_second * SECOND_BLEND + LAST_BLEND

    @cached_property
    def guess(self) -> np.ndarray:
        """Coefficients by power of the abscissa of a polynomial near the parameter."""
        u = 0.5 - 0.5 * np.cos(np.linspace(0, np.pi, CHECK_POINTS))
        s = np.polynomial.polynomial.polyval(u, self.abscissa)
        # Exact at both ends: u = s + s (1 - s) p(s).
        basis = (s * (1 - s))[:, None] * np.vander(s, GUESS_DEGREE - 1, increasing=True)
        inner = np.linalg.lstsq(basis, u - s, rcond=None)[0]
        return np.polynomial.polynomial.polyadd(
            [0.0, 1.0], np.polynomial.polynomial.polymul([0.0, 1.0, -1.0], inner)
        )


@dataclass(frozen=True)
class BezierCurve:
    """Joined sections, with straight lines before the first and after the last."""

    sections: tuple[CornerSection, ...]
    start: CurvePoint
    end: CurvePoint

    @staticmethod
    def through(points: Sequence[CurvePoint], curviness: Sequence[float]) -> BezierCurve:
        """A curve with a corner between each two points.

        Args:
            points: Points with slopes, in the order of their abscissas.
            curviness: One value per section.

        Raises:
            ModelError: Tangents of two points do not meet between them.
        """
        pairs = zip(points[:-1], points[1:], curviness, strict=True)
        sections = tuple(CornerSection.of(a, b, c) for a, b, c in pairs)
        return BezierCurve(sections, points[0], points[-1])

    @cached_property
    def newton_steps(self) -> int:
        """Newton steps after which all parameters have converged at the check points.

        Raises:
            ModelError: They do not converge.
        """
        u = np.linspace(0, 1, CHECK_POINTS)
        for steps in range(1, MAX_NEWTON_STEPS + 1):
            if all(
                _largest_error(section, u, steps) < PARAMETER_TOLERANCE for section in self.sections
            ):
                return steps
        raise ModelError(
            f"the curve from {self.start} to {self.end} is too steep to be evaluated; "
            "a smaller curviness is accepted"
        )

    @cached_property
    def graph(self) -> ca.Function:
        """The curve over symbols, from abscissa to ordinate."""
        x = ca.SX.sym("x")
        return ca.Function("bezier_curve", [x], [self._ordinate(x)])

    def value(self, x: Array) -> Array:
        """The ordinate.

        Args:
            x: Abscissa, a symbol or a number.
        """
        if isinstance(x, ca.SX):
            return self.graph.call([x], True, False)[0]
        return float(self.graph(x))

    def weighted_root(self, weights: tuple[Array, Array], target: Array) -> Array:
        """The abscissa x at which ``weights[0] * x + weights[1] * y(x)`` has a given value.

        Both coordinates of the curve must increase along it. Beyond the ends, the lines count.

        Args:
            weights: Weights of both coordinates, not negative.
            target: The value.
        """
        a, b = weights
        rows = [[s.x_start, s.width, s.x_first, s.x_second, *s.y] for s in self.sections]
        chosen: list[Array] = list(rows[0])
        for row in rows[1:]:
            later = target >= a * row[0] + b * row[4]
            chosen = [select(later, x, y) for x, y in zip(row, chosen, strict=True)]
        x_start, width, first, second, y_start, y_first, y_second, y_end = chosen
        across = _blend(first, second, 1.0)
        rise = _blend(y_first - y_start, y_second - y_start, y_end - y_start)
        total = [a * width * p + b * r for p, r in zip(across, rise, strict=True)]
        total[0] = a * x_start + b * y_start - target
        slope = [power * c for power, c in enumerate(total)][1:]
        u = monotone_root(lambda u: (_horner(total, u), _horner(slope, u)), 0.0, 1.0, 0.5)
        x = x_start + width * _horner(across, u)
        low, high = self.start, self.end
        under, over = (target - a * end.x - b * end.y for end in (low, high))
        x = select(under < 0, low.x + under / _positive(a + b * low.slope), x)
        return select(over > 0, high.x + over / _positive(a + b * high.slope), x)

    def _ordinate(self, x: ca.SX) -> ca.SX:
        inside = ca.fmin(ca.fmax(x, self.start.x), self.end.x)
        rows = np.array(
            [
                [s.x_start, 1 / s.width, s.x_first, s.x_second, *s.y, *s.guess[1:]]
                for s in self.sections
            ]
        )
        chosen = ca.SX(rows[0])
        for section, row in zip(self.sections[1:], rows[1:], strict=True):
            chosen = select(inside >= section.x_start, ca.SX(row), chosen)
        x_start, per_width, first, second, y_start, y_first, y_second, y_end = (
            chosen[k] for k in range(8)
        )
        s = (inside - x_start) * per_width
        guess = [0.0, *(chosen[k] for k in range(8, rows.shape[1]))]
        u = _newton(s, _horner(guess, s), _blend(first, second, 1.0), self.newton_steps)
        rise = _blend(y_first - y_start, y_second - y_start, y_end - y_start)
        y = y_start + _horner(rise, u)
        before, after = self.start, self.end
        y = select(x <= before.x, before.y + before.slope * (x - before.x), y)
        return select(x >= after.x, after.y + after.slope * (x - after.x), y)


def _positive(x: Array) -> Array:
    return ca.fmax(x, 1e-12)


def _blend(first: Array, second: Array, last: Array) -> list[Array]:
    """Coefficients of a section by power of its parameter."""
    return [
        0.0,
        5.0 * first,
        -10.0 * first,
        10.0 * second,
        10.0 * first - 15.0 * second,
        last - 5.0 * first + 5.0 * second,
    ]


def _horner(coefficients: Sequence[Array], x: Array) -> Array:
    total = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        total = total * x + coefficient
    return total


def _newton(s: Array, u: Array, abscissa: Sequence[Array], steps: int) -> Array:
    """The parameter at which a section has the abscissa ``s``."""
    slope = [power * c for power, c in enumerate(abscissa)][1:]
    for _ in range(steps):
        u = u - (_horner(abscissa, u) - s) / _horner(slope, u)
    return u


def _largest_error(section: CornerSection, u: np.ndarray, steps: int) -> float:
    s = _horner(list(section.abscissa), u)
    found = _newton(s, _horner(list(section.guess), s), list(section.abscissa), steps)
    return float(np.abs(found - u).max())
