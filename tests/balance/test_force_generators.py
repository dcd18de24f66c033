"""Force generators: friction pyramids around their cone, grasps within boxes and balls."""

import numpy as np
import pytest

from homodyn.balance import ContactPatch, Grasp, Stance, sole_contact, wrench_set
from homodyn.balance.force_generators import pyramid_edges
from homodyn.balance.polytopes import inclusion
from homodyn.errors import ModelError, NoSolution

FOOT = {"size": (0.28, 0.12), "friction": 0.7}


def test_inner_and_finer_pyramids_are_closer_to_the_cone():
    def reach(sides: int, pyramid: str, direction: float) -> float:
        patch = ContactPatch("p", np.zeros((1, 3)), [0, 0, 1], 0.5, sides=sides, pyramid=pyramid)
        return float((pyramid_edges(patch)[:, :2] @ [np.cos(direction), np.sin(direction)]).max())

    for direction in np.linspace(0, 6, 20):
        assert reach(4, "inner", direction) <= 0.5 + 1e-12 <= reach(4, "outer", direction) + 2e-12
        assert reach(16, "outer", direction) < 0.5 / np.cos(np.pi / 16) + 1e-12
        assert reach(16, "inner", direction) > 0.5 * np.cos(np.pi / 16) - 1e-12
    assert reach(4, "outer", np.pi / 4) == pytest.approx(0.5 * np.sqrt(2))


def test_a_grasp_within_a_ball_gives_the_same_force_in_every_direction():
    box = wrench_set(Stance((Grasp("hand", (0.3, 0.1, 1.0), 100.0, 20.0),)))
    ball = wrench_set(Stance((Grasp("hand", (0.3, 0.1, 1.0), 100.0, 20.0, "ball"),)))
    at = np.array([0.3, 0.1, 1.0])
    rng = np.random.default_rng(4)
    directions = rng.normal(size=(300, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    for kind, bound in (("force", 100.0), ("moment", 20.0)):
        loads = {"force": np.zeros((300, 3)), "moment": np.zeros((300, 3))}
        for share, expected in ((0.92, True), (1.001, False)):
            loads[kind] = share * bound * directions
            assert (ball.contains(loads["force"], loads["moment"], about=at) == expected).all()
        # In a box the force along the diagonal may be 1.7 times as large.
        loads[kind] = np.tile(1.7 * bound / np.sqrt(3) * np.ones(3), (300, 1))
        assert box.contains(loads["force"], loads["moment"], about=at).all()
    assert inclusion(ball.polytope, box.polytope)


def test_a_ball_with_unequal_bounds_is_an_ellipsoid_and_works_with_feet():
    hand = Grasp("hand", (0.4, 0.3, 1.0), [100.0, 50.0, 0.0], within="ball")
    alone = wrench_set(Stance((hand,)))
    assert alone.contains([0, 46.0, 0], [0, 0, 0], about=hand.position)
    assert not alone.contains([60, 45, 0], [0, 0, 0], about=hand.position)
    assert not alone.contains([0, 0, 1.0], [0, 0, 0], about=hand.position)
    stance = Stance((sole_contact("foot", (0, 0, 0), **FOOT), hand), 900.0)
    found, rng = wrench_set(stance), np.random.default_rng(1)
    inner = rng.dirichlet(np.ones(len(stance.forces.wrenches)), 6) * 500 @ stance.forces.wrenches
    around = inner + rng.normal(size=inner.shape) * inner.std(axis=0)
    for wrench in np.vstack([inner, around]):
        try:
            stance.forces.weights(wrench)
            feasible = True
        except NoSolution:
            feasible = False
        assert found.contains(wrench[3:], wrench[:3], about=found.reference) == feasible
    with pytest.raises(ModelError, match="within is one of 'box', 'ball', got 'sack'"):
        Grasp("hand", (0, 0, 0), 10.0, within="sack")
