"""Support polygons and contact wrenches of stances, against methods of the literature.

The peers are implementations of published methods: the polygon by linear programs (Bretl and Lall
2008), the polygon from the six-dimensional wrench polytope (Qiu 2012), and one linear program for
the contact forces of every state.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull

from homodyn.balance import (
    Stance,
    point_contact,
    sole_contact,
    static_equilibrium_polygon,
    wrench_margins,
    wrench_set,
)
from homodyn.balance.polytopes import Polytope, inclusion
from homodyn.balance.wrenches import point_mass_wrench
from homodyn.bench.balance_plans import plan_rows
from homodyn.bench.harness import BenchmarkRow, benchmark, best_of, interleave
from homodyn.errors import HomodynError

WEIGHT_N = 70 * 9.81
STATE_COUNT = 10_000
MAX_TIME_MS = 50.0
"""Time limit for the evaluation of all states."""


def three_points() -> Stance:
    """Three point contacts on different slopes."""
    return Stance(
        (
            point_contact("left", (0.0, 0.3, 0.0), normal=(0.1, -0.2, 1.0), friction=0.6),
            point_contact("right", (0.1, -0.3, 0.1), normal=(-0.1, 0.2, 1.0), friction=0.6),
            point_contact("hand", (0.6, 0.0, 0.4), normal=(-0.3, 0.0, 1.0), friction=0.6),
        )
    )


def three_soles() -> Stance:
    """Three soles at different heights."""
    size = (0.24, 0.1)
    return Stance(
        (
            sole_contact("left", (0.0, 0.2, 0.0), size, friction=0.6, orientation=0.2),
            sole_contact("right", (0.3, -0.2, 0.1), size, friction=0.6, orientation=-0.1),
            sole_contact("hand", (0.7, 0.1, 0.5), size, friction=0.6, orientation=0.5),
        )
    )


def polygon_by_programs(stance: Stance, accuracy: float = 1e-6) -> np.ndarray:
    """Vertices of the static polygon by one linear program per vertex and edge.

    Each program finds the farthest point of the polygon along the outward normal of an edge; the
    polygon is complete when no point lies beyond an edge (Bretl and Lall 2008).

    Args:
        stance: The stance.
        accuracy: Distance below which a point counts as on the edge (m).

    Returns:
        (vertices, 2), m.
    """
    wrenches = stance.forces.wrenches
    equations = np.vstack([wrenches[:, 3:].T, wrenches[:, 2]])
    target = np.array([0.0, 0.0, WEIGHT_N, 0.0])
    shadow = np.stack([-wrenches[:, 1], wrenches[:, 0]]) / WEIGHT_N

    def farthest(direction: np.ndarray) -> np.ndarray:
        found = linprog(-direction @ shadow, A_eq=equations, b_eq=target, method="highs")
        if found.status != 0:
            raise HomodynError(f"the peer's linear program failed: {found.message}")
        return np.asarray(shadow @ found.x)

    angles = np.arange(3) * 2 * np.pi / 3
    corners = [farthest(np.array([np.cos(a), np.sin(a)])) for a in angles]
    edges = [(0, 1), (1, 2), (2, 0)]
    while edges:
        a, b = edges.pop()
        along = corners[b] - corners[a]
        if np.linalg.norm(along) < accuracy:
            continue
        outward = np.array([along[1], -along[0]]) / np.linalg.norm(along)
        new = farthest(outward)
        if (new - corners[a]) @ outward > accuracy:
            corners.append(new)
            edges += [(a, len(corners) - 1), (len(corners) - 1, b)]
    return np.array(corners) + stance.reference[:2]


def polygon_by_hull(stance: Stance) -> np.ndarray:
    """Vertices of the static polygon from the convex hull of all generators in six dimensions.

    Qiu (2012), algorithm 7 and eq. 4.41: facets of the wrench polytope, then a slice.

    Args:
        stance: The stance.

    Returns:
        (vertices, 2), m.
    """
    wrenches = stance.forces.wrenches
    points = np.vstack([np.zeros(6), 100 * WEIGHT_N * wrenches / np.abs(wrenches).max(axis=0)])
    size = np.abs(wrenches).max(axis=0)
    facets = np.unique(np.round(ConvexHull(points, qhull_options="Qt Qx").equations, 9), axis=0)
    rows, bounds = facets[:, :6] / size, -facets[:, 6]
    # Moment r x f of the weight at r = (x, y): WEIGHT * (y, -x, 0).
    flat = WEIGHT_N * np.stack([-rows[:, 1], rows[:, 0]], axis=1)
    left = bounds - WEIGHT_N * rows[:, 5]
    relevant = np.linalg.norm(flat, axis=1) > 1e-9 * np.abs(flat).max()
    return Polytope.from_rows(flat[relevant], left[relevant]).vertices + stance.reference[:2]


@benchmark("balance")
def balance(quick: bool) -> Iterator[BenchmarkRow]:
    """Static polygons and contact wrenches of stances, against linear programs and hulls."""
    repeat = 3 if quick else 7
    for name, stance in (("three points", three_points()), ("three soles", three_soles())):
        ours = static_equilibrium_polygon(stance)
        for peer in (polygon_by_programs, polygon_by_hull):
            _check_equal(ours, peer(stance), name)
        seconds, programs, hulls = interleave(
            lambda s=stance: static_equilibrium_polygon(s),  # type: ignore[misc]
            lambda s=stance: polygon_by_programs(s),  # type: ignore[misc]
            lambda s=stance: polygon_by_hull(s),  # type: ignore[misc]
            repeat=repeat,
        )
        title = f"static polygon, {name}"
        yield BenchmarkRow.from_times(
            f"{title}, against Bretl and Lall (2008)",
            seconds * 1e3,
            programs * 1e3,
            unit="ms",
            required=20,
        )
        yield BenchmarkRow.from_times(
            f"{title}, against a 6-D hull", seconds * 1e3, hulls * 1e3, unit="ms", required=None
        )
    yield from _states(quick)
    yield from plan_rows(quick)


def _states(quick: bool) -> Iterator[BenchmarkRow]:
    size = (0.28, 0.12)
    stance = Stance(
        (
            sole_contact("left", (0, 0.1, 0), size, friction=0.7),
            sole_contact("right", (0.3, -0.1, 0.1), size, friction=0.7, orientation=0.2),
        ),
        1500,
    )
    seconds = best_of(lambda: wrench_set(stance, method="hull"), repeat=3)
    yield BenchmarkRow("wrench polytope of two soles", seconds * 1e3, None, "ms", None, None)
    wrenches = wrench_set(stance)
    rng = np.random.default_rng(0)
    com = rng.normal(size=(STATE_COUNT, 3)) * [0.1, 0.05, 0.05] + [0.15, 0.0, 0.9]
    motion = point_mass_wrench(
        np.arange(STATE_COUNT), com, rng.normal(size=(STATE_COUNT, 3)), mass=70.0
    )
    some = 20 if quick else 100

    def programs() -> None:
        for k in range(some):
            _feasible(stance, motion.moment[k], motion.force[k])

    for name, ours in (
        ("equilibrium test", lambda: wrenches.contains(motion.force, motion.moment)),
        (
            "three margins",
            lambda: wrench_margins(wrenches, motion.force, motion.moment, com=motion.com),
        ),
    ):
        ours_ms = best_of(ours, repeat=5) * 1e3
        peer_ms = best_of(programs, repeat=2) * 1e3 * STATE_COUNT / some
        yield BenchmarkRow.from_times(
            f"{STATE_COUNT} states, {name}, against one linear program per state",
            ours_ms,
            peer_ms,
            unit="ms",
            required=None,
        )
        title = f"{STATE_COUNT} states, {name}, against a limit"
        yield BenchmarkRow.from_times(title, ours_ms, MAX_TIME_MS, unit="ms", required=1)


def _feasible(stance: Stance, moment: np.ndarray, force: np.ndarray) -> bool:
    cone = stance.forces
    wrench = np.r_[moment - np.cross(stance.reference, force), force]
    found = linprog(
        np.zeros(len(cone.wrenches)),
        A_ub=cone.C,
        b_ub=cone.d,
        A_eq=cone.wrenches.T,
        b_eq=wrench,
        method="highs",
    )
    return bool(found.status == 0)


def _check_equal(ours: Polytope, vertices: np.ndarray, name: str) -> None:
    """Raise `HomodynError` if a peer computes another polygon."""
    peer = Polytope.from_points(vertices)
    if not (inclusion(ours, peer, 1e-4) and inclusion(peer, ours, 1e-4)):
        raise HomodynError(f"the polygons of {name} differ between the methods")
