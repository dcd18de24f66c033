"""Enumeration of the linkages that a robot can form with a chain of body segments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np

from homodyn.codesign.linkage import (
    Linkage,
    LinkPair,
    gruebler_mobility,
    has_rigid_part,
    independent_joints,
    mobility,
)
from homodyn.errors import HomodynError
from homodyn.foundation.text import enumerate_names

LEG = ("torso", "thigh", "shank")
"""Segments of the published study: the foot is left out, its joint is driven directly."""
MAX_ROBOT_LINKS = 6
"""Enumeration of more links takes hours."""


def enumerate_linkages(robot_links: int = 4, segments: tuple[str, ...] = LEG) -> list[Linkage]:
    """All linkages of a robot with as many degrees of freedom as the body segments have joints.

    The number of joints follows from the criterion of Gruebler (van den Kieboom 2014, eq. 5.4):
    2 n = 3 l for l robot links. A linkage counts if every robot link has at least two joints, every
    segment carries an attachment, no part is rigid or over-constrained, the generic mobility is
    that of the body, and the anatomical joints move independently. Linkages that differ by the
    names of robot links count once.

    Args:
        robot_links: Number of links of the robot; even, because 3 l / 2 is a number of joints.
        segments: Body segments from proximal to distal.

    Returns:
        The linkages, in an order that does not depend on the machine.

    Raises:
        HomodynError: The numbers admit no linkage, or there are too many to enumerate.
    """
    _check(robot_links, segments)
    robot = tuple(chr(ord("A") + k) for k in range(robot_links))
    candidates = _candidate_joints(segments, robot)
    renamings = _renamings(candidates, robot)
    sets: list[tuple[int, ...]] = [()]
    for count in range(3 * robot_links // 2):
        remaining = 3 * robot_links // 2 - count - 1
        sets = _with_one_more_joint(sets, candidates, renamings, remaining, segments, robot)
    found = [Linkage(segments, robot, tuple(candidates[k] for k in chosen)) for chosen in sets]
    return [one for one in found if _moves_as_the_body(one)]


def _check(robot_links: int, segments: tuple[str, ...]) -> None:
    if len(segments) < 2 or len(set(segments)) < len(segments):
        raise HomodynError(
            f"a linkage needs two or more body segments with different names, got "
            f"{enumerate_names(segments) or 'none'}"
        )
    if robot_links < 2 or robot_links % 2 or robot_links > MAX_ROBOT_LINKS:
        allowed = enumerate_names([str(n) for n in range(2, MAX_ROBOT_LINKS + 1, 2)])
        raise HomodynError(
            f"{robot_links} robot links cannot be enumerated; accepted are {allowed}, because "
            "l links need 3 l / 2 joints and more links take hours"
        )


def _candidate_joints(segments: tuple[str, ...], robot: tuple[str, ...]) -> list[LinkPair]:
    """All joints that touch the robot."""
    pairs = combinations((*segments, *robot), 2)
    return [pair for pair in pairs if not (pair[0] in segments and pair[1] in segments)]


def _renamings(candidates: list[LinkPair], robot: tuple[str, ...]) -> np.ndarray:
    """(permutations, candidates): index of each joint after robot links have been renamed."""
    index = {frozenset(pair): k for k, pair in enumerate(candidates)}
    table = []
    for order in permutations(robot):
        renamed = dict(zip(robot, order, strict=True))
        names = [frozenset(renamed.get(link, link) for link in pair) for pair in candidates]
        table.append([index[name] for name in names])
    return np.array(table)


def _with_one_more_joint(
    sets: list[tuple[int, ...]],
    candidates: list[LinkPair],
    renamings: np.ndarray,
    remaining: int,
    segments: tuple[str, ...],
    robot: tuple[str, ...],
) -> list[tuple[int, ...]]:
    """Sets of joints with one more joint, one per class of renamed robot links.

    Sets with a rigid part are dropped, as are sets that the ``remaining`` joints cannot complete.
    """
    found: dict[int, tuple[int, ...]] = {}
    for chosen in sets:
        for added in range(len(candidates)):
            if added in chosen:
                continue
            larger = (*chosen, added)
            masks = np.left_shift(1, renamings[:, larger]).sum(axis=1)
            key = int(masks.min())
            if key in found:
                continue
            linkage = Linkage(segments, robot, tuple(candidates[k] for k in larger))
            if _missing_joints(linkage) <= 2 * remaining and not has_rigid_part(linkage):
                found[key] = tuple(sorted(_joints_of(key)))
    return [found[key] for key in sorted(found)]


def _joints_of(mask: int) -> Iterator[int]:
    """Indices of the bits that are set."""
    return (k for k in range(mask.bit_length()) if mask >> k & 1)


def _missing_joints(linkage: Linkage) -> int:
    """Ends of joints that are still needed: two per robot link, one per segment."""
    ends = [link for pair in linkage.joints for link in pair]
    robot = sum(max(0, 2 - ends.count(link)) for link in linkage.robot_links)
    return robot + sum(link not in ends for link in linkage.segments)


def _moves_as_the_body(linkage: Linkage) -> bool:
    """Whether the generic mobility is that of the body and all anatomical joints are free."""
    count = len(linkage.anatomical_joints)
    if gruebler_mobility(len(linkage.links), len(linkage.all_joints)) != count:
        return False
    first = len(linkage.joints)
    anatomical = tuple(range(first, first + count))
    return mobility(linkage) == count and independent_joints(linkage, anatomical)
