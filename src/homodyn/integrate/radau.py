"""Radau IIA of order 5: an implicit Runge-Kutta method for stiff systems, step by step.

Hairer and Wanner, Solving ordinary differential equations II, IV.8. The stages Z of a step solve

    Z_i = h sum_j A_ij f(t + c_j h, y + Z_j)

by simplified Newton iterations. The eigenvectors of A^-1 split the linear equations of the three
stages into a real system and a complex one. The method is stable for steps of any length and
damps fast components; its error estimate and its steps do not depend on the accuracy of the
Jacobian, only the number of iterations does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs, zgetrf, zgetrs

_ROOT = float(np.sqrt(6.0))
NODES = np.array([(4 - _ROOT) / 10, (4 + _ROOT) / 10, 1.0])
"""Fractions of the step at which the stages are."""
COEFFICIENTS = np.array(
    [
        [(88 - 7 * _ROOT) / 360, (296 - 169 * _ROOT) / 1800, (-2 + 3 * _ROOT) / 225],
        [(296 + 169 * _ROOT) / 1800, (88 + 7 * _ROOT) / 360, (-2 - 3 * _ROOT) / 225],
        [(16 - _ROOT) / 36, (16 + _ROOT) / 36, 1 / 9],
    ]
)
"""Butcher matrix; the last row has the weights of the step."""
QUADRATURE_WEIGHTS = COEFFICIENTS[-1]
"""Weights of the stages in the integral of a rate over a step."""
ERROR_WEIGHTS = np.array([-13 - 7 * _ROOT, -13 + 7 * _ROOT, -1]) / 3
"""Weights of Z / h in the error estimate."""
MAX_ITERATIONS = 7
"""Newton iterations of a step."""
MIN_CONVERGENCE_MARGIN = 1e-2
"""Fraction of the tolerance to which the iterations converge."""

_values, _vectors = np.linalg.eig(np.linalg.inv(COEFFICIENTS))
_real = int(np.argmin(np.abs(_values.imag)))
_complex = int(np.argmax(_values.imag))
_inverse = np.linalg.inv(_vectors)
REAL_EIGENVALUE = float(_values[_real].real)
COMPLEX_EIGENVALUE = complex(_values[_complex])
_TO_REAL, _TO_COMPLEX = _inverse[_real].real, _inverse[_complex]
_FROM_REAL, _FROM_COMPLEX = _vectors[:, _real].real, _vectors[:, _complex]
_INTERPOLATION = np.linalg.inv(NODES[:, None] ** np.arange(1, 4))

StageSlopes = Callable[[np.ndarray, np.ndarray], np.ndarray | None]
"""Rates at times (3,) and states (3, n), which may have more entries than the state: quadratures,
(3, n or more); None where the system is not smooth."""


@dataclass(frozen=True, eq=False)
class RadauFactors:
    """Factors of the two linear systems for a Jacobian and a step length."""

    h: float
    real: tuple[np.ndarray, np.ndarray]
    complex: tuple[np.ndarray, np.ndarray]

    def solve_real(self, rhs: np.ndarray) -> np.ndarray:
        """Solve (lambda / h - J) x = rhs with the real eigenvalue."""
        return np.asarray(dgetrs(*self.real, rhs)[0])

    def solve_complex(self, rhs: np.ndarray) -> np.ndarray:
        """Solve (lambda / h - J) x = rhs with the complex eigenvalue."""
        return np.asarray(zgetrs(*self.complex, rhs)[0])


def radau_factors(jacobian: np.ndarray, h: float) -> RadauFactors:
    """Factorize the linear systems of a step.

    Args:
        jacobian: Derivatives of the rates, (n, n).
        h: Length of the step (s).

    Returns:
        The factors.
    """
    identity = np.eye(len(jacobian))
    real = dgetrf(REAL_EIGENVALUE / h * identity - jacobian)
    imaginary = zgetrf(COMPLEX_EIGENVALUE / h * identity - jacobian)
    return RadauFactors(h, real[:2], imaginary[:2])


@dataclass(frozen=True, eq=False)
class RadauStep:
    """A step whose stages have converged.

    Attributes:
        y: State at the end, (n,).
        stages: Changes Z of the state up to each stage, (3, n).
        slopes: Rates at the stages, (3, n or more).
        error: Estimate of the error, (n,).
        iterations: Newton iterations.
    """

    y: np.ndarray
    stages: np.ndarray
    slopes: np.ndarray
    error: np.ndarray
    iterations: int

    def changes(self, fractions: np.ndarray) -> np.ndarray:
        """Changes of the state by the collocation polynomial, of order 3.

        Args:
            fractions: Where in the step, (k,); beyond 1 extrapolates.

        Returns:
            (k, n).
        """
        powers = np.asarray(fractions)[:, None] ** np.arange(1, 4)
        return np.asarray(powers @ (_INTERPOLATION @ self.stages))


def predicted_stages(last: RadauStep, ratio: float) -> np.ndarray:
    """Stages of the next step, extrapolated from the last one.

    Args:
        last: The last step.
        ratio: Length of the next step over that of the last one.

    Returns:
        (3, n).
    """
    return last.changes(1 + ratio * NODES) - last.stages[2]


def radau_step(
    f: StageSlopes,
    t: float,
    y: np.ndarray,
    slope: np.ndarray,
    factors: RadauFactors,
    allowed: np.ndarray,
    guess: np.ndarray | None = None,
) -> RadauStep | None:
    """Take one step of Radau IIA.

    Args:
        f: Rates at the stages.
        t: Time at the start (s).
        y: State at the start, (n,).
        slope: Rate at the start, (n,).
        factors: Factors for the length of the step.
        allowed: Error that is allowed in each entry, (n,).
        guess: Stages to start from, (3, n); zero by default.

    Returns:
        The step; None if the system is not smooth at its stages, or the iterations do not converge.
    """
    h = factors.h
    Z = np.zeros((3, len(y))) if guess is None else guess
    real = _TO_REAL @ Z
    split = _TO_COMPLEX @ Z
    last, rate = np.inf, np.inf
    for iteration in range(1, MAX_ITERATIONS + 1):
        slopes = f(t + h * NODES, y + Z)
        if slopes is None:
            return None
        own = slopes[:, : len(y)]
        real_change = factors.solve_real(_TO_REAL @ own - REAL_EIGENVALUE / h * real)
        change = factors.solve_complex(_TO_COMPLEX @ own - COMPLEX_EIGENVALUE / h * split)
        real = real + real_change
        split = split + change
        # The complex part counts twice: with its conjugate.
        correction = np.outer(_FROM_REAL, real_change) + 2 * np.outer(_FROM_COMPLEX, change).real
        Z = Z + correction
        size = float(np.max(np.abs(correction) / allowed))
        if not np.isfinite(size):
            return None
        if np.isfinite(last):
            rate = size / last
            remaining = MAX_ITERATIONS - iteration
            if rate >= 1 or rate**remaining / (1 - rate) * size > MIN_CONVERGENCE_MARGIN:
                return None
        if size == 0 or (rate < 1 and rate / (1 - rate) * size < MIN_CONVERGENCE_MARGIN):
            break
        last = size
    else:
        return None
    error = factors.solve_real(slope + ERROR_WEIGHTS @ Z / h)
    return RadauStep(y + Z[2], Z, slopes, error, iteration)


def refined_error(factors: RadauFactors, step: RadauStep, slope: np.ndarray) -> np.ndarray:
    """Estimate the error of a step without the part that stiff components add at first.

    Args:
        factors: Factors of the step.
        step: The step.
        slope: Rate at the start, for the state there plus the first estimate, (n,).

    Returns:
        The error, (n,).
    """
    return factors.solve_real(slope + ERROR_WEIGHTS @ step.stages / factors.h)
