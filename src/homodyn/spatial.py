"""3-D and 6-D algebra over any array type: numpy arrays of numbers or CasADi symbols alike.

Spatial vectors hold the angular part first: a motion is ``(omega, v_origin)``, a force is
``(moment_origin, force)``. Transforms and inertias are kept compact, as a rotation with an offset
and as ten numbers (Felis 2015, section 3.5.4), and never as 6x6 matrices unless asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

Array = Any
"""A numpy array or a CasADi matrix: whatever supports ``@``, ``+``, ``*``, slices and ``.T``."""


def is_symbolic(*values: object) -> bool:
    """Whether any of the values is a CasADi expression."""
    return any(isinstance(value, (ca.SX, ca.MX)) for value in values)


def stack(*parts: Array) -> Array:
    """Vectors (or matrices with equal columns) below each other."""
    if is_symbolic(*parts):
        return ca.vertcat(*parts)
    if any(np.ndim(part) == 2 for part in parts):
        return np.vstack(parts)
    return np.concatenate([np.atleast_1d(part) for part in parts])


def beside(*columns: Array) -> Array:
    """Vectors as the columns of a matrix, or matrices next to each other."""
    if is_symbolic(*columns):
        return ca.horzcat(*columns)
    return np.column_stack(columns)


def matrix(rows: list[list[Any]]) -> Array:
    """A matrix from nested lists of scalars, symbolic when any entry is."""
    flat = [entry for row in rows for entry in row]
    if is_symbolic(*flat):
        return ca.vertcat(*[ca.horzcat(*row) for row in rows])
    return np.array(rows)


def halves(m: Array) -> tuple[Array, Array]:
    """Angular and linear part of spatial vectors, given as one or as the columns of a matrix.

    A single slice of a symbolic matrix would count along its columns.
    """
    return (m[:3], m[3:]) if len(m.shape) == 1 else (m[:3, :], m[3:, :])


def skew(a: Array) -> Array:
    """Cross-product matrix: ``skew(a) @ b`` equals ``a x b``."""
    return matrix([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def unskew(m: Array) -> Array:
    """The vector whose cross-product matrix is the skew part of ``m``."""
    return stack((m[2, 1] - m[1, 2]) / 2, (m[0, 2] - m[2, 0]) / 2, (m[1, 0] - m[0, 1]) / 2)


def cross(a: Array, b: Array) -> Array:
    """``a x b`` for 3-vectors; ``b`` may also hold several columns."""
    if is_symbolic(a, b):
        if b.shape[-1] == 1 or len(b.shape) == 1:
            return ca.cross(ca.SX(a) if not is_symbolic(a) else a, b)
        return skew(a) @ b
    return np.cross(a, b, axisb=0, axisc=0) if np.ndim(b) == 2 else np.cross(a, b)


def cross_motion(v: Array, m: Array) -> Array:
    """Rate of a motion vector ``m`` that moves with velocity ``v`` (Felis eq. 3.21)."""
    w = v[:3]
    return stack(cross(w, m[:3]), cross(v[3:], m[:3]) + cross(w, m[3:]))


def cross_force(v: Array, f: Array) -> Array:
    """Rate of a force vector ``f`` that moves with velocity ``v``; minus the dual (eq. 3.22)."""
    w = v[:3]
    return stack(cross(w, f[:3]) + cross(v[3:], f[3:]), cross(w, f[3:]))


def symmetric(m: Array) -> Array:
    """Matrix with the upper triangle of ``m`` mirrored, so the lower one need not be computed."""
    n = m.shape[0]
    return matrix([[m[min(i, j), max(i, j)] for j in range(n)] for i in range(n)])


def sine_cosine(angle: Array) -> tuple[Array, Array]:
    """``sin`` and ``cos`` for numbers and symbols."""
    if is_symbolic(angle):
        return ca.sin(angle), ca.cos(angle)
    return np.sin(angle), np.cos(angle)


def rotation(axis: Array, angle: Array) -> Array:
    """Coordinate rotation ``E`` by ``angle`` (rad) about the unit ``axis``.

    ``E`` turns coordinates in the fixed frame into coordinates in the rotated one, so it is the
    transpose of the matrix that turns the vectors themselves.
    """
    s, c = sine_cosine(angle)
    x, y, z = (axis[i] for i in range(3))
    if not is_symbolic(axis):
        zero, one = 0 * s, 0 * s + 1
        main = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
        for sign in (1.0, -1.0):
            if (x, y, z) == tuple(sign * entry for entry in main[0]):
                return matrix([[one, zero, zero], [zero, c, sign * s], [zero, -sign * s, c]])
            if (x, y, z) == tuple(sign * entry for entry in main[1]):
                return matrix([[c, zero, -sign * s], [zero, one, zero], [sign * s, zero, c]])
            if (x, y, z) == tuple(sign * entry for entry in main[2]):
                return matrix([[c, sign * s, zero], [-sign * s, c, zero], [zero, zero, one]])
    t = 1 - c
    return matrix(
        [
            [c + t * x * x, t * x * y + s * z, t * x * z - s * y],
            [t * x * y - s * z, c + t * y * y, t * y * z + s * x],
            [t * x * z + s * y, t * y * z - s * x, c + t * z * z],
        ]
    )


def quaternion_rotation(q: Array) -> Array:
    """Coordinate rotation ``E`` of the unit quaternion ``q`` = (w, x, y, z), body in world."""
    w, x, y, z = (q[i] for i in range(4))
    return matrix(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)],
            [2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)],
            [2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_product(p: Array, q: Array) -> Array:
    """Hamilton product of (w, x, y, z) quaternions."""
    return stack(
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


def rpy_rotation(rpy: Array) -> Array:
    """Coordinate rotation ``E`` of fixed-axis roll, pitch, yaw (rad), as URDF writes it."""
    x, y, z = np.eye(3)
    return rotation(x, rpy[0]) @ rotation(y, rpy[1]) @ rotation(z, rpy[2])


@dataclass(frozen=True)
class Transform:
    """From frame A to frame B: B sits at ``r`` (in A) and ``E`` turns A- into B-coordinates."""

    E: Array
    r: Array

    @staticmethod
    def identity() -> Transform:
        """The transform that changes nothing."""
        return Transform(np.eye(3), np.zeros(3))

    def __matmul__(self, first: Transform) -> Transform:
        """``self @ first`` applies ``first`` and then ``self`` (Felis eq. 3.78)."""
        return Transform(self.E @ first.E, first.r + first.E.T @ self.r)

    def inverse(self) -> Transform:
        """From B back to A."""
        return Transform(self.E.T, -(self.E @ self.r))

    def motion(self, v: Array) -> Array:
        """Motion vectors (columns) from A- to B-coordinates."""
        w, linear = halves(v)
        return stack(self.E @ w, self.E @ (linear - cross(self.r, w)))

    def motion_back(self, v: Array) -> Array:
        """Motion vectors (columns) from B- to A-coordinates."""
        angular, linear = halves(v)
        w = self.E.T @ angular
        return stack(w, self.E.T @ linear + cross(self.r, w))

    def force(self, f: Array) -> Array:
        """Force vectors (columns) from A- to B-coordinates."""
        moment, force = halves(f)
        return stack(self.E @ (moment - cross(self.r, force)), self.E @ force)

    def force_back(self, f: Array) -> Array:
        """Force vectors (columns) from B- to A-coordinates: the transpose of ``motion``."""
        moment, force = halves(f)
        linear = self.E.T @ force
        return stack(self.E.T @ moment + cross(self.r, linear), linear)

    def point(self, p: Array) -> Array:
        """Coordinates in B of the point with A-coordinates ``p``."""
        return self.E @ (p - self.r)

    def point_back(self, p: Array) -> Array:
        """Coordinates in A of the point with B-coordinates ``p``."""
        return self.r + self.E.T @ p

    def motion_matrix(self) -> Array:
        """The 6x6 motion transform (Felis eq. 3.17)."""
        zero = np.zeros((3, 3))
        return stack(beside(self.E, zero), beside(-self.E @ skew(self.r), self.E))

    def force_matrix(self) -> Array:
        """The 6x6 force transform, the inverse transpose of ``motion_matrix``."""
        zero = np.zeros((3, 3))
        return stack(beside(self.E, -self.E @ skew(self.r)), beside(zero, self.E))


@dataclass(frozen=True)
class Inertia:
    """A rigid body in ten numbers: mass ``m`` (kg), first moment ``h`` = m c (kg m), ``I`` (kg m2).

    The moments are taken about the origin of the frame.
    """

    m: Array
    h: Array
    I: Array

    @staticmethod
    def at_com(mass: Array, com: Array, inertia: Array) -> Inertia:
        """From the centre of mass and the inertia about it: ``I = I_C + m c^ (c^)^T``.

        Felis eq. 3.15; the print has ``m c c^T``.
        """
        c = skew(com)
        return Inertia(mass, mass * com, symmetric(inertia + mass * (c @ c.T)))

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.m + other.m, self.h + other.h, self.I + other.I)

    def __matmul__(self, v: Array) -> Array:
        """Momentum of the body at velocity ``v`` (also several columns)."""
        w, linear = halves(v)
        return stack(self.I @ w + cross(self.h, linear), self.m * linear - cross(self.h, w))

    def moved_back(self, X: Transform) -> Inertia:
        """The same body seen from frame A, for ``X`` from A to the frame this is given in.

        ``I_A = X^T I_B X`` (Felis eq. 3.20 with the stars where they belong).
        """
        h = X.E.T @ self.h
        r = X.r
        shifted = h + self.m * r
        rx, hx, sx = skew(r), skew(h), skew(shifted)
        inertia = symmetric(X.E.T @ self.I @ X.E) - rx @ hx - sx @ rx
        return Inertia(self.m, shifted, symmetric(inertia))

    def matrix(self) -> Array:
        """The 6x6 inertia."""
        hx = skew(self.h)
        return stack(beside(self.I, hx), beside(-hx, self.m * np.eye(3)))


@dataclass(frozen=True)
class ArticulatedInertia:
    """A symmetric 6x6 inertia in blocks: ``[[I, H], [H^T, M]]``."""

    I: Array
    H: Array
    M: Array

    @staticmethod
    def of(body: Inertia) -> ArticulatedInertia:
        """The articulated inertia of a single rigid body."""
        return ArticulatedInertia(body.I, skew(body.h), body.m * np.eye(3))

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.I + other.I, self.H + other.H, self.M + other.M)

    def __matmul__(self, v: Array) -> Array:
        return stack(self.I @ v[:3] + self.H @ v[3:], self.H.T @ v[:3] + self.M @ v[3:])

    def minus_outer(self, U: Array, W: Array) -> ArticulatedInertia:
        """Minus ``U W^T``, for factors whose product is symmetric."""
        upper, lower = U[:3, :] @ W[:3, :].T, U[3:, :] @ W[3:, :].T
        return ArticulatedInertia(
            symmetric(self.I - upper), self.H - U[:3, :] @ W[3:, :].T, symmetric(self.M - lower)
        )

    def moved_back(self, X: Transform) -> ArticulatedInertia:
        """``X^T I X``: the same inertia seen from the frame ``X`` starts in."""
        E, rx = X.E, skew(X.r)
        M = symmetric(E.T @ self.M @ E)
        H = E.T @ self.H @ E
        shifted = H + rx @ M
        inertia = symmetric(E.T @ self.I @ E) + rx @ H.T - shifted @ rx
        return ArticulatedInertia(symmetric(inertia), shifted, M)

    def matrix(self) -> Array:
        """The 6x6 inertia."""
        return stack(beside(self.I, self.H), beside(self.H.T, self.M))
