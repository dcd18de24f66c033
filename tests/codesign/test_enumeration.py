"""Enumeration of linkages against a slow search of all sets of joints."""

from itertools import combinations, permutations

import numpy as np
import pytest

from homodyn.codesign.enumeration import LEG, enumerate_linkages
from homodyn.codesign.linkage import Linkage
from homodyn.errors import HomodynError


def weld_rank(links, joints, seed=3):
    """Independent motions from the kernel of a constraint matrix, written without the package."""
    rng = np.random.default_rng(seed)
    matrix = []
    for a, b in joints:
        x, z = rng.uniform(-1, 1, 2)
        row_x, row_z = np.zeros(3 * len(links)), np.zeros(3 * len(links))
        for link, sign in ((a, 1), (b, -1)):
            i = 3 * links.index(link)
            row_x[i], row_x[i + 2] = sign, sign * z
            row_z[i + 1], row_z[i + 2] = sign, -sign * x
        matrix += [row_x, row_z]
    return 3 * len(links) - 3 - np.linalg.matrix_rank(np.array(matrix))


def moves_as_a_leg(links, joints):
    """Mobility 2, hip and knee free, and no subset of links without internal motion."""
    human = [("torso", "thigh"), ("thigh", "shank")]
    everything = [*joints, *human]
    if weld_rank(links, everything) != 2:
        return False
    # Nothing can move when hip and knee are welded: torso, thigh and shank become one link.
    merged = dict.fromkeys(LEG, "torso")
    rest = [(merged.get(a, a), merged.get(b, b)) for a, b in joints]
    if weld_rank(["torso", *(link for link in links if link not in LEG)], rest) != 0:
        return False
    for size in range(2, len(links) + 1):
        for subset in combinations(links, size):
            inside = sum(a in subset and b in subset for a, b in everything)
            if 3 * (size - 1) - 2 * inside < 1:
                return False
    return True


def test_all_sets_of_joints_give_the_same_ten_classes():
    robot = ("A", "B", "C", "D")
    links = [*LEG, *robot]
    pairs = [p for p in combinations(links, 2) if not set(p) <= set(LEG)]
    classes = set()
    renamings = [dict(zip(robot, order, strict=True)) for order in permutations(robot)]
    for joints in combinations(pairs, 6):
        ends = [link for pair in joints for link in pair]
        if min(map(ends.count, robot)) < 2 or not set(LEG) <= set(ends):
            continue
        names = min(
            tuple(sorted(tuple(sorted(rename.get(x, x) for x in pair)) for pair in joints))
            for rename in renamings
        )
        if names not in classes and moves_as_a_leg(links, list(joints)):
            classes.add(names)
    found = enumerate_linkages()
    assert len(found) == len(classes) == 10
    for names in classes:
        same = [one for one in found if one.is_equivalent(Linkage(LEG, robot, names))]
        assert len(same) == 1


def test_other_sizes():
    (four_bar,) = enumerate_linkages(2, ("torso", "thigh"))
    assert len(four_bar.joints) == 3
    assert enumerate_linkages(2) == []  # two links cannot carry three attachments
    assert len(enumerate_linkages(4, ("torso", "thigh", "shank", "foot"))) == 3


@pytest.mark.parametrize(
    ("links", "segments", "words"),
    [(3, LEG, "3 robot links"), (8, LEG, "take hours"), (4, ("torso",), "two or more")],
)
def test_what_cannot_be_enumerated_is_refused(links, segments, words):
    with pytest.raises(HomodynError, match=words):
        enumerate_linkages(links, segments)
