"""Facets of the convex hull of points, in any dimension and of any shape, flat ones included.

Points are first whitened: moved to their mean, scaled axis by axis, turned to their principal axes
and divided by their spread. Hulls commute with affine maps, so the facets are the same, but qhull
then sees a set as wide as it is long, whether it came in millimetres, kilometres or newtons.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError, cKDTree

from homodyn.errors import NoSolution

RELATIVE_FLATNESS = 1e-10
"""A spread smaller than this share of the largest is none: the set is flat in that direction."""
MIN_FACET_ANGLE_SINE = 1e-9
"""Sine of an angle below which facets count as one and the same."""
FACET_TOLERANCE = 1e-9
"""Points this close to a facet, in spreads of the set, lie on it."""


VERTEX_TOLERANCE = 1e-8
"""Distance, in spreads of the set, below which a corner of half-spaces is one of the points."""


@dataclass(frozen=True, eq=False)
class Whitening:
    """The affine map ``z = (x - center) @ into`` onto a set of unit spread, and back."""

    center: np.ndarray
    into: np.ndarray
    """(n, r)."""
    normals: np.ndarray
    """(n - r, n): orthonormal rows, constant on the set."""

    def whiten(self, x: np.ndarray) -> np.ndarray:
        """Coordinates of points in the set's own axes."""
        return (x - self.center) @ self.into


@dataclass(frozen=True, eq=False)
class Hull:
    """Rows ``A x <= b`` of norm one, equations ``E x = e``, and which points lie on which row."""

    A: np.ndarray
    b: np.ndarray
    E: np.ndarray
    e: np.ndarray
    vertices: np.ndarray
    """Indices of the extreme points."""
    incidence: np.ndarray
    """(rows, points): True where a point lies on the facet."""
    volume: float
    """In the dimension of the set itself; 1 for a point."""


def whiten(points: np.ndarray) -> Whitening:
    """Axes in which a set of points has unit spread; directions without spread are left out."""
    center = points.mean(axis=0)
    away = points - center
    size = np.abs(away).max(axis=0, initial=0.0)
    # What is left of subtracting large numbers is no spread of the set.
    noise = 64 * np.finfo(float).eps * np.abs(points).max(axis=0, initial=0.0)
    size = np.where(size > noise, size, 0.0)
    scaled = away / np.where(size > 0, size, 1.0) * (size > 0)
    _, spread, axes = np.linalg.svd(scaled, full_matrices=False)
    kept = spread > RELATIVE_FLATNESS * max(spread.max(initial=0.0), 1e-300)
    if not kept.any() or not size.any():
        n = points.shape[1]
        return Whitening(center, np.zeros((n, 0)), np.eye(n))
    own = axes[kept] / spread[kept, None] * np.sqrt(len(points))
    into = (own / np.where(size > 0, size, 1.0) * (size > 0)).T
    # A normal is orthogonal to the set itself, not to the axes of the scaled one.
    outof = (axes[kept] * size).T
    basis, _ = np.linalg.qr(outof, mode="complete")
    return Whitening(center, into, basis[:, kept.sum() :].T)


def convex_hull(points: np.ndarray) -> Hull:
    """The convex hull of points (m, n); merged facets are one row."""
    points = np.asarray(points, dtype=float)
    if points.ndim != 2 or not len(points):
        raise NoSolution("the convex hull of no point does not exist; give at least one")
    if not np.isfinite(points).all():
        raise NoSolution("a point of the hull is not finite")
    frame = whiten(points)
    z = frame.whiten(points)
    r = z.shape[1]
    if r == 0:
        none = np.zeros((0, points.shape[1]))
        return Hull(
            none,
            np.zeros(0),
            frame.normals,
            frame.normals @ frame.center,
            np.array([0]),
            np.zeros((0, len(points)), bool),
            1.0,
        )
    if r == 1:
        rows, vertices, content = np.array([[1.0], [-1.0]]), _ends(z[:, 0]), np.ptp(z[:, 0])
    else:
        rows, vertices, content = _qhull(z)
    return _hull_record(frame, z, rows, vertices, content)


def hull_with_normals(points: np.ndarray, normals: np.ndarray) -> Hull | np.ndarray:
    """The hull of points (m, n) whose facets have normals among those given.

    The half-spaces of the normals hold all points. Their intersection is found in the dual, where
    a normal is a point and a vertex a facet: if all its vertices are among the points, it is the
    hull. Facets of sums of sets have many vertices each, and vertices lie on few facets: the dual
    then takes a quarter of the time. The volume is left out (NaN). Where normals are missing, the
    answer is directions (k, n) near them: in the midst of the cones of the corners that are none.
    """
    frame = whiten(points)
    z = frame.whiten(points)
    nothing = np.zeros((0, points.shape[1]))
    if z.shape[1] < 3:
        return nothing
    rows = normals @ np.linalg.pinv(frame.into).T
    rows = _merge_facets(rows / np.linalg.norm(rows, axis=1)[:, None], z)
    height = (z @ rows.T).max(axis=0)
    dual = None
    for options in ("Qt Qx", "Qt"):
        # Some sets are too tied for one of them.
        with suppress(QhullError):
            dual = ConvexHull(rows / height[:, None], qhull_options=options)
            break
    if dual is None:
        return nothing
    away = -dual.equations[:, -1:]
    if away.min() <= 0:
        return nothing
    corners = dual.equations[:, :-1] / away
    far, near = cKDTree(z).query(corners)
    odd = far > VERTEX_TOLERANCE * max(1.0, float(np.abs(z).max()))
    if odd.any():
        return np.asarray(rows[dual.simplices[odd]].mean(axis=1) @ frame.into.T)
    return _hull_record(frame, z, rows, np.unique(near), float("nan"))


def _hull_record(
    frame: Whitening, z: np.ndarray, rows: np.ndarray, vertices: np.ndarray, content: float
) -> Hull:
    """A hull in the axes of the points, from its normals and extreme points in its own."""
    r = z.shape[1]
    height = (z @ rows.T).max(axis=0)
    incidence = (z @ rows.T > height - FACET_TOLERANCE * max(1.0, float(np.abs(z).max()))).T
    A = rows @ frame.into.T
    b = height + A @ frame.center
    length = np.linalg.norm(A, axis=1)
    stretch = np.sqrt(np.linalg.det(frame.into.T @ frame.into)) if r else 1.0
    vertices = _extreme(rows, incidence, z, vertices)
    return Hull(
        A / length[:, None],
        b / length,
        frame.normals,
        frame.normals @ frame.center,
        vertices,
        incidence,
        float(content / stretch),
    )


def _extreme(
    rows: np.ndarray, incidence: np.ndarray, z: np.ndarray, vertices: np.ndarray
) -> np.ndarray:
    """Those of the vertices, each once, in which enough facets meet to leave only a point."""
    r = rows.shape[1]
    products = (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
    gathered = (incidence[:, vertices].T.astype(float) @ products).reshape(-1, r, r)
    sharpness = np.linalg.eigvalsh(gathered)[:, 0]
    # Squares lose half of the digits: where little is left, ask the rows themselves.
    for k in np.flatnonzero(sharpness < 1e-10):
        sharpness[k] = _smallest_singular_value(rows[incidence[:, vertices[k]]]) ** 2
    sharp = vertices[sharpness > MIN_FACET_ANGLE_SINE**2]
    _, first = np.unique(np.round(z[sharp], 9), axis=0, return_index=True)
    return np.sort(sharp[first])


def _smallest_singular_value(rows: np.ndarray) -> float:
    r = rows.shape[1]
    return float(np.linalg.svd(rows, compute_uv=False)[-1]) if len(rows) >= r else 0.0


def _ends(z: np.ndarray) -> np.ndarray:
    return np.array([int(z.argmax()), int(z.argmin())])


def _qhull(z: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Unit outward normals of the facets, extreme points and content of a set that is not flat."""
    try:
        found = ConvexHull(z, qhull_options="Qt Qx" if z.shape[1] > 4 else "Qt")
    except QhullError as error:
        raise NoSolution(f"the convex hull was not found: {str(error).splitlines()[0]}") from None
    normals = found.equations[:, :-1]
    normals = normals / np.linalg.norm(normals, axis=1)[:, None]
    return _merge_facets(normals, z), found.vertices, float(found.volume)


def _merge_facets(normals: np.ndarray, z: np.ndarray) -> np.ndarray:
    """One normal for all simplices of a facet: those that touch the same points.

    A piece of a facet that was split by rounding touches fewer points than the facet and no r of
    them that span it; it is dropped when another facet has all of them.
    """
    # Simplices of one facet have one normal to rounding: most are merged at no cost.
    _, first = np.unique(np.round(normals, 10), axis=0, return_index=True)
    normals = normals[first]
    height = z @ normals.T
    touched = height > height.max(axis=0) - FACET_TOLERANCE * max(1.0, float(np.abs(z).max()))
    packed = np.packbits(touched, axis=0)
    _, first, group = np.unique(packed, axis=1, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    means = np.zeros((len(first), normals.shape[1]))
    np.add.at(means, group, normals)
    means /= np.linalg.norm(means, axis=1)[:, None]
    sets = touched[:, first].T
    dropped = np.zeros(len(sets), dtype=bool)
    for k in _narrow(sets, z):
        larger = sets[:, sets[k]].all(axis=1) & (sets.sum(axis=1) > sets[k].sum())
        dropped[k] = larger.any()
    return np.asarray(means[~dropped])


def _narrow(sets: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Numbers of facets whose points do not span them: the spread lacks a second direction."""
    r = z.shape[1]
    held = sets.astype(float)
    count = held.sum(axis=1)
    mean = held @ z / count[:, None]
    products = (z[:, :, None] * z[:, None, :]).reshape(len(z), -1)
    spread = (held @ products).reshape(-1, r, r) / count[:, None, None]
    spread = spread - mean[:, :, None] * mean[:, None, :]
    return np.flatnonzero(np.linalg.eigvalsh(spread)[:, 1] < 1e-12)
