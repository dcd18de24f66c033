"""Planar linkages on a chain of body segments: which links are joined, and how freely they move."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

from homodyn.foundation.record import Record, record

LinkPair = tuple[str, str]
"""Names of the two links of a joint, in the order of `Linkage.links`."""

RANK_TOLERANCE = 1e-9
"""Singular values below this fraction of the largest one count as zero."""
GEOMETRY_SEEDS = (1, 2)
"""Seeds of the random geometries; a rank is generic if it is the largest one found."""


@record(eq=True)
class Linkage(Record):
    """Links of a person and of a robot, joined by revolute joints in a plane.

    The body segments are a chain: consecutive ones share an anatomical joint.
    """

    segments: tuple[str, ...]
    """Body segments from proximal to distal, such as torso, thigh, shank."""
    robot_links: tuple[str, ...]
    joints: tuple[LinkPair, ...]
    """Links of each joint of the robot; anatomical joints are not listed."""

    @property
    def links(self) -> tuple[str, ...]:
        """Body segments, then robot links."""
        return (*self.segments, *self.robot_links)

    @property
    def anatomical_joints(self) -> tuple[LinkPair, ...]:
        """Consecutive segments."""
        return tuple(zip(self.segments, self.segments[1:], strict=False))

    @property
    def all_joints(self) -> tuple[LinkPair, ...]:
        """Joints of the robot, then anatomical joints."""
        return (*self.joints, *self.anatomical_joints)

    def is_attachment(self, joint: LinkPair) -> bool:
        """Whether a joint connects the robot to a body segment."""
        return any(link in self.segments for link in joint)

    def is_equivalent(self, other: Linkage) -> bool:
        """Whether another linkage differs only by the names of robot links and the joint order.

        Args:
            other: The other linkage.

        Returns:
            True for the same connections.
        """
        if (self.segments, len(self.robot_links)) != (other.segments, len(other.robot_links)):
            return False
        own = {frozenset(pair) for pair in self.joints}
        for order in permutations(self.robot_links):
            name = dict(zip(other.robot_links, order, strict=True))
            if {frozenset(name.get(link, link) for link in pair) for pair in other.joints} == own:
                return True
        return False

    def headline(self) -> str:
        """Links and joints."""
        pairs = ", ".join("-".join(pair) for pair in self.joints)
        return f"Linkage of {len(self.robot_links)} links on {', '.join(self.segments)}: {pairs}"


def gruebler_mobility(links: int, joints: int) -> int:
    """Mobility of a planar mechanism of revolute joints by the criterion of Gruebler.

    k = 3 (l - 1) - 2 n (van den Kieboom 2014, eq. 5.1). It counts constraints without asking
    whether they are independent.

    Args:
        links: Number of links l, the one that is fixed included.
        joints: Number of joints n.

    Returns:
        Degrees of freedom relative to one link.
    """
    return 3 * (links - 1) - 2 * joints


def joint_rates(linkage: Linkage, points: np.ndarray, welded: tuple[int, ...] = ()) -> np.ndarray:
    """Basis of the joint velocities that a linkage allows in one geometry.

    Each joint keeps the velocities of its two links equal at its point; a welded joint also keeps
    their angular velocities equal.

    Args:
        linkage: The linkage.
        points: (joints, 2), m: places of ``linkage.all_joints``.
        welded: Indices in ``linkage.all_joints`` of joints that do not rotate.

    Returns:
        (joints, mobility): angular velocities of ``linkage.all_joints``, one column per degree of
        freedom. Columns are orthonormal in the velocities of the links.
    """
    index = {name: i for i, name in enumerate(linkage.links)}
    rows = []
    relative = np.zeros((len(linkage.all_joints), 3 * len(index)))
    for j, (first, second) in enumerate(linkage.all_joints):
        x, z = points[j]
        velocity = np.zeros((2, 3 * len(index)))
        for name, sign in ((first, 1.0), (second, -1.0)):
            at = 3 * index[name]
            velocity[:, at : at + 3] = sign * np.array([[1.0, 0.0, z], [0.0, 1.0, -x]])
            relative[j, at + 2] = sign
        rows.append(velocity)
        if j in welded:
            rows.append(relative[j : j + 1])
    fixed = np.eye(3, 3 * len(index))
    _, sizes, directions = np.linalg.svd(np.vstack([fixed, *rows]))
    rank = int((sizes > RANK_TOLERANCE * sizes[0]).sum())
    return relative @ directions[rank:].T


def mobility(linkage: Linkage, welded: tuple[int, ...] = ()) -> int:
    """Degrees of freedom of a linkage relative to its first segment, in a generic geometry.

    Unlike `gruebler_mobility` this is the rank of the constraints, so redundant ones count once.

    Args:
        linkage: The linkage.
        welded: Indices in ``linkage.all_joints`` of joints that do not rotate.

    Returns:
        The number of independent motions.
    """
    return min(joint_rates(linkage, points, welded).shape[1] for points in _geometries(linkage))


def independent_joints(linkage: Linkage, joints: tuple[int, ...]) -> bool:
    """Whether joints can rotate independently of each other in a generic geometry.

    Args:
        linkage: The linkage.
        joints: Indices in ``linkage.all_joints``.

    Returns:
        True if every combination of their velocities is possible.
    """
    return any(
        np.linalg.matrix_rank(joint_rates(linkage, points)[list(joints)], tol=RANK_TOLERANCE)
        == len(joints)
        for points in _geometries(linkage)
    )


def has_rigid_part(linkage: Linkage) -> bool:
    """Whether some links form a rigid or over-constrained structure.

    A set of links S with 3 (|S| - 1) - 2 n < 1, n being the joints within it, cannot move in
    itself.

    Args:
        linkage: The linkage.

    Returns:
        True if such a set exists.
    """
    joints = linkage.all_joints
    for size in range(2, len(linkage.links) + 1):
        for chosen in combinations(linkage.links, size):
            inside = sum(first in chosen and second in chosen for first, second in joints)
            if gruebler_mobility(size, inside) < 1:
                return True
    return False


def _geometries(linkage: Linkage) -> list[np.ndarray]:
    """Random places of all joints, (joints, 2), one array per seed."""
    size = (len(linkage.all_joints), 2)
    return [np.random.default_rng(seed).uniform(-1.0, 1.0, size) for seed in GEOMETRY_SEEDS]
