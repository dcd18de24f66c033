"""Systems with a symmetric positive semidefinite matrix, solved over symbols without branches.

A = L D L^T exists for semidefinite A without pivoting if zero pivots are skipped: the rest of their
column is zero too. A comparison in the generated code decides which pivots are zero, so one kernel
serves states of full and of lower rank. With N = L^-T E, where E selects the skipped columns, the
columns of N span the null space, P = 1 - N (N^T N)^-1 N^T removes it, and

    A^+ b = P A^- P b

is the Moore-Penrose solution: the least-squares solution of minimum norm. Nothing is added to A,
and P is exactly the identity if no pivot is zero.

If A = Y^T W Y is given by the columns Y, orthogonalizing them gives the same L and D. A rounding
error e then leaves (e / s)^2 in a pivot that should be zero, where s is the smallest sine accepted
before; forming A leaves e / s^2. The first is far below any acceptable pivot, so ranks are found
without pivoting. For the second, rows must count as dependent much earlier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import casadi as ca

from homodyn.spatial import Array

DEPENDENT_SINE_SQUARED = 1e-10
"""Ratio of pivot and diagonal entry below which the pivot counts as zero: the squared sine of the
angle between a row and those before it."""

DEPENDENT_PRODUCT_RATIO = 1e-7
"""The same if only A is given: larger than the square root of the rounding error."""

MIN_RELATIVE_PIVOT = 1e-24
"""Ratio of pivot and largest diagonal entry below which a row is rounding error."""

MIN_PIVOT = 1e-300
"""Prevents division by zero for rows of zeros."""


@dataclass(frozen=True, eq=False)
class SemidefiniteFactor:
    """The factor L D L^T of a semidefinite matrix, with flags of the pivots that were used."""

    L: dict[tuple[int, int], Array]
    reciprocal: list[Array]
    independent: list[Array]
    """1 where the pivot was used, 0 where it was skipped."""

    @staticmethod
    def of(A: Sequence[Sequence[Array]]) -> SemidefiniteFactor:
        """Factorize a matrix given by its lower triangle, ``A[i][j]`` with j <= i."""
        L: dict[tuple[int, int], Array] = {}
        reciprocal: list[Array] = []
        independent: list[Array] = []
        floors = [_floor(size, DEPENDENT_PRODUCT_RATIO) for size in _diagonal(A)]
        for k, floor in enumerate(floors):
            # L[k, j] D[j], before the division by the pivot.
            scaled: dict[int, Array] = {}
            pivot = A[k][k]
            for j in range(k):
                scaled[j] = A[k][j] - sum(L[j, i] * scaled[i] for i in range(j))
                L[k, j] = scaled[j] * reciprocal[j]
                pivot = pivot - scaled[j] * L[k, j]
            _accept(pivot, floor, reciprocal, independent)
        return SemidefiniteFactor(L, reciprocal, independent)

    @property
    def rank(self) -> Array:
        """Number of pivots that were used."""
        return sum(self.independent, ca.SX(0))

    def solve(self, b: Sequence[Array]) -> list[Array]:
        """A^+ b."""
        return self.null.project_out(self.backward(self.forward(self.null.project_out(b))))

    def forward(self, b: Sequence[Array]) -> list[Array]:
        """D^- L^-1 b, with zeros where pivots were skipped."""
        x = list(b)
        for i in range(len(x)):
            for j in range(i):
                x[i] = x[i] - self.L[i, j] * x[j]
        return [entry * inverse for entry, inverse in zip(x, self.reciprocal, strict=True)]

    def backward(self, b: Sequence[Array]) -> list[Array]:
        """L^-T b."""
        x = list(b)
        for i in reversed(range(len(x))):
            for j in range(i + 1, len(x)):
                x[i] = x[i] - self.L[j, i] * x[j]
        return x

    @cached_property
    def null(self) -> NullSpace:
        """The null space of A: the columns of L^-T where pivots were skipped."""
        columns: list[dict[int, Array]] = []
        for k, used in enumerate(self.independent):
            column = {k: 1 - used}
            for i in reversed(range(k)):
                column[i] = -sum(self.L[j, i] * column[j] for j in range(i + 1, k + 1))
            columns.append(column)
        return NullSpace(OrthogonalFactor.of(columns, [1.0] * len(columns)))


@dataclass(frozen=True, eq=False)
class OrthogonalFactor:
    """Columns Y = Q L^T with Q^T W Q = D, for a diagonal weight W; so Y^T W Y = L D L^T.

    ``columns`` are those of Q, sparse, by entry. A column that depends on earlier ones has weight
    zero in ``factor``.
    """

    columns: list[dict[int, Array]]
    factor: SemidefiniteFactor

    @staticmethod
    def of(Y: Sequence[dict[int, Array]], weight: Sequence[Array]) -> OrthogonalFactor:
        """By modified Gram-Schmidt, without square roots."""
        columns: list[dict[int, Array]] = []
        weighted: list[dict[int, Array]] = []
        factor = SemidefiniteFactor({}, [], [])
        sizes = [_total(weight[i] * y * y for i, y in column.items()) for column in Y]
        floors = [_floor(size, DEPENDENT_SINE_SQUARED) for size in _with_largest(sizes)]
        for k, column in enumerate(Y):
            rest = dict(column)
            for j in range(k):
                shared = [i for i in weighted[j] if i in rest]
                along = _total(weighted[j][i] * rest[i] for i in shared)
                factor.L[k, j] = along * factor.reciprocal[j]
                if shared:
                    for i, y in columns[j].items():
                        rest[i] = rest.get(i, 0) - factor.L[k, j] * y
            columns.append(rest)
            weighted.append({i: weight[i] * y for i, y in rest.items()})
            pivot = _total(weighted[k][i] * y for i, y in rest.items())
            _accept(pivot, floors[k], factor.reciprocal, factor.independent)
        return OrthogonalFactor(columns, factor)

    def combine(self, strengths: Sequence[Array], n: int) -> list[Array]:
        """Q strengths, as a list of n entries."""
        result: list[Array] = [ca.SX(0)] * n
        for column, strength in zip(self.columns, strengths, strict=True):
            for i, y in column.items():
                result[i] = result[i] + y * strength
        return result


@dataclass(frozen=True, eq=False)
class NullSpace:
    """Orthogonal vectors that span a null space; those of used pivots are zero."""

    basis: OrthogonalFactor

    def project_out(self, b: Sequence[Array]) -> list[Array]:
        """A vector without its component in the null space: P b."""
        x = list(b)
        for column, inverse in zip(self.basis.columns, self.basis.factor.reciprocal, strict=True):
            along = _total(y * x[i] for i, y in column.items()) * inverse
            for i, y in column.items():
                x[i] = x[i] - y * along
        return x


def _accept(pivot: Array, floor: Array, reciprocal: list[Array], independent: list[Array]) -> None:
    """Append the reciprocal of a pivot above the floor, or zero, and the flag.

    Nothing is divided by zero, so derivatives exist as well. As in ``pivot_reciprocal``, CasADi
    does not rewrite the quotient of a comparison.
    """
    used = pivot > floor
    independent.append(used)
    reciprocal.append(used / ca.fmax(pivot, floor))


def _floor(sizes: tuple[Array, Array], tolerance: float) -> Array:
    """The bound of a pivot, given its diagonal entry and the largest one."""
    own, largest = sizes
    return ca.fmax(ca.fmax(tolerance * own, MIN_RELATIVE_PIVOT * largest), MIN_PIVOT)


def _diagonal(A: Sequence[Sequence[Array]]) -> list[tuple[Array, Array]]:
    return _with_largest([A[k][k] for k in range(len(A))])


def _with_largest(sizes: list[Array]) -> list[tuple[Array, Array]]:
    largest = reduce(ca.fmax, sizes, ca.SX(0))
    return [(size, largest) for size in sizes]


def _total(terms: object) -> Array:
    return sum(terms, ca.SX(0))  # type: ignore[call-overload]
