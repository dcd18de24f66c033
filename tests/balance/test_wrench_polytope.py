"""Admissible wrenches: the polytope and the linear program for contact forces say the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homodyn.balance import (
    ContactPatch,
    Grasp,
    Stance,
    Unbounded,
    inclusion,
    largest_inscribed_ball,
    point_contact,
    sole_contact,
    transition_difficulty,
    volume,
    wrench_margins,
    wrench_set,
)
from homodyn.balance.wrench_polytope import WrenchSet
from homodyn.errors import ModelError, NoSolution

FOOT = {"length": 0.28, "width": 0.12, "friction": 0.7}


def random_patch(rng: np.random.Generator, name: str) -> ContactPatch:
    place, normal = rng.uniform(-1, 1, 3), rng.normal(size=3) * 0.4 + np.array([0, 0, 1.0])
    more = {"friction": rng.uniform(0.1, 1.2), "limit": rng.choice([np.inf, 300.0])}
    if rng.random() < 0.6:
        return point_contact(name, place, normal=normal, **more)
    turn = np.linalg.qr(np.c_[normal, rng.normal(size=(3, 2))])[0][:, [1, 2, 0]]
    turn[:, 2] *= np.sign(turn[2, 2])
    turn[:, 1] = np.cross(turn[:, 2], turn[:, 0])
    return sole_contact(name, place, length=0.25, width=0.1, rotation=turn, **more)


def random_stance(seed: int) -> Stance:
    """One to three contacts, or one or two and a hand, with limits of all kinds."""
    rng = np.random.default_rng(seed)
    held = rng.random() < 0.3
    patches = [random_patch(rng, f"s{k}") for k in range(rng.integers(1, 3 if held else 4))]
    if not held:
        return Stance(tuple(patches), limit=rng.choice([np.inf, 900.0]))
    grasp = Grasp("hand", rng.uniform(-1, 1, 3), rng.uniform(20, 200, 3))
    return Stance((*patches, grasp), limit=900.0)


def states(stance: Stance, found: WrenchSet, rng: np.random.Generator) -> np.ndarray:
    """Wrenches about the reference, in and around the set."""
    forces = stance.forces
    loads = rng.dirichlet(np.ones(len(forces.wrenches)), 6) * 500
    inner = loads @ forces.wrenches
    around = inner + rng.normal(size=inner.shape) * inner.std(axis=0)
    return np.vstack([inner, around])


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_inside_is_what_the_program_for_contact_forces_says(seed):
    stance = random_stance(seed)
    found = wrench_set(stance)
    shape = found.polytope
    for wrench in states(stance, found, np.random.default_rng(seed)):
        told = found.contains(wrench[3:], wrench[:3], about=stance.reference)
        slack = shape.slack(wrench).min(initial=np.inf) / max(shape.size, 1.0)
        if abs(slack) < 1e-7 or 0 < shape.equation_residual(wrench) < 1e-6 * max(shape.size, 1.0):
            continue
        try:
            stance.distribute(wrench[3:], wrench[:3], about=stance.reference)
            given_by_supports = True
        except NoSolution:
            given_by_supports = False
        assert told == given_by_supports, f"slack {slack}"


@settings(max_examples=3)
@given(seed=st.integers(0, 10_000))
def test_all_methods_give_one_set(seed):
    rng = np.random.default_rng(seed)
    supports = [
        point_contact(
            f"p{k}", rng.uniform(-1, 1, 3), normal=rng.normal(size=3), friction=0.5, limit=limit
        )
        for k, limit in enumerate(rng.choice([300.0, np.inf], 2))
    ]
    stance = Stance((*supports, Grasp("hand", rng.uniform(-1, 1, 3), [0.0, 50.0, 100.0])), 500.0)
    simple = all(budget.has_one_part for budget in stance.forces.budgets)
    methods = ("hull", "shooting", "programs") if simple else ("shooting", "programs")
    found = [wrench_set(stance, method=m).polytope for m in methods]
    for other in found[1:]:
        close = 1e-7 * found[0].size
        assert inclusion(found[0], other, close)
        assert inclusion(other, found[0], close)
    assert found[0].check() == ()


@pytest.mark.parametrize("limit", [np.inf, 900.0])
def test_a_set_proves_itself(limit):
    stance = Stance(
        (
            sole_contact("left", (0, 0.1, 0), **FOOT),
            point_contact("toe", (0.4, -0.1, 0.1), friction=0.5),
        ),
        limit,
    )
    found = wrench_set(stance)
    shape, forces, proof = found.polytope, stance.forces, found.certificate()
    assert proof.weights.min() >= 0
    if len(forces.d):
        assert (proof.weights @ forces.C.T <= forces.d * (1 + 1e-9)).all()
    assert proof.weights @ forces.wrenches == pytest.approx(shape.vertices, abs=1e-6)
    assert proof.prices.min(initial=0.0) >= 0
    worth = shape.A @ forces.wrenches.T
    assert (proof.prices @ forces.C - worth).min() > -1e-9
    assert proof.prices @ forces.d == pytest.approx(shape.b, abs=1e-6)


def test_moments_may_be_about_any_point():
    stance = Stance(
        (sole_contact("left", (0.2, 0.1, 0), **FOOT), sole_contact("right", (0, -0.1, 0.1), **FOOT))
    )
    found = wrench_set(stance)
    force, com = np.array([50.0, -20, 700]), np.array([0.1, 0.0, 0.9])
    moment = np.array([1.0, 2.0, 3.0])
    at_origin = moment + np.cross(com, force)
    assert found.contains(force, moment, about=com) == found.contains(force, at_origin)
    assert found.slack(force, moment, about=com) == pytest.approx(found.slack(force, at_origin))
    rows, across, bounds = found.rows(com)
    other, over, limits = found.rows()
    lengths = np.linalg.norm(np.c_[rows, across], axis=1)
    assert lengths == pytest.approx(1)
    left = bounds - rows @ moment - across @ force
    right = limits - other @ at_origin - over @ force
    assert np.sign(left) == pytest.approx(np.sign(right))


def test_slices_hold_what_the_set_holds():
    stance = Stance(
        (sole_contact("left", (0, 0.1, 0), **FOOT), sole_contact("right", (0, -0.1, 0), **FOOT)),
        1500,
    )
    found = wrench_set(stance)
    com = np.array([0.02, 0.0, 0.9])
    through, about = found.force_slice(com), found.moment_slice([0, 0, 600.0], about=com)
    rng = np.random.default_rng(1)
    forces = rng.normal(size=(200, 3)) * [100, 100, 400] + [0, 0, 600]
    assert (through.contains(forces) == found.contains(forces, np.cross(com, forces))).all()
    moments = rng.normal(size=(200, 3)) * 60
    told = found.contains([0, 0, 600.0], moments, about=com)
    assert (about.contains(moments) == told).all()
    assert 0 < told.sum() < 200
    printed = found.printed_moment_slice(com)
    assert printed.flatness == 1
    assert largest_inscribed_ball(printed).radius == 0


def test_removing_a_support_shrinks_the_set_and_a_grasp_enlarges_it():
    both = Stance(
        (sole_contact("left", (0, 0.1, 0), **FOOT), sole_contact("right", (0, -0.1, 0), **FOOT)),
        1000,
    )
    held = both.with_support(Grasp("hand", (0.4, 0.3, 1.0), 100.0))
    sets = [wrench_set(s) for s in (both.without("left"), both, held)]
    com = np.array([0.0, 0.0, 0.9])
    slices = [s.force_slice(com) for s in sets]
    for small, large in ((sets[0], sets[1]), (sets[1], sets[2])):
        moment, force, bounds = large.rows(small.reference)
        corners = small.polytope.vertices
        assert (corners @ np.c_[moment, force].T - bounds).max() < 1e-6
    for small, large in ((slices[0], slices[1]), (slices[1], slices[2])):
        assert inclusion(small, large, 1e-6)
        assert not inclusion(large, small, 1e-6)
        assert volume(small) < volume(large)


def rectangle_rows(X: float, Y: float, mu: float) -> np.ndarray:
    """The wrench cone of a rectangular sole in closed form (Caron et al. 2015): rows <= 0.

    Wrench: moment about the middle and force; half lengths X and Y.
    """
    rows = []
    for s in (1, -1):
        rows += [[0, 0, 0, s, 0, -mu], [0, 0, 0, 0, s, -mu]]
        rows += [[s, 0, 0, 0, 0, -Y], [0, s, 0, 0, 0, -X]]
    for s in (1, -1):
        for p in (1, -1):
            # mz <= mu (X + Y) fz - |Y fx + mu mx| - |X fy + mu my|
            rows.append([s * mu, p * mu, 1, s * Y, p * X, -mu * (X + Y)])
            # -mz <= mu (X + Y) fz - |Y fx - mu mx| - |X fy - mu my|
            rows.append([-s * mu, -p * mu, -1, s * Y, p * X, -mu * (X + Y)])
    return np.array(rows, dtype=float)


def test_corner_forces_give_the_right_bound_on_the_yaw_moment():
    X, Y, mu = 0.14, 0.06, 0.7
    found = wrench_set(
        Stance((sole_contact("foot", (0, 0, 0), length=2 * X, width=2 * Y, friction=mu),))
    )
    rows = rectangle_rows(X, Y, mu)
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    assert len(found.polytope.A) == len(rows) == 16
    for row in rows:
        assert np.abs(found.polytope.A - row).sum(axis=1).min() < 1e-9
    # A bound mu_yaw * fz alone allows twists at the edge of the sole that make it slip.
    force, moment = np.array([0.0, 0.0, 700.0]), np.array([0.95 * Y * 700, 0.0, 0.0])
    yaw = 0.8 * mu * (X + Y) * 700
    assert found.contains(force, [0.0, 0.0, yaw])
    assert not found.contains(force, moment + np.array([0, 0, yaw]))


def test_a_stated_yaw_limit_takes_more_away():
    free = sole_contact("foot", (0, 0, 0), limit=1000.0, **FOOT)
    tight = sole_contact("foot", (0, 0, 0), limit=1000.0, yaw_limit=20.0, **FOOT)
    loose, held = wrench_set(Stance((free,))), wrench_set(Stance((tight,)))
    assert held.polytope.check() == ()
    assert inclusion(held.polytope, loose.polytope, 1e-6)
    assert held.moment_slice([0, 0, 700.0], about=(0, 0, 0)).vertices[:, 2].max() == pytest.approx(
        20.0
    )
    with pytest.raises(Unbounded, match="limit"):
        wrench_set(Stance((sole_contact("foot", (0, 0, 0), yaw_limit=20.0, **FOOT),)))


def test_inner_and_finer_pyramids_are_closer_to_the_cone():
    def reach(sides: int, pyramid: str, direction: float) -> float:
        patch = ContactPatch("p", np.zeros((1, 3)), [0, 0, 1], 0.5, sides=sides, pyramid=pyramid)
        return float((patch.edges[:, :2] @ [np.cos(direction), np.sin(direction)]).max())

    for direction in np.linspace(0, 6, 20):
        assert reach(4, "inner", direction) <= 0.5 + 1e-12 <= reach(4, "outer", direction) + 2e-12
        assert reach(16, "outer", direction) < 0.5 / np.cos(np.pi / 16) + 1e-12
        assert reach(16, "inner", direction) > 0.5 * np.cos(np.pi / 16) - 1e-12
    assert reach(4, "outer", np.pi / 4) == pytest.approx(0.5 * np.sqrt(2))


def test_a_hand_within_a_ball_pulls_as_hard_in_every_direction():
    box = wrench_set(Stance((Grasp("hand", (0.3, 0.1, 1.0), 100.0, 20.0),)))
    ball = wrench_set(Stance((Grasp("hand", (0.3, 0.1, 1.0), 100.0, 20.0, "ball"),)))
    at = np.array([0.3, 0.1, 1.0])
    rng = np.random.default_rng(4)
    ways = rng.normal(size=(300, 3))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    for kind, bound in (("force", 100.0), ("moment", 20.0)):
        push = {"force": np.zeros((300, 3)), "moment": np.zeros((300, 3))}
        for share, held in ((0.92, True), (1.001, False)):
            push[kind] = share * bound * ways
            assert (ball.contains(push["force"], push["moment"], about=at) == held).all()
        # In a box a pull along the diagonal may be 1.7 times as large.
        push[kind] = np.tile(1.7 * bound / np.sqrt(3) * np.ones(3), (300, 1))
        assert box.contains(push["force"], push["moment"], about=at).all()
    assert inclusion(ball.polytope, box.polytope)


def test_a_ball_with_unlike_bounds_is_an_ellipsoid_and_works_beside_feet():
    hand = Grasp("hand", (0.4, 0.3, 1.0), [100.0, 50.0, 0.0], within="ball")
    alone = wrench_set(Stance((hand,)))
    assert alone.contains([0, 46.0, 0], [0, 0, 0], about=hand.position)
    assert not alone.contains([60, 45, 0], [0, 0, 0], about=hand.position)
    assert not alone.contains([0, 0, 1.0], [0, 0, 0], about=hand.position)
    stance = Stance((sole_contact("foot", (0, 0, 0), **FOOT), hand), 900.0)
    found, rng = wrench_set(stance), np.random.default_rng(1)
    for wrench in states(stance, found, rng):
        try:
            stance.forces.weights(wrench)
            can = True
        except NoSolution:
            can = False
        assert found.contains(wrench[3:], wrench[:3], about=found.reference) == can
    with pytest.raises(ModelError, match="within is one of 'box', 'ball', got 'sack'"):
        Grasp("hand", (0, 0, 0), 10.0, within="sack")


def test_margins_are_what_a_push_needs_to_reach_the_border():
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
    told = wrench_margins(found, force, moment, com=com)
    rows, across, _ = found.rows(com)
    worst = across[told.force_side] / np.linalg.norm(across[told.force_side])

    def pushed(by: np.ndarray) -> np.ndarray:
        return found.contains(force + by, moment + np.cross(com, by))

    assert pushed(0.9999 * told.force * worst)
    assert not pushed(1.0001 * told.force * worst)
    ball = np.random.default_rng(0).normal(size=(500, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    assert pushed(0.999 * told.force * ball).all()
    assert found.contains(force, moment + 0.999 * told.moment * ball).all()
    assert (~found.contains(force, moment + 1.2 * told.moment * ball)).any()
    both = np.random.default_rng(1).normal(size=(500, 6))
    both *= 0.999 * told.wrench / np.linalg.norm(both, axis=1)[:, None]
    moved = moment + both[:, :3] + np.cross(com, both[:, 3:])
    assert found.contains(force + both[:, 3:], moved).all()
    assert told.wrench <= told.force
    assert told.wrench <= told.moment
    side = np.r_[rows[told.side], across[told.side]] * told.wrench
    outward = moment + 1.001 * (side[:3] + np.cross(com, side[3:]))
    assert not found.contains(force + 1.001 * side[3:], outward)


def test_margins_of_a_batch_are_those_of_each():
    found = wrench_set(Stance((sole_contact("left", (0, 0.1, 0), **FOOT),), 900))
    rng = np.random.default_rng(2)
    force = rng.normal(size=(4, 5, 3)) * 50 + [0, 0, 600]
    com = rng.normal(size=(4, 5, 3)) * 0.1 + [0, 0.1, 0.9]
    told = wrench_margins(found, force, np.cross(com, force), com=com, about=(0, 0, 0), unit=2.0)
    one = wrench_margins(
        found, force[2, 3], np.cross(com[2, 3], force[2, 3]), com=com[2, 3], about=(0, 0, 0), unit=2
    )
    for name in ("force", "moment", "wrench", "side"):
        assert getattr(told, name)[2, 3] == pytest.approx(getattr(one, name))
    moment, across, bounds = found.rows(unit=2.0)
    left = bounds - moment @ np.cross(com[2, 3], force[2, 3]) - across @ force[2, 3]
    assert left.min() == pytest.approx(one.wrench)


def test_neighbours_without_a_common_wrench_are_infeasible():
    """A wall pushed from one side and then from the other, never unloaded in between."""
    near = wrench_set(Stance((point_contact("a", (0, 0, 0), friction=0.5),), 100))
    far = wrench_set(Stance((point_contact("b", (0, 0, 0), normal=(0, 0, -1), friction=0.5),), 100))
    touching = transition_difficulty([near, far])
    assert touching.feasible
    assert touching.index == 0
    moved = WrenchSet(
        far.stance, far.forces, far.polytope.image(np.eye(6), np.r_[0, 0, 0, 0, 0, -1.0])
    )
    apart = transition_difficulty([near, moved])
    assert not apart.feasible
    assert apart.index == -np.inf


def test_wrong_supports_are_refused_by_name():
    with pytest.raises(ModelError, match="'left': friction"):
        sole_contact("left", (0, 0, 0), length=0.2, width=0.1, friction=-0.1)
    with pytest.raises(ModelError, match="'left': length and width"):
        sole_contact("left", (0, 0, 0), length=0.0, width=0.1, friction=0.5)
    with pytest.raises(ModelError, match="several supports of one name: a"):
        Stance(
            (point_contact("a", (0, 0, 0), friction=1), point_contact("a", (1, 0, 0), friction=1))
        )
    with pytest.raises(ModelError, match="at least one support"):
        Stance(())
    with pytest.raises(ModelError, match="grasp 'hand': force"):
        Grasp("hand", (0, 0, 0), -1.0)
    with pytest.raises(ModelError, match="one plane"):
        ContactPatch("p", [[0, 0, 0], [1, 0, 0.5], [0, 1, 0]], [0, 0, 1], 0.5)
