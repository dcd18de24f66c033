"""Paths of a flying body by two trees that grow toward each other in pose and time.

A node is a pose at an instant with the posture that reaches it. The first tree grows forward in
time from the support that the body leaves, the second backward from the one that it reaches, so
that speed limits are conditions on edges (Qiu 2012, algorithm 4, corrected). An edge counts if a
posture is found at every sample of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from homodyn.plan.flight_path import FlightPath

ROTATION_WEIGHT_M2 = 0.04
"""m2 for 1 rad2 in the distance of poses (lambda 1)."""
TIME_WEIGHT_M2_S2 = 0.04
"""m2 for 1 s2 in the distance of poses (lambda 2)."""
MAX_EDGE_M = 0.3
"""Longest edge of a tree in the metric."""
MAX_LINK_M = 0.8
"""Longest edge between the trees."""
SAMPLE_SPACING_M = 0.06
"""Distance of the samples of an edge."""
BOX_MARGIN_M = np.array([0.25, 0.25, 0.35])
"""By which the box of random positions extends beyond the two ends; only upward along z."""
ROTATION_SPREAD_RAD = 0.4
"""Spread of random orientations about those between the ends."""
GUIDED_SHARE = 0.3
"""Share of samples near a raised line between the ends."""


@dataclass(frozen=True, eq=False)
class FlightNode:
    """A pose of the body at an instant, with the posture that reaches it."""

    time: float
    position: np.ndarray
    """(3,), m."""
    rotation: np.ndarray
    """(3, 3)."""
    q: np.ndarray
    """(nq,)."""


Validator = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray | None]
"""Postures (samples, nq) at times, positions and rotations near a posture; None where one fails."""
QuickCheck = Callable[[np.ndarray, np.ndarray], bool]
"""Whether the body alone is clear of obstacles at positions and rotations."""


@dataclass(frozen=True, eq=False)
class SpeedLimits:
    """Largest speeds of a body in flight."""

    linear: float
    """m/s."""
    angular: float
    """rad/s."""

    def allow(self, first: FlightNode, last: FlightNode) -> bool:
        """Whether a body can move from one node to a later one in time."""
        duration = last.time - first.time
        if duration <= 0:
            return False
        distance, angle = _difference(first, last)
        return distance <= self.linear * duration and angle <= self.angular * duration


@dataclass(eq=False)
class FlightTree:
    """Nodes with their parents; parents are earlier in a tree that grows forward."""

    forward: bool
    nodes: list[FlightNode] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)

    def add(self, node: FlightNode, parent: int) -> int:
        """Add a node; its index."""
        self.nodes.append(node)
        self.parents.append(parent)
        return len(self.nodes) - 1

    def nearest(self, to: FlightNode, limits: SpeedLimits) -> int | None:
        """The nearest node from which a pose is reached in time."""
        distances = [pose_time_distance(node, to) for node in self.nodes]
        for k in np.argsort(distances):
            node = self.nodes[k]
            if limits.allow(*((node, to) if self.forward else (to, node))):
                return int(k)
        return None

    def branch(self, index: int) -> list[FlightNode]:
        """Nodes from the root to an index."""
        nodes = []
        while index >= 0:
            nodes.append(self.nodes[index])
            index = self.parents[index]
        return nodes[::-1]


@dataclass(frozen=True, eq=False)
class TreeSearch:
    """A search for the path of one flight."""

    first: FlightNode
    last: FlightNode
    limits: SpeedLimits
    validate: Validator
    is_clear: QuickCheck
    rng: np.random.Generator
    max_iterations: int

    def run(self) -> tuple[list[FlightNode], int]:
        """Nodes of a path, and the number of iterations; no nodes where none was found."""
        trees = (FlightTree(True), FlightTree(False))
        trees[0].add(self.first, -1)
        trees[1].add(self.last, -1)
        linked = self._link(trees, 0, 0)
        if linked:
            return linked, 0
        for iteration in range(1, self.max_iterations + 1):
            sample = self._sample()
            for own in (0, 1):
                added = self._extend(trees[own], sample)
                if added is None:
                    continue
                other = trees[1 - own]
                near = other.nearest(trees[own].nodes[added], self.limits)
                if near is None:
                    continue
                pair = (added, near) if own == 0 else (near, added)
                linked = self._link(trees, *pair)
                if linked:
                    return linked, iteration
        return [], self.max_iterations

    def edge(self, first: FlightNode, last: FlightNode) -> np.ndarray | None:
        """Postures at the samples of an edge, both ends included; None where it is not valid."""
        if not self.limits.allow(first, last):
            return None
        count = max(3, int(np.ceil(pose_time_distance(first, last) / SAMPLE_SPACING_M)) + 1)
        share = np.linspace(0.0, 1.0, count)
        time, position, rotation = interpolate_nodes(first, last, share)
        if not self.is_clear(position, rotation):
            return None
        return self.validate(time, position, rotation, first.q)

    def _sample(self) -> FlightNode:
        """A random pose in the box of both ends, or near a raised line between them."""
        first, last, rng = self.first, self.last, self.rng
        share = rng.uniform(0.05, 0.95)
        _, position, rotation = interpolate_nodes(first, last, np.array([share]))
        place = position[0]
        if rng.uniform() < GUIDED_SHARE:
            place = place + np.r_[0.08 * rng.standard_normal(2), rng.uniform(0, 0.3)]
        else:
            low = np.minimum(first.position, last.position) - [*BOX_MARGIN_M[:2], 0.0]
            high = np.maximum(first.position, last.position) + BOX_MARGIN_M
            place = rng.uniform(low, high)
        turn = Rotation.from_rotvec(ROTATION_SPREAD_RAD * rng.standard_normal(3) * rng.uniform())
        turned = (turn * Rotation.from_matrix(rotation[0])).as_matrix()
        time = first.time + (last.time - first.time) * np.clip(
            share + 0.15 * rng.standard_normal(), 0.02, 0.98
        )
        return FlightNode(float(time), place, turned, first.q)

    def _extend(self, tree: FlightTree, sample: FlightNode) -> int | None:
        near = tree.nearest(sample, self.limits)
        if near is None:
            return None
        node = tree.nodes[near]
        distance = pose_time_distance(node, sample)
        share = np.array([min(1.0, MAX_EDGE_M / max(distance, 1e-9))])
        time, position, rotation = interpolate_nodes(node, sample, share)
        new = FlightNode(float(time[0]), position[0], rotation[0], node.q)
        if tree.forward:
            found = self.edge(node, new)
            q = None if found is None else found[-1]
        else:
            found = self.edge(FlightNode(new.time, new.position, new.rotation, node.q), node)
            q = None if found is None else found[0]
        if q is None:
            return None
        return tree.add(FlightNode(new.time, new.position, new.rotation, q), near)

    def _link(self, trees: tuple[FlightTree, FlightTree], a: int, b: int) -> list[FlightNode]:
        """Nodes of the whole path if an edge between the trees is valid."""
        first, last = trees[0].nodes[a], trees[1].nodes[b]
        if pose_time_distance(first, last) > MAX_LINK_M or self.edge(first, last) is None:
            return []
        return [*trees[0].branch(a), *trees[1].branch(b)[::-1]]


def pose_time_distance(first: FlightNode, last: FlightNode) -> float:
    """Distance of two nodes, m: ``sqrt(|dp|^2 + l1 |log R|^2 + l2 dt^2)`` (Qiu 6.6)."""
    distance, angle = _difference(first, last)
    time = last.time - first.time
    return float(np.sqrt(distance**2 + ROTATION_WEIGHT_M2 * angle**2 + TIME_WEIGHT_M2_S2 * time**2))


def path_length(nodes: list[FlightNode]) -> float:
    """m: sum of the distances of consecutive nodes, without time."""
    return float(
        sum(
            np.hypot(*(np.array(_difference(a, b)) * [1.0, ROTATION_WEIGHT_M2**0.5]))
            for a, b in itertools.pairwise(nodes)
        )
    )


def interpolate_nodes(
    first: FlightNode, last: FlightNode, share: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, positions and rotations at shares (instants,) of a straight edge."""
    time = first.time + share * (last.time - first.time)
    position = first.position + share[:, None] * (last.position - first.position)
    start = Rotation.from_matrix(first.rotation)
    step = (start.inv() * Rotation.from_matrix(last.rotation)).as_rotvec()
    return (
        time,
        position,
        np.asarray((start * Rotation.from_rotvec(np.outer(share, step))).as_matrix()),
    )


def shorten_path(search: TreeSearch, nodes: list[FlightNode], attempts: int) -> list[FlightNode]:
    """Random shortcuts: straight edges between two points of a path (Qiu 2012, algorithm 6).

    Args:
        search: The search that found the path.
        nodes: The path.
        attempts: Number of shortcuts to try.

    Returns:
        A path between the same ends that is not longer.
    """
    path = list(nodes)
    for _ in range(attempts):
        if len(path) < 3:
            break
        a, b = sorted(search.rng.choice(len(path) - 1, 2, replace=False))
        ends = []
        for k in (a, b):
            share = np.array([search.rng.uniform()])
            time, position, rotation = interpolate_nodes(path[k], path[k + 1], share)
            ends.append(FlightNode(float(time[0]), position[0], rotation[0], path[k].q))
        candidate = [*path[: a + 1], *ends, *path[b + 1 :]]
        if path_length(candidate) > path_length(path):
            continue
        found = search.edge(*ends)
        if found is not None:
            for j, k in ((0, 0), (1, -1)):
                end = ends[j]
                ends[j] = FlightNode(end.time, end.position, end.rotation, found[k])
            path = [*path[: a + 1], *ends, *path[b + 1 :]]
    # The direct edge is tried last: it is the shortest of all.
    if len(path) > 2 and search.edge(path[0], path[-1]) is not None:
        return [path[0], path[-1]]
    return path


def flight_of_nodes(body: str, nodes: list[FlightNode], iterations: int) -> FlightPath:
    """The flight path through the nodes of a search."""
    return FlightPath(
        body,
        nodes[0].time,
        nodes[-1].time,
        np.array([node.time for node in nodes]),
        np.array([node.position for node in nodes]),
        np.array([node.rotation for node in nodes]),
        "birrt",
        iterations,
    )


def subdivide(path: FlightPath) -> FlightPath:
    """The same nodes with one more in the middle of each edge: the curve is closer to the edges."""
    nodes = [
        FlightNode(float(t), p, r, np.zeros(0))
        for t, p, r in zip(path.time, path.position, path.rotation, strict=True)
    ]
    middles = []
    for a, b in itertools.pairwise(nodes):
        time, position, rotation = interpolate_nodes(a, b, np.array([0.5]))
        middles.append(FlightNode(float(time[0]), position[0], rotation[0], a.q))
    merged = [node for pair in zip(nodes[:-1], middles, strict=True) for node in pair]
    return flight_of_nodes(path.body, [*merged, nodes[-1]], path.iterations)


def _difference(first: FlightNode, last: FlightNode) -> tuple[float, float]:
    """Distance (m) and angle (rad) between two nodes."""
    # trace(Ra^T Rb) = 1 + 2 cos(angle)
    cosine = ((first.rotation * last.rotation).sum() - 1) / 2
    return (
        float(np.linalg.norm(last.position - first.position)),
        float(np.arccos(np.clip(cosine, -1.0, 1.0))),
    )
