"""3-D and 6-D algebra over numpy arrays or CasADi symbols.

Spatial vectors have the angular part first: a motion is ``(omega, v_origin)``, a force is
``(moment_origin, force)``. Transforms and inertias are compact: a rotation with an offset, and ten
numbers (Felis 2015, section 3.5.4). 6x6 matrices exist only on request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, Protocol, TypeAlias

import casadi as ca
import numpy as np

Array = Any
"""A numpy array or a CasADi matrix: whatever supports ``@``, ``+``, ``*``, slices and ``.T``."""


class SymbolicArray(Protocol):
    """A CasADi expression, which functions of state accept in the place of numbers."""

    def numel(self) -> int:
        """Number of entries."""

    def is_constant(self) -> bool:
        """Whether it contains no symbols."""


ArrayInput: TypeAlias = "np.ndarray | Sequence[float] | Sequence[Sequence[float]] | SymbolicArray"
"""An array argument: numbers of any batch shape, or a CasADi expression."""

ScalarInput: TypeAlias = "float | np.ndarray | SymbolicArray"
"""A number, an array of them for a batch, or a CasADi expression."""

Wrenches: TypeAlias = Mapping[str, ArrayInput]
"""Wrenches (moment, force) by the name of the frame they act at."""

ParameterValues: TypeAlias = "Mapping[str, ScalarInput] | ArrayInput"
"""Values of the parameters of a model, by name or as an array in their order."""

EYE, ORIGIN = np.eye(3), np.zeros(3)
"""Identity rotation and zero offset. Transforms recognize these two arrays and skip them."""
EYE.flags.writeable = ORIGIN.flags.writeable = False


def is_symbolic(*values: object) -> bool:
    """Whether any of the values is a CasADi expression."""
    return any(isinstance(value, (ca.SX, ca.MX)) for value in values)


def reuse_graph(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Trace a formula over arrays once for each set of shapes, then reuse its graph.

    An operation on symbols that is called from Python takes far more time than the instruction it
    adds. A graph is inserted by one call, and zeros and ones among the arguments are simplified as
    in the formula itself.
    """
    graphs: dict[Any, tuple[ca.Function, bool]] = {}

    @wraps(formula)
    def call(*arrays: Array) -> Any:
        if not any(isinstance(array, ca.SX) for array in arrays):
            return formula(*arrays)
        given = [(a, a.size()) if type(a) is ca.SX else _constant(a) for a in arrays]
        shapes = tuple([shape for _, shape in given])
        if shapes not in graphs:
            symbols = [ca.SX.sym("x", *shape) for shape in shapes]
            result = formula(*symbols)
            several = isinstance(result, tuple)
            outputs = [ca.densify(part) for part in (result if several else (result,))]
            graphs[shapes] = ca.Function(formula.__name__.strip("_"), symbols, outputs), several
        graph, several = graphs[shapes]
        results = graph.call([array for array, _ in given], True, False)
        return tuple(results) if several else results[0]

    return call


def _constant(array: Array) -> tuple[ca.SX, tuple[int, int]]:
    """Numbers as a constant expression, and their shape; cached, since the same numbers recur."""
    numbers = np.asarray(array, dtype=float)
    return _constant_of(numbers.tobytes(), numbers.shape)


@lru_cache(maxsize=4096)
def _constant_of(numbers: bytes, shape: tuple[int, ...]) -> tuple[ca.SX, tuple[int, int]]:
    result = ca.SX(np.frombuffer(numbers).reshape(shape))
    return result, result.shape


def stack(*parts: Array) -> Array:
    """Vectors, or matrices with equally many columns, stacked vertically."""
    if is_symbolic(*parts):
        return ca.vertcat(*parts)
    if any(np.ndim(part) == 2 for part in parts):
        return np.vstack(parts)
    return np.concatenate([np.atleast_1d(part) for part in parts])


def stack_columns(*columns: Array) -> Array:
    """Vectors as columns of a matrix, or matrices stacked horizontally."""
    if is_symbolic(*columns):
        return ca.horzcat(*columns)
    return np.column_stack(columns)


def matrix(rows: list[list[Any]]) -> Array:
    """A matrix from nested lists of scalars, symbolic when any entry is."""
    flat = [entry for row in rows for entry in row]
    if is_symbolic(*flat):
        return ca.vertcat(*[ca.horzcat(*row) for row in rows])
    return np.array(rows)


def split_spatial(m: Array) -> tuple[Array, Array]:
    """Angular and linear part of a spatial vector, or of the columns of a matrix.

    A single slice of a symbolic matrix would run along its columns.
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


@reuse_graph
def cross_motion(v: Array, m: Array) -> Array:
    """Rate of a motion vector ``m`` that moves with velocity ``v`` (Felis eq. 3.21)."""
    w = v[:3]
    return stack(cross(w, m[:3]), cross(v[3:], m[:3]) + cross(w, m[3:]))


@reuse_graph
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

    ``E`` maps coordinates in the fixed frame to coordinates in the rotated frame. It is the
    transpose of the matrix that rotates vectors.
    """
    s, c = sine_cosine(angle)
    if not is_symbolic(axis):
        for k, about in enumerate((_about_x, _about_y, _about_z)):
            if abs(axis[k]) == 1.0:
                return about(s if axis[k] > 0 else -s, c)
    return _rotation(axis, s, c)


@reuse_graph
def _about_x(s: Array, c: Array) -> Array:
    zero, one = 0 * s, 0 * s + 1
    return matrix([[one, zero, zero], [zero, c, s], [zero, -s, c]])


@reuse_graph
def _about_y(s: Array, c: Array) -> Array:
    zero, one = 0 * s, 0 * s + 1
    return matrix([[c, zero, -s], [zero, one, zero], [s, zero, c]])


@reuse_graph
def _about_z(s: Array, c: Array) -> Array:
    zero, one = 0 * s, 0 * s + 1
    return matrix([[c, s, zero], [-s, c, zero], [zero, zero, one]])


@reuse_graph
def _rotation(axis: Array, s: Array, c: Array) -> Array:
    """Rodrigues' formula, transposed."""
    x, y, z = (axis[i] for i in range(3))
    t = 1 - c
    return matrix(
        [
            [c + t * x * x, t * x * y + s * z, t * x * z - s * y],
            [t * x * y - s * z, c + t * y * y, t * y * z + s * x],
            [t * x * z + s * y, t * y * z - s * x, c + t * z * z],
        ]
    )


@reuse_graph
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
    """Coordinate rotation ``E`` of fixed-axis roll, pitch, yaw (rad), as in URDF."""
    x, y, z = np.eye(3)
    return rotation(x, rpy[0]) @ rotation(y, rpy[1]) @ rotation(z, rpy[2])


def rotate(E: Array, v: Array) -> Array:
    """``E v``."""
    return v if E is EYE else E @ v


def rotate_back(E: Array, v: Array) -> Array:
    """``E^T v``."""
    return v if E is EYE else E.T @ v


@reuse_graph
def _compose(E: Array, r: Array, first_E: Array, first_r: Array) -> tuple[Array, Array]:
    return E @ first_E, first_r + first_E.T @ r


@reuse_graph
def _motion(E: Array, r: Array, v: Array) -> Array:
    w, linear = split_spatial(v)
    return stack(E @ w, E @ (linear - cross(r, w)))


@reuse_graph
def _motion_back(E: Array, r: Array, v: Array) -> Array:
    angular, linear = split_spatial(v)
    w = E.T @ angular
    return stack(w, E.T @ linear + cross(r, w))


@reuse_graph
def _force(E: Array, r: Array, f: Array) -> Array:
    moment, force = split_spatial(f)
    return stack(E @ (moment - cross(r, force)), E @ force)


@reuse_graph
def _force_back(E: Array, r: Array, f: Array) -> Array:
    moment, force = split_spatial(f)
    linear = E.T @ force
    return stack(E.T @ moment + cross(r, linear), linear)


@dataclass(frozen=True)
class Transform:
    """From frame A to frame B: B is at ``r`` in A, and ``E`` maps A- to B-coordinates."""

    E: Array
    """Coordinate rotation, (3, 3)."""
    r: Array
    """Origin of B in A, (3,), m."""

    def __repr__(self) -> str:
        if is_symbolic(self.E, self.r):
            return "Transform(symbolic)"
        offset = ", ".join(f"{entry:.6g}" for entry in np.ravel(self.r))
        if np.array_equal(self.E, EYE):
            return f"Transform(r=[{offset}])"
        rows = ", ".join(f"[{', '.join(f'{x:.4g}' for x in row)}]" for row in np.asarray(self.E))
        return f"Transform(r=[{offset}], E=[{rows}])"

    @staticmethod
    def identity() -> Transform:
        """The identity transform."""
        return Transform(EYE, ORIGIN)

    def __matmul__(self, first: Transform) -> Transform:
        """``self @ first`` applies ``first`` and then ``self`` (Felis eq. 3.78)."""
        if isinstance(self.E, ca.SX) and isinstance(first.E, ca.SX):
            return Transform(*_compose(self.E, self.r, first.E, first.r))
        E = self.E if first.E is EYE else rotate(self.E, first.E)
        if self.r is ORIGIN:
            return Transform(E, first.r)
        shift = rotate_back(first.E, self.r)
        return Transform(E, shift if first.r is ORIGIN else first.r + shift)

    def inverse(self) -> Transform:
        """From B back to A."""
        E = self.E if self.E is EYE else self.E.T
        return Transform(E, ORIGIN if self.r is ORIGIN else -rotate(self.E, self.r))

    def motion(self, v: Array) -> Array:
        """Motion vectors (columns) from A- to B-coordinates."""
        return v if self._is_identity else _motion(self.E, self.r, v)

    def motion_back(self, v: Array) -> Array:
        """Motion vectors (columns) from B- to A-coordinates."""
        return v if self._is_identity else _motion_back(self.E, self.r, v)

    def force(self, f: Array) -> Array:
        """Force vectors (columns) from A- to B-coordinates."""
        return f if self._is_identity else _force(self.E, self.r, f)

    def force_back(self, f: Array) -> Array:
        """Force vectors (columns) from B- to A-coordinates: the transpose of ``motion``."""
        return f if self._is_identity else _force_back(self.E, self.r, f)

    @property
    def _is_identity(self) -> bool:
        return self.E is EYE and self.r is ORIGIN

    def point(self, p: Array) -> Array:
        """Coordinates in B of the point with A-coordinates ``p``."""
        return rotate(self.E, p - self.r)

    def point_back(self, p: Array) -> Array:
        """Coordinates in A of the point with B-coordinates ``p``."""
        return self.r + rotate_back(self.E, p)

    def motion_matrix(self) -> Array:
        """The 6x6 motion transform (Felis eq. 3.17)."""
        zero = np.zeros((3, 3))
        return stack(stack_columns(self.E, zero), stack_columns(-self.E @ skew(self.r), self.E))


@reuse_graph
def _momentum(m: Array, h: Array, I: Array, v: Array) -> Array:
    w, linear = split_spatial(v)
    return stack(I @ w + cross(h, linear), m * linear - cross(h, w))


@reuse_graph
def _force_of_motion(m: Array, h: Array, I: Array, v: Array, a: Array) -> Array:
    return _momentum(m, h, I, a) + cross_force(v, _momentum(m, h, I, v))


@reuse_graph
def _transform_inertia_back(
    m: Array, h: Array, I: Array, E: Array, r: Array
) -> tuple[Array, Array]:
    h = E.T @ h
    shifted = h + m * r
    rx, hx, sx = skew(r), skew(h), skew(shifted)
    inertia = symmetric(E.T @ I @ E) - rx @ hx - sx @ rx
    return shifted, symmetric(inertia)


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
        """From the center of mass and the inertia about it: ``I = I_C + m c^ (c^)^T``.

        Felis eq. 3.15; the print has ``m c c^T``.
        """
        c = skew(com)
        return Inertia(mass, mass * com, symmetric(inertia + mass * (c @ c.T)))

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.m + other.m, self.h + other.h, self.I + other.I)

    def __matmul__(self, v: Array) -> Array:
        """Momentum of the body at velocity ``v`` (also several columns)."""
        return _momentum(self.m, self.h, self.I, v)

    def force(self, v: Array, a: Array) -> Array:
        """Force on the body at velocity ``v`` and acceleration ``a``: I a + v x* I v."""
        return _force_of_motion(self.m, self.h, self.I, v, a)

    def transform_back(self, X: Transform) -> Inertia:
        """The same inertia in frame A, for ``X`` from A to the present frame.

        ``I_A = X^T I_B X`` (Felis eq. 3.20, corrected).
        """
        h, I = _transform_inertia_back(self.m, self.h, self.I, X.E, X.r)
        return Inertia(self.m, h, I)

    def matrix(self) -> Array:
        """The 6x6 inertia."""
        hx = skew(self.h)
        return stack(stack_columns(self.I, hx), stack_columns(-hx, self.m * np.eye(3)))


@reuse_graph
def _articulated_momentum(I: Array, H: Array, M: Array, v: Array) -> Array:
    angular, linear = split_spatial(v)
    return stack(I @ angular + H @ linear, H.T @ angular + M @ linear)


@reuse_graph
def _minus_outer(I: Array, H: Array, M: Array, U: Array, W: Array) -> tuple[Array, Array, Array]:
    upper, lower = U[:3, :] @ W[:3, :].T, U[3:, :] @ W[3:, :].T
    return symmetric(I - upper), H - U[:3, :] @ W[3:, :].T, symmetric(M - lower)


@reuse_graph
def _transform_articulated_back(
    I: Array, H: Array, M: Array, E: Array, r: Array
) -> tuple[Array, Array, Array]:
    rx = skew(r)
    mass = symmetric(E.T @ M @ E)
    h = E.T @ H @ E
    shifted = h + rx @ mass
    inertia = symmetric(E.T @ I @ E) + rx @ h.T - shifted @ rx
    return symmetric(inertia), shifted, mass


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
        return _articulated_momentum(self.I, self.H, self.M, v)

    def minus_outer(self, U: Array, W: Array) -> ArticulatedInertia:
        """Minus ``U W^T``, for factors whose product is symmetric."""
        return ArticulatedInertia(*_minus_outer(self.I, self.H, self.M, U, W))

    def transform_back(self, X: Transform) -> ArticulatedInertia:
        """``X^T I X``: the same inertia in the frame that ``X`` starts from."""
        return ArticulatedInertia(*_transform_articulated_back(self.I, self.H, self.M, X.E, X.r))

    def matrix(self) -> Array:
        """The 6x6 inertia."""
        return stack(stack_columns(self.I, self.H), stack_columns(self.H.T, self.M))
