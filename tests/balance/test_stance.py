"""Stances: lookups, distribution of wrenches over supports, and refusals."""

import numpy as np
import pytest

from homodyn.balance import Grasp, Stance, point_contact, sole_contact
from homodyn.errors import ModelError, NoSolution

FOOT = {"size": (0.28, 0.12), "friction": 0.7}


def test_a_distributed_wrench_adds_up():
    stance = Stance(
        (
            sole_contact("left", (0, 0.1, 0), **FOOT),
            sole_contact("right", (0.3, -0.1, 0.1), orientation=0.2, **FOOT),
            Grasp("hand", (0.5, 0.3, 1.0), 100.0, 10.0),
        ),
        1200.0,
    )
    com, force = np.array([0.2, 0.0, 0.9]), np.array([30.0, -10.0, 700.0])
    moment = np.cross(com, force)
    shares = stance.distribute(force, moment)
    assert [share.support for share in shares] == ["left", "right", "hand"]
    assert np.sum([share.force for share in shares], axis=0) == pytest.approx(force, abs=1e-6)
    about_origin = [
        share.moment + np.cross(stance.support(share.support).middle, share.force)
        for share in shares
    ]
    assert np.sum(about_origin, axis=0) == pytest.approx(moment, abs=1e-6)
    with pytest.raises(NoSolution, match="left, right, hand cannot give the force"):
        stance.distribute(2 * force, moment)


def test_supports_are_added_and_removed_by_name():
    left, right = (sole_contact(name, (0, y, 0), **FOOT) for name, y in (("l", 0.1), ("r", -0.1)))
    both = Stance((left, right), 900.0, "double support")
    assert both.without("l").names == ("r",)
    assert both.without("l").limit == 900.0
    assert both.without("l").with_support(left).names == ("r", "l")
    with pytest.raises(ModelError, match="no support 'left'"):
        both.support("left")


def test_invalid_stances_are_refused():
    with pytest.raises(ModelError, match="several supports of one name: a"):
        Stance(
            (point_contact("a", (0, 0, 0), friction=1), point_contact("a", (1, 0, 0), friction=1))
        )
    with pytest.raises(ModelError, match="at least one support"):
        Stance(())
    with pytest.raises(ModelError, match="limit is a force above 0 N"):
        Stance((point_contact("a", (0, 0, 0), friction=1),), limit=0.0)
