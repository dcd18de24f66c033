"""Polynomials fitted to the lengths of muscles; their arms are the exact derivatives.

Optimal control and rollouts need lengths and arms that are smooth and cheap. A muscle's length is
fitted over the coordinates that move it, with products of Chebyshev polynomials up to a total
order. The fit weighs lengths and moment arms together; arms are minus the derivatives of the fitted
length, so that a muscle does as much work on the coordinates as its shortening.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.muscle.geometry.tangent_rule import OPENSIM
from homodyn.muscle.paths import lengths, moment_arms
from homodyn.spatial import Array, ArrayInput, is_symbolic
from homodyn.symbolic import Kernel, kernel

MAX_ORDER = 7
LENGTH_TOLERANCE_M = 5e-4
ARM_TOLERANCE_M = 1e-3
"""Root mean square errors at which the order is not raised further."""
FITTED_STATES = 4000
CHECKED_STATES = 1000
"""Samples that are not fitted, from which errors are stated."""
SMALLEST_ARM_M = 1e-9
"""A coordinate with smaller arms in all samples does not move the muscle."""


@record
class MusclePolynomial(Record):
    """The length of one muscle as a polynomial, and its errors in states that were not fitted."""

    muscle: str
    coordinates: tuple[str, ...]
    """The coordinates that move the muscle."""
    order: int
    """Largest total order."""
    exponents: np.ndarray
    """(terms, coordinates): orders of the Chebyshev polynomials of each term."""
    coefficients: np.ndarray
    """(terms,), m."""
    length_rms_m: float
    length_max_m: float
    arm_rms_m: float
    """Of the arms of all its coordinates."""
    arm_max_m: float


@record
class PathPolynomials(Record):
    """Polynomials of all muscles of a model.

    Made by `fit_polynomials`. ``lengths`` and ``moment_arms`` take numbers of any batch shape, or
    symbols.
    """

    model: str
    """Name of the model."""
    coordinates: tuple[str, ...]
    """Coordinates of the model in the order of ``v``."""
    lower: np.ndarray
    """Lower ends of the ranges in which the polynomials hold, (nv,), rad or m."""
    upper: np.ndarray
    """Upper ends, (nv,), rad or m."""
    polynomials: tuple[MusclePolynomial, ...]
    """In the order of the muscles of the model."""

    def lengths(self, q: ArrayInput) -> np.ndarray:
        """Lengths of all muscles.

        Args:
            q: Positions, (..., nv), or symbols.

        Returns:
            (..., muscles), m.
        """
        return self._lengths(q) if is_symbolic(q) else np.asarray(self.length_kernel(q))

    def moment_arms(self, q: ArrayInput) -> np.ndarray:
        """Moment arms of all muscles: minus the derivatives of the lengths.

        Args:
            q: Positions, (..., nv), or symbols.

        Returns:
            (..., muscles, nv), m.
        """
        return self._arms(q) if is_symbolic(q) else np.asarray(self.arm_kernel(q))

    @cached_property
    def length_kernel(self) -> Kernel:
        """Kernel of `lengths`."""
        return kernel(self._lengths, q=len(self.coordinates), name="muscle length polynomials")

    @cached_property
    def arm_kernel(self) -> Kernel:
        """Kernel of `moment_arms`."""
        return kernel(self._arms, q=len(self.coordinates), name="moment arm polynomials")

    def _lengths(self, q: Array) -> Array:
        scaled = (2 * q - (self.upper + self.lower)) / (self.upper - self.lower)
        order = max(one.order for one in self.polynomials)
        table = [chebyshev(scaled[k], order) for k in range(len(self.coordinates))]
        index = {name: k for k, name in enumerate(self.coordinates)}
        rows = []
        for one in self.polynomials:
            columns = [table[index[name]] for name in one.coordinates]
            rows.append(_nested_sum(one.exponents, one.coefficients, columns))
        return ca.vertcat(*rows)

    def _arms(self, q: Array) -> Array:
        symbols = ca.SX.sym("q", len(self.coordinates))
        arms = ca.Function("arms", [symbols], [-ca.jacobian(self._lengths(symbols), symbols)])
        return arms.call([ca.SX(q)], True, False)[0]

    def to_rows(self) -> list[dict[str, object]]:
        """Order, coordinates and errors of every muscle, for tables."""
        return [
            {
                "muscle": one.muscle,
                "coordinates": len(one.coordinates),
                "order": one.order,
                "terms": len(one.coefficients),
                "length rms (mm)": 1e3 * one.length_rms_m,
                "length max (mm)": 1e3 * one.length_max_m,
                "arm rms (mm)": 1e3 * one.arm_rms_m,
                "arm max (mm)": 1e3 * one.arm_max_m,
            }
            for one in self.polynomials
        ]


def chebyshev(x: Array, order: int) -> list[Array]:
    """Chebyshev polynomials T_0 to T_order of a number, an array or a symbol."""
    values: list[Array] = [1.0 + 0 * x, x]
    for _ in range(order - 1):
        values.append(2 * x * values[-1] - values[-2])
    return values[: order + 1]


def _nested_sum(exponents: np.ndarray, coefficients: np.ndarray, columns: Sequence) -> Array:
    """Sum of terms, factored by the coordinates from the first to the last."""
    if not columns:
        return float(coefficients.sum())
    total: Array = 0.0
    for power in np.unique(exponents[:, 0]):
        rows = exponents[:, 0] == power
        inner = _nested_sum(exponents[rows, 1:], coefficients[rows], columns[1:])
        total = total + (inner if power == 0 else columns[0][int(power)] * inner)
    return total


def fit_polynomials(
    model: Model,
    *,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    max_order: int = MAX_ORDER,
    length_tolerance_m: float = LENGTH_TOLERANCE_M,
    arm_tolerance_m: float = ARM_TOLERANCE_M,
    wrapping: str = OPENSIM,
    seed: int = 1,
) -> PathPolynomials:
    """Fit polynomials to the lengths and moment arms of all muscles.

    Args:
        model: A model with muscles.
        ranges: Range of each coordinate (rad, m) in which the polynomials shall hold; the limits of
            the model by default, half a turn at most.
        max_order: Largest total order.
        length_tolerance_m: Root mean square error of a length at which the order suffices, if that
            of the arms does too.
        arm_tolerance_m: Root mean square error of the moment arms at which the order suffices.
        wrapping: ``"opensim"`` or ``"geodesic"``; see `lengths`.
        seed: Seed of the random states.

    Returns:
        The polynomials. Their errors are those in states that were not fitted.

    Raises:
        ModelError: The model has no muscles or has ball joints with quaternions, or a range is
            empty or of an unknown coordinate.
    """
    if model.nq != model.nv:
        raise ModelError(
            f"model {model.name!r} has joints with quaternions, over which polynomials are not "
            "fitted; use euler joints"
        )
    lower, upper = _ranges(model, ranges or {})
    states = np.random.default_rng(seed).uniform(
        lower, upper, (FITTED_STATES + CHECKED_STATES, model.nv)
    )
    all_lengths = lengths(model, states, wrapping)
    all_arms = moment_arms(model, states, wrapping)
    scaled = (2 * states - (upper + lower)) / (upper - lower)
    width = (upper - lower) / 2
    found = []
    for k, muscle in enumerate(model.muscles):
        moving = np.flatnonzero((np.abs(all_arms[:, k]) > SMALLEST_ARM_M).any(axis=0))
        fit = _Fit(scaled[:, moving], all_lengths[:, k], all_arms[:, k][:, moving], width[moving])
        for order in range(1, max_order + 1):
            errors = fit.solve(order)
            if errors[0] <= length_tolerance_m and errors[2] <= arm_tolerance_m:
                break
        names = tuple(model.coordinate_names[j] for j in moving)
        found.append(
            MusclePolynomial(muscle.name, names, order, fit.exponents, fit.coefficients, *errors)
        )
    return PathPolynomials(model.name, model.coordinate_names, lower, upper, tuple(found))


def _ranges(
    model: Model, given: Mapping[str, tuple[float, float]]
) -> tuple[np.ndarray, np.ndarray]:
    lower, upper = np.maximum(model.lower, -np.pi), np.minimum(model.upper, np.pi)
    for name, (low, high) in given.items():
        if name not in model.coordinate_names:
            raise ModelError(unknown_name("coordinate", name, model.coordinate_names))
        if not low < high:
            raise ModelError(f"coordinate {name!r}: range must not be empty, got {low} to {high}")
        k = model.coordinate_names.index(name)
        lower[k], upper[k] = low, high
    narrow = upper - lower <= 0
    upper = np.where(narrow, lower + 1e-6, upper)
    return lower, upper


class _Fit:
    """Least squares over the length of one muscle and its arms.

    Args:
        x: Coordinates that move it, scaled to -1 to 1, (samples, coordinates).
        length: (samples,), m.
        arms: (samples, coordinates), m.
        width: Half of the range of each coordinate.
    """

    def __init__(self, x: np.ndarray, length: np.ndarray, arms: np.ndarray, width: np.ndarray):
        self.x, self.length, self.arms, self.width = x, length, arms, width
        self.exponents, self.coefficients = np.zeros((1, x.shape[1]), dtype=int), np.zeros(1)

    def solve(self, order: int) -> tuple[float, float, float, float]:
        """Fit with a total order; rms and largest error of length, then of arms (m)."""
        count = self.x.shape[1]
        orders = itertools.product(range(order + 1), repeat=count)
        kept_orders = [one for one in orders if sum(one) <= order]
        self.exponents = np.array(kept_orders, dtype=int).reshape(len(kept_orders), count)
        values, slopes = self._basis(order)
        kept = slice(0, FITTED_STATES)
        rows = np.vstack([values[kept], *(-slope[kept] for slope in slopes)])
        goals = np.concatenate([self.length[kept], *self.arms[kept].T])
        self.coefficients = np.linalg.lstsq(rows, goals, rcond=None)[0]
        length = values[FITTED_STATES:] @ self.coefficients - self.length[FITTED_STATES:]
        arms = np.array([-slope[FITTED_STATES:] @ self.coefficients for slope in slopes])
        error = arms.T - self.arms[FITTED_STATES:] if count else np.zeros((1, 1))
        return (
            float(np.sqrt(np.mean(length**2))),
            float(np.abs(length).max()),
            float(np.sqrt(np.mean(error**2))),
            float(np.abs(error).max()),
        )

    def _basis(self, order: int) -> tuple[np.ndarray, list[np.ndarray]]:
        """Values of all terms in all samples, and their derivatives by each coordinate."""
        count = self.x.shape[1]
        identity = np.eye(order + 1)
        tables = [np.polynomial.chebyshev.chebvander(self.x[:, j], order) for j in range(count)]
        rates = [
            np.column_stack(
                [
                    np.polynomial.chebyshev.chebval(
                        self.x[:, j], np.polynomial.chebyshev.chebder(identity[n])
                    )
                    for n in range(order + 1)
                ]
            )
            / self.width[j]
            for j in range(count)
        ]

        def product(columns: Sequence[np.ndarray]) -> np.ndarray:
            total = np.ones((len(self.x), len(self.exponents)))
            for j, column in enumerate(columns):
                total = total * column[:, self.exponents[:, j]]
            return total

        slopes = [
            product([rates[j] if j == k else tables[j] for j in range(count)]) for k in range(count)
        ]
        return product(tables), slopes
