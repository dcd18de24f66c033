"""Systems with a symmetric positive semidefinite matrix, solved over symbols without branches.

A = L D L^T exists for semidefinite A without pivoting when a pivot that vanishes is passed over:
its column of the remainder vanishes with it. Which pivots vanish is decided by a comparison in the
generated code, so one kernel serves states of full and of lower rank. With N = L^-T E, where E
keeps the columns passed over, the columns of N span the null space, P = 1 - N (N^T N)^-1 N^T
removes it, and

    A^+ b = P A^- P b

is the Moore-Penrose solution: least squares where the system has none, of minimum norm where it has
many. No number is added to A, and P is exactly the identity when no pivot vanishes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from homodyn.spatial import Array

DEPENDENT = 1e-10
"""A pivot below this part of its diagonal entry counts as zero.

The ratio is the squared sine of the angle between a row and those before it. Rounding leaves 1e-16
to 1e-13 in rows that depend on others; rows of contacts that differ have 1e-5 and more.
"""

SMALLEST = 1e-300
"""Below any pivot of a row that acts on something; keeps rows of zeros from dividing by zero."""


@dataclass(frozen=True, eq=False)
class Semidefinite:
    """The factor L D L^T of a semidefinite matrix, with what was passed over."""

    L: dict[tuple[int, int], Array]
    reciprocal: list[Array]
    independent: list[Array]
    """1 where the pivot was used, 0 where it was passed over."""

    @staticmethod
    def of(A: Sequence[Sequence[Array]]) -> Semidefinite:
        """Factorise a matrix given by its lower triangle, ``A[i][j]`` with j <= i."""
        n = len(A)
        L: dict[tuple[int, int], Array] = {}
        reciprocal: list[Array] = []
        independent: list[Array] = []
        for k in range(n):
            scaled: dict[int, Array] = {}
            pivot = A[k][k]
            for j in range(k):
                # L[k, j] D[j] before the division by the pivot.
                scaled[j] = A[k][j] - sum(L[j, i] * scaled[i] for i in range(j))
                L[k, j] = scaled[j] * reciprocal[j]
                pivot = pivot - scaled[j] * L[k, j]
            used, inverse = accepted(pivot, A[k][k])
            independent.append(used)
            reciprocal.append(inverse)
        return Semidefinite(L, reciprocal, independent)

    @property
    def rank(self) -> Array:
        """How many pivots were used."""
        return sum(self.independent, ca.SX(0))

    def solve(self, b: Sequence[Array]) -> list[Array]:
        """A^+ b."""
        return self.null.removed(self.basic(self.null.removed(b)))

    def basic(self, b: Sequence[Array]) -> list[Array]:
        """A solution with zeros where pivots were passed over; meets the other rows exactly."""
        n = len(self.reciprocal)
        x = list(b)
        for i in range(n):
            for j in range(i):
                x[i] = x[i] - self.L[i, j] * x[j]
        x = [entry * inverse for entry, inverse in zip(x, self.reciprocal, strict=True)]
        for i in reversed(range(n)):
            for j in range(i + 1, n):
                x[i] = x[i] - self.L[j, i] * x[j]
        return x

    @cached_property
    def null(self) -> NullSpace:
        """The null space of A."""
        return NullSpace.of(self.L, self.independent)


@dataclass(frozen=True, eq=False)
class NullSpace:
    """Vectors that span a null space, one for each pivot passed over and zero for the others."""

    columns: list[list[Array]]
    """Column k has k + 1 entries; those below vanish."""
    gram: Semidefinite

    @staticmethod
    def of(L: dict[tuple[int, int], Array], independent: list[Array]) -> NullSpace:
        """The columns of L^-T where pivots were passed over, for unit lower-triangular L."""
        n = len(independent)
        columns: list[list[Array]] = []
        for k in range(n):
            column: list[Array] = [ca.SX(0)] * (k + 1)
            column[k] = 1 - independent[k]
            for i in reversed(range(k)):
                column[i] = -sum(L[j, i] * column[j] for j in range(i + 1, k + 1))
            columns.append(column)
        gram = [
            [sum(columns[k][i] * columns[j][i] for i in range(j + 1)) for j in range(k + 1)]
            for k in range(n)
        ]
        for k in range(n):
            gram[k][k] = gram[k][k] + independent[k]
        return NullSpace(columns, Semidefinite.of(gram))

    def removed(self, b: Sequence[Array]) -> list[Array]:
        """What is left of a vector without its part in the null space: P b."""
        n = len(self.columns)
        along = [sum(c * x for c, x in zip(column, b, strict=False)) for column in self.columns]
        weights = self.gram.basic(along)
        return [b[i] - sum(self.columns[k][i] * weights[k] for k in range(i, n)) for i in range(n)]


def accepted(pivot: Array, size: Array) -> tuple[Array, Array]:
    """Whether a pivot stands out of the rounding of ``size`` (1 or 0), and its reciprocal or zero.

    Nothing is divided by zero, so derivatives pass as well.
    """
    floor = ca.fmax(DEPENDENT * size, SMALLEST)
    used = pivot > floor
    return used, used / ca.fmax(pivot, floor)
