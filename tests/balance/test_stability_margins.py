"""Stability margins: the smallest disturbance that leaves the wrench set, and its overlaps."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.balance import Stance, point_contact, sole_contact, wrench_margins, wrench_set
from homodyn.balance.wrenches import transition_difficulty

FOOT = {"size": (0.28, 0.12), "friction": 0.7}


def test_margins_are_the_smallest_disturbances_that_reach_the_border():
    stance = Stance(
        (
            sole_contact("left", (0, 0.1, 0), **FOOT),
            sole_contact("right", (0.3, -0.1, 0.1), **FOOT),
        ),
        1200,
    )
    found = wrench_set(stance)
    com = np.array([0.1, 0.0, 0.9])
    force = np.array([10.0, -5.0, 700.0])
    moment = np.cross(com, force) + np.array([1.0, 2.0, -3.0])
    margins = wrench_margins(found, force, moment, com=com)
    rows, across, _ = found.rows(com)
    worst = across[margins.force_side] / np.linalg.norm(across[margins.force_side])

    def resists(by: np.ndarray) -> np.ndarray:
        return found.contains(force + by, moment + np.cross(com, by))

    assert resists(0.9999 * margins.force * worst)
    assert not resists(1.0001 * margins.force * worst)
    ball = np.random.default_rng(0).normal(size=(500, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    assert resists(0.999 * margins.force * ball).all()
    assert found.contains(force, moment + 0.999 * margins.moment * ball).all()
    assert (~found.contains(force, moment + 1.2 * margins.moment * ball)).any()
    both = np.random.default_rng(1).normal(size=(500, 6))
    both *= 0.999 * margins.wrench / np.linalg.norm(both, axis=1)[:, None]
    shifted_moment = moment + both[:, :3] + np.cross(com, both[:, 3:])
    assert found.contains(force + both[:, 3:], shifted_moment).all()
    assert margins.wrench <= margins.force
    assert margins.wrench <= margins.moment
    side = np.r_[rows[margins.side], across[margins.side]] * margins.wrench
    outward = moment + 1.001 * (side[:3] + np.cross(com, side[3:]))
    assert not found.contains(force + 1.001 * side[3:], outward)


def test_margins_of_a_batch_are_those_of_each():
    found = wrench_set(Stance((sole_contact("left", (0, 0.1, 0), **FOOT),), 900))
    rng = np.random.default_rng(2)
    force = rng.normal(size=(4, 5, 3)) * 50 + [0, 0, 600]
    com = rng.normal(size=(4, 5, 3)) * 0.1 + [0, 0.1, 0.9]
    margins = wrench_margins(found, force, np.cross(com, force), com=com, about=(0, 0, 0), unit=2.0)
    one = wrench_margins(
        found, force[2, 3], np.cross(com[2, 3], force[2, 3]), com=com[2, 3], about=(0, 0, 0), unit=2
    )
    for name in ("force", "moment", "wrench", "side"):
        assert getattr(margins, name)[2, 3] == pytest.approx(getattr(one, name))
    moment, across, bounds = found.rows(unit=2.0)
    left = bounds - moment @ np.cross(com[2, 3], force[2, 3]) - across @ force[2, 3]
    assert left.min() == pytest.approx(one.wrench)


def test_consecutive_stances_without_a_common_wrench_are_infeasible():
    """A wall loaded from one side and then from the other, never unloaded in between."""
    below = wrench_set(Stance((point_contact("a", (0, 0, 0), friction=0.5),), 100))
    above = wrench_set(
        Stance((point_contact("b", (0, 0, 0), normal=(0, 0, -1), friction=0.5),), 100)
    )
    touching = transition_difficulty([below, above])
    assert touching.feasible
    assert touching.index == 0
    shifted = replace(above, polytope=above.polytope.image(np.eye(6), np.r_[0, 0, 0, 0, 0, -1.0]))
    disjoint = transition_difficulty([below, shifted])
    assert not disjoint.feasible
    assert disjoint.index == -np.inf
