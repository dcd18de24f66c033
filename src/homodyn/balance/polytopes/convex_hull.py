"""Facets of the convex hull of points, in any dimension and of any shape, flat sets included.

Points are first whitened: shifted to their mean, scaled axis by axis, rotated to their principal
axes and divided by their spread. Hulls commute with affine maps, so the facets are the same, but
Qhull then works on a set of equal width in all directions, whatever the units.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError, cKDTree

from homodyn.errors import NoSolution
from homodyn.foundation.text import count_of

RELATIVE_FLATNESS = 1e-10
"""A spread smaller than this fraction of the largest is zero: the set is flat in that direction."""
MIN_FACET_ANGLE_SINE = 1e-9
"""Sine of an angle below which facets count as identical."""
FACET_TOLERANCE = 1e-9
"""Points this close to a facet, in spreads of the set, lie on it."""
COINCIDENCE_DISTANCE = 1e-9
"""Points closer than this, in spreads of the set, are one point."""
MAX_QHULL_ATTEMPTS = 6
"""Rotations of a set that are tried before its hull is given up."""
VERTEX_TOLERANCE = 1e-8
"""Distance, in spreads of the set, below which a vertex of half-spaces is one of the points."""


@dataclass(frozen=True, eq=False)
class Whitening:
    """The affine map ``z = (x - center) @ into`` onto a set of unit spread, and back."""

    center: np.ndarray
    into: np.ndarray
    """(n, r)."""
    normals: np.ndarray
    """(n - r, n): orthonormal rows, constant on the set."""

    def whiten(self, x: np.ndarray) -> np.ndarray:
        """Coordinates of points in the whitened axes."""
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
    arms = points - center
    size = np.abs(arms).max(axis=0, initial=0.0)
    # Rounding of the difference of large numbers is not spread.
    noise = 64 * np.finfo(float).eps * np.abs(points).max(axis=0, initial=0.0)
    size = np.where(size > noise, size, 0.0)
    scaled = arms / np.where(size > 0, size, 1.0) * (size > 0)
    _, spread, axes = np.linalg.svd(scaled, full_matrices=False)
    spanned = spread > RELATIVE_FLATNESS * max(spread.max(initial=0.0), 1e-300)
    if not spanned.any() or not size.any():
        n = points.shape[1]
        return Whitening(center, np.zeros((n, 0)), np.eye(n))
    whitened_axes = axes[spanned] / spread[spanned, None] * np.sqrt(len(points))
    into = (whitened_axes / np.where(size > 0, size, 1.0) * (size > 0)).T
    # Normals are orthogonal to the set itself, not to the axes of the scaled one.
    directions = (axes[spanned] * size).T
    basis, _ = np.linalg.qr(directions, mode="complete")
    return Whitening(center, into, basis[:, spanned.sum() :].T)


def convex_hull(points: np.ndarray) -> Hull:
    """The convex hull of points (m, n); coplanar facets are merged into one row."""
    points = np.asarray(points, dtype=float)
    if points.ndim != 2 or not len(points):
        raise NoSolution("a convex hull needs at least one point, got none")
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
    return _hull(frame, z, rows, vertices, content)


def hull_with_normals(points: np.ndarray, normals: np.ndarray) -> Hull | np.ndarray:
    """The hull of points (m, n) whose facets have normals among those given.

    The half-spaces of the normals contain all points. Their intersection is computed in the dual,
    where a normal is a point and a vertex a facet: if all its vertices are among the points, it is
    the hull. Facets of sums of sets have many vertices each, and vertices lie on few facets: the
    dual then takes a quarter of the time. The volume is not computed (NaN). If normals are missing,
    the result is directions (k, n) near them: the means of the cones of the extra vertices.
    """
    frame = whiten(points)
    z = frame.whiten(points)
    no_directions = np.zeros((0, points.shape[1]))
    if z.shape[1] < 3:
        return no_directions
    rows = normals @ np.linalg.pinv(frame.into).T
    rows = _merge_facets(rows / np.linalg.norm(rows, axis=1)[:, None], z)
    height = (z @ rows.T).max(axis=0)
    dual = None
    for options in ("Qt Qx", "Qt"):
        # One of the options may fail on degenerate sets.
        with suppress(QhullError):
            dual = ConvexHull(rows / height[:, None], qhull_options=options)
            break
    if dual is None:
        return no_directions
    offsets = -dual.equations[:, -1:]
    if offsets.min() <= 0:
        return no_directions
    corners = dual.equations[:, :-1] / offsets
    distances, nearest = cKDTree(z).query(corners)
    extra = distances > VERTEX_TOLERANCE * max(1.0, float(np.abs(z).max()))
    if extra.any():
        return np.asarray(rows[dual.simplices[extra]].mean(axis=1) @ frame.into.T)
    return _hull(frame, z, rows, np.unique(nearest), float("nan"))


def _hull(
    frame: Whitening, z: np.ndarray, rows: np.ndarray, vertices: np.ndarray, content: float
) -> Hull:
    """A hull in the axes of the points, from its normals and extreme points in whitened axes."""
    r = z.shape[1]
    height = (z @ rows.T).max(axis=0)
    incidence = (z @ rows.T > height - FACET_TOLERANCE * max(1.0, float(np.abs(z).max()))).T
    A = rows @ frame.into.T
    b = height + A @ frame.center
    length = np.linalg.norm(A, axis=1)
    stretch = np.sqrt(np.linalg.det(frame.into.T @ frame.into)) if r else 1.0
    vertices = _extreme_vertices(rows, incidence, z, vertices)
    return Hull(
        A / length[:, None],
        b / length,
        frame.normals,
        frame.normals @ frame.center,
        vertices,
        incidence,
        float(content / stretch),
    )


def _extreme_vertices(
    rows: np.ndarray, incidence: np.ndarray, z: np.ndarray, vertices: np.ndarray
) -> np.ndarray:
    """The distinct vertices at which enough facets meet to determine a point."""
    r = rows.shape[1]
    products = (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
    sums = (incidence[:, vertices].T.astype(float) @ products).reshape(-1, r, r)
    smallest = np.linalg.eigvalsh(sums)[:, 0]
    # Squares lose half of the digits: small values are computed again from the rows themselves.
    for k in np.flatnonzero(smallest < 1e-10):
        smallest[k] = _smallest_singular_value(rows[incidence[:, vertices[k]]]) ** 2
    extreme = vertices[smallest > MIN_FACET_ANGLE_SINE**2]
    return np.asarray(extreme[_distinct_points(z[extreme])])


def _distinct_points(z: np.ndarray) -> np.ndarray:
    """Indices of the first point of each group of points that coincide except for rounding."""
    keep = np.ones(len(z), dtype=bool)
    pairs = cKDTree(z).query_pairs(COINCIDENCE_DISTANCE, output_type="ndarray")
    keep[pairs[:, 1]] = False
    return np.flatnonzero(keep)


def _smallest_singular_value(rows: np.ndarray) -> float:
    r = rows.shape[1]
    return float(np.linalg.svd(rows, compute_uv=False)[-1]) if len(rows) >= r else 0.0


def _ends(z: np.ndarray) -> np.ndarray:
    return np.array([int(z.argmax()), int(z.argmin())])


def _qhull(z: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Unit outward normals of the facets, extreme points and volume of a set that is not flat.

    Qhull fails on some sets whose points differ by rounding only or lie in many common planes. One
    point of each group is then kept, and the set is rotated, which changes the rounding alone.
    """
    options = "Qt Qx" if z.shape[1] > 4 else "Qt"
    chosen, turn = np.arange(len(z)), np.eye(z.shape[1])
    random = np.random.default_rng(0)
    for _ in range(MAX_QHULL_ATTEMPTS):
        try:
            hull = ConvexHull(z[chosen] @ turn, qhull_options=options)
            break
        except QhullError:
            chosen = _distinct_points(z)
            turn = np.linalg.qr(random.normal(size=turn.shape))[0]
    else:
        raise NoSolution(
            f"the convex hull of {count_of(len(z), 'point')} in {z.shape[1]} dimensions cannot "
            "be computed in floating-point arithmetic, because some of them nearly coincide "
            "or nearly lie in one plane; leave out such points, for example corners of a "
            "support that are closer than a millimeter"
        )
    normals = hull.equations[:, :-1] @ turn.T
    normals = normals / np.linalg.norm(normals, axis=1)[:, None]
    return _merge_facets(normals, z), chosen[hull.vertices], float(hull.volume)


def _merge_facets(normals: np.ndarray, z: np.ndarray) -> np.ndarray:
    """One normal for all simplices of a facet: those that contain the same points.

    A part of a facet that was split by rounding contains fewer points than the facet, and these do
    not span it; it is dropped if another facet contains all of them.
    """
    # Simplices of one facet have the same normal except for rounding: most merge here.
    _, first = np.unique(np.round(normals, 10), axis=0, return_index=True)
    normals = normals[first]
    height = z @ normals.T
    on_facet = height > height.max(axis=0) - FACET_TOLERANCE * max(1.0, float(np.abs(z).max()))
    packed = np.packbits(on_facet, axis=0)
    _, first, group = np.unique(packed, axis=1, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    means = np.zeros((len(first), normals.shape[1]))
    np.add.at(means, group, normals)
    means /= np.linalg.norm(means, axis=1)[:, None]
    sets = on_facet[:, first].T
    redundant = np.zeros(len(sets), dtype=bool)
    for k in _degenerate_facets(sets, z):
        larger = sets[:, sets[k]].all(axis=1) & (sets.sum(axis=1) > sets[k].sum())
        redundant[k] = larger.any()
    return np.asarray(means[~redundant])


def _degenerate_facets(sets: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Indices of facets whose points do not span them: two directions have no spread."""
    r = z.shape[1]
    weights = sets.astype(float)
    count = weights.sum(axis=1)
    mean = weights @ z / count[:, None]
    products = (z[:, :, None] * z[:, None, :]).reshape(len(z), -1)
    covariance = (weights @ products).reshape(-1, r, r) / count[:, None, None]
    covariance = covariance - mean[:, :, None] * mean[:, None, :]
    return np.flatnonzero(np.linalg.eigvalsh(covariance)[:, 1] < 1e-12)
