"""Degenerate stances: points, lines, no friction, many contacts, extreme scales."""

import numpy as np
import pytest

from homodyn.balance import (
    ContactPatch,
    Grasp,
    Stance,
    point_contact,
    sole_contact,
    static_equilibrium_polygon,
    wrench_margins,
    wrench_set,
)
from homodyn.balance.polytopes import inclusion, largest_inscribed_ball
from homodyn.balance.wrenches import transition_difficulty
from homodyn.errors import NoSolution

WEIGHT = np.array([0, 0, 600.0])


def set_and_margins(stance: Stance, com, force=WEIGHT):
    com = np.asarray(com, dtype=float)
    found = wrench_set(stance)
    assert found.polytope.check() == ()
    return found, wrench_margins(found, force, np.cross(com, force), com=com)


def test_one_point_balances_only_above_itself():
    stance = Stance((point_contact("toe", (0.1, 0.2, 0), friction=0.5),), 1000)
    found, above = set_and_margins(stance, (0.1, 0.2, 0.9))
    assert found.flat
    assert found.polytope.flatness == 3
    assert found.contains(WEIGHT, np.cross([0.1, 0.2, 0.9], WEIGHT))
    # It is in balance, and any disturbance tips it.
    assert above.wrench == pytest.approx(0, abs=1e-9)
    assert above.moment == pytest.approx(0, abs=1e-9)
    _, shifted = set_and_margins(stance, (0.11, 0.2, 0.9))
    assert shifted.wrench < -1
    polygon = static_equilibrium_polygon(stance, mass=60)
    assert polygon.vertices == pytest.approx(np.array([[0.1, 0.2]]))


def test_points_in_a_line_balance_on_the_line():
    places = [(0.0, y, 0.0) for y in (-0.2, 0.0, 0.1, 0.3)]
    stance = Stance(
        tuple(point_contact(f"p{k}", p, friction=0.5) for k, p in enumerate(places)), 1000
    )
    found, on = set_and_margins(stance, (0, 0.1, 0.9))
    assert found.polytope.flatness == 1
    assert found.contains(WEIGHT, np.cross([0, 0.1, 0.9], WEIGHT))
    assert on.wrench == pytest.approx(0, abs=1e-9)
    polygon = static_equilibrium_polygon(stance, mass=60)
    assert polygon.flatness == 1
    assert np.sort(polygon.vertices[:, 1]) == pytest.approx([-0.2, 0.3])


def test_without_friction_only_the_vertical_is_given():
    foot = sole_contact("foot", (0, 0, 0), size=(0.3, 0.1), friction=0.0, limit=1000.0)
    found, margins = set_and_margins(Stance((foot,)), (0, 0, 0.9))
    assert found.polytope.flatness == 3
    assert found.contains(WEIGHT, np.zeros(3))
    assert not found.contains(WEIGHT + np.array([1.0, 0, 0]), np.zeros(3))
    assert margins.force == pytest.approx(0, abs=1e-9)
    polygon = static_equilibrium_polygon(Stance((foot,)), mass=60)
    assert np.abs(polygon.vertices) == pytest.approx(np.tile([0.15, 0.05], (4, 1)))


def test_coincident_contacts_count_once():
    one = Stance((sole_contact("a", (0, 0, 0), size=(0.3, 0.1), friction=0.5),), 800)
    two = one.with_support(sole_contact("b", (0, 0, 0), size=(0.3, 0.1), friction=0.5))
    first, second = wrench_set(one).polytope, wrench_set(two).polytope
    assert len(first.A) == len(second.A)
    assert len(first.vertices) == len(second.vertices)
    assert inclusion(first, second)
    assert inclusion(second, first)
    together = Stance(
        (point_contact("a", (0, 0, 0), friction=1), point_contact("b", (0, 0, 0), friction=1)), 500
    )
    assert wrench_set(together).polytope.flatness == 3


def test_twelve_contacts():
    rng = np.random.default_rng(5)
    stance = Stance(
        tuple(
            point_contact(
                f"p{k}",
                rng.uniform(-1, 1, 3),
                normal=rng.normal(size=3) + np.array([0, 0, 2]),
                friction=0.6,
            )
            for k in range(12)
        ),
        1500,
    )
    found = wrench_set(stance)
    assert found.polytope.check() == ()
    loads = rng.dirichlet(np.full(48, 0.2), 20) * 1400
    inner = loads @ stance.forces.wrenches
    assert found.contains(inner[:, 3:], inner[:, :3], about=stance.reference).all()
    far = 1.05 * found.polytope.vertices
    outer = found.contains(far[:, 3:], far[:, :3], about=stance.reference)
    for wrench, inside in zip(far[:10], outer[:10], strict=True):
        try:
            stance.distribute(wrench[3:], wrench[:3], about=stance.reference)
            given = True
        except NoSolution:
            given = False
        assert inside == given
    assert static_equilibrium_polygon(stance, mass=70).check() == ()


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_millimeters_and_kilometers(scale):
    """Lengths scaled, moments and margins scale with them; forces do not."""

    def stance_of_size(size: float) -> Stance:
        shape = {"size": (0.28 * size, 0.12 * size), "friction": 0.7}
        return Stance(
            (
                sole_contact("left", np.array([0, 0.1, 0]) * size, **shape),
                sole_contact("right", np.array([0.3, -0.1, 0.1]) * size, orientation=0.3, **shape),
            ),
            1000,
        )

    plain, scaled = wrench_set(stance_of_size(1.0)), wrench_set(stance_of_size(scale))
    assert len(scaled.polytope.A) == len(plain.polytope.A)
    assert scaled.polytope.check() == ()
    com = np.array([0.1, 0.0, 0.9])
    first = wrench_margins(plain, WEIGHT, np.cross(com, WEIGHT), com=com)
    second = wrench_margins(
        scaled, WEIGHT, np.cross(com * scale, WEIGHT), com=com * scale, unit=scale
    )
    assert second.force == pytest.approx(first.force, rel=1e-6)
    assert second.moment == pytest.approx(first.moment * scale, rel=1e-6)
    assert second.wrench == pytest.approx(first.wrench * scale, rel=1e-6)
    polygon = static_equilibrium_polygon(stance_of_size(scale), mass=60)
    assert np.abs(polygon.vertices).max() == pytest.approx(
        scale * np.abs(static_equilibrium_polygon(stance_of_size(1.0), mass=60).vertices).max()
    )


def test_a_stance_a_kilometer_from_the_origin_is_the_same_stance():
    far = np.array([1000.0, -2000.0, 500.0])
    size = {"size": (0.28, 0.12), "friction": 0.7, "limit": 800.0}
    near, away = (
        wrench_set(Stance((sole_contact("foot", p, **size),))) for p in (np.zeros(3), far)
    )
    com = np.array([0.02, 0.01, 0.9])
    here = wrench_margins(near, WEIGHT, np.cross(com, WEIGHT), com=com)
    there = wrench_margins(away, WEIGHT, np.cross(com + far, WEIGHT), com=com + far)
    assert there.wrench == pytest.approx(here.wrench, rel=1e-6)
    assert there.force == pytest.approx(here.force, rel=1e-6)


def test_supports_that_give_every_wrench_have_no_border():
    """Six fingers around a ball, without limits of force: every wrench can be given."""
    places = np.vstack([np.eye(3), -np.eye(3)])
    fingers = tuple(
        point_contact(f"f{k}", p, normal=-p, friction=1.0) for k, p in enumerate(places)
    )
    found = wrench_set(Stance(fingers))
    assert len(found.polytope.A) == 0
    assert found.contains([1e6, 0, -1e6], [1e5, 0, 0])
    margins = wrench_margins(found, WEIGHT, np.zeros(3), com=np.zeros(3))
    assert margins.wrench == margins.force == np.inf
    assert margins.side == -1


def test_a_single_grasp_and_a_change_of_hands():
    left = wrench_set(Stance((Grasp("left", (0, 0.3, 1), 400.0, 30.0),)))
    right = wrench_set(Stance((Grasp("right", (0, -0.3, 1), 400.0, 30.0),)))
    assert largest_inscribed_ball(left.polytope).radius == pytest.approx(30)
    assert not left.contains(WEIGHT, np.zeros(3))
    assert 0 < transition_difficulty([left, right]).index < 30
    without_moment = wrench_set(Stance((Grasp("left", (0, 0.3, 1), 400.0),)))
    assert without_moment.polytope.flatness == 3


@pytest.mark.parametrize("limit", [np.inf, 1000.0])
@pytest.mark.parametrize(
    "corners",
    [
        [[(0.2, 0.1, 0)]],
        [[(0, 0, 0), (0.1, 0, 0)]],
        [[(0, 0, 0)], [(0.3, 0.1, 0.2)]],
    ],
    ids=["point", "edge", "two points"],
)
def test_flat_sets_contain_what_contacts_without_limits_give(corners, limit):
    stance = Stance(
        tuple(
            ContactPatch(f"p{k}", np.array(each), np.array([0, 0, 1.0]), 0.7, limit)
            for k, each in enumerate(corners)
        )
    )
    found = wrench_set(stance)
    rng = np.random.default_rng(3)
    weights = rng.dirichlet(np.ones(len(stance.forces.wrenches)), 40) * rng.uniform(1, 900, (40, 1))
    attainable = weights @ stance.forces.wrenches
    other = attainable + rng.normal(size=attainable.shape)
    tilted = attainable - np.array([0, 0, 0, 0, 0, 2000.0])
    for wrenches, inside in ((attainable, True), (other, False), (tilted, False)):
        about = {"about": stance.reference}
        assert (found.contains(wrenches[:, 3:], wrenches[:, :3], **about) == inside).all()
        for wrench in wrenches[:5]:
            if inside:
                stance.distribute(wrench[3:], wrench[:3], **about)
            else:
                with pytest.raises(NoSolution):
                    stance.distribute(wrench[3:], wrench[:3], **about)
    moment = attainable[:, :3] + np.cross(stance.reference, attainable[:, 3:])
    margins = wrench_margins(found, attainable[:, 3:], moment, com=stance.reference)
    assert margins.wrench == pytest.approx(0, abs=1e-6)
    assert not np.signbit(margins.wrench).any()
