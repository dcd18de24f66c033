"""Admissible wrenches: the polytope and the linear program for contact forces say the same."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from homodyn.balance import ContactPatch, Grasp, Stance, point_contact, sole_contact, wrench_set
from homodyn.balance.polytopes import Unbounded, inclusion, largest_inscribed_ball, volume
from homodyn.balance.wrenches import WrenchSet
from homodyn.errors import NoSolution

FOOT = {"size": (0.28, 0.12), "friction": 0.7}


def random_patch(rng: np.random.Generator, name: str) -> ContactPatch:
    place, normal = rng.uniform(-1, 1, 3), rng.normal(size=3) * 0.4 + np.array([0, 0, 1.0])
    more = {"friction": rng.uniform(0.1, 1.2), "limit": rng.choice([np.inf, 300.0])}
    if rng.random() < 0.6:
        return point_contact(name, place, normal=normal, **more)
    turn = np.linalg.qr(np.c_[normal, rng.normal(size=(3, 2))])[0][:, [1, 2, 0]]
    turn[:, 2] *= np.sign(turn[2, 2])
    turn[:, 1] = np.cross(turn[:, 2], turn[:, 0])
    return sole_contact(name, place, size=(0.25, 0.1), orientation=turn, **more)


def random_stance(seed: int) -> Stance:
    """One to three contacts, or one or two and a hand, with limits of all kinds."""
    rng = np.random.default_rng(seed)
    with_grasp = rng.random() < 0.3
    patches = [random_patch(rng, f"s{k}") for k in range(rng.integers(1, 3 if with_grasp else 4))]
    if not with_grasp:
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
@example(seed=76)
def test_inside_is_what_the_program_for_contact_forces_says(seed):
    stance = random_stance(seed)
    found = wrench_set(stance)
    shape = found.polytope
    for wrench in states(stance, found, np.random.default_rng(seed)):
        inside = found.contains(wrench[3:], wrench[:3], about=stance.reference)
        slack = shape.slack(wrench).min(initial=np.inf) / max(shape.size, 1.0)
        if abs(slack) < 1e-7 or 0 < shape.equation_residual(wrench) < 1e-6 * max(shape.size, 1.0):
            continue
        try:
            stance.distribute(wrench[3:], wrench[:3], about=stance.reference)
            given_by_supports = True
        except NoSolution:
            given_by_supports = False
        assert inside == given_by_supports, f"slack {slack}"


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
    inside = found.contains([0, 0, 600.0], moments, about=com)
    assert (about.contains(moments) == inside).all()
    assert 0 < inside.sum() < 200
    printed = found.printed_moment_slice(com)
    assert printed.flatness == 1
    assert largest_inscribed_ball(printed).radius == 0


def test_removing_a_support_shrinks_the_set_and_a_grasp_enlarges_it():
    both = Stance(
        (sole_contact("left", (0, 0.1, 0), **FOOT), sole_contact("right", (0, -0.1, 0), **FOOT)),
        1000,
    )
    with_grasp = both.with_support(Grasp("hand", (0.4, 0.3, 1.0), 100.0))
    sets = [wrench_set(s) for s in (both.without("left"), both, with_grasp)]
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
    found = wrench_set(Stance((sole_contact("foot", (0, 0, 0), size=(2 * X, 2 * Y), friction=mu),)))
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


def test_a_yaw_limit_makes_the_set_smaller():
    free = sole_contact("foot", (0, 0, 0), limit=1000.0, **FOOT)
    tight = replace(free, yaw_limit=20.0)
    larger, smaller = wrench_set(Stance((free,))), wrench_set(Stance((tight,)))
    assert smaller.polytope.check() == ()
    assert inclusion(smaller.polytope, larger.polytope, 1e-6)
    moments = smaller.moment_slice([0, 0, 700.0], about=(0, 0, 0))
    assert moments.vertices[:, 2].max() == pytest.approx(20.0)
    with pytest.raises(Unbounded, match="limit"):
        wrench_set(Stance((replace(tight, limit=np.inf),)))


def test_sets_with_too_many_vertices_are_refused_before_all_are_found():
    """Two soles with yaw limits have thousands of vertices, each from a linear program."""
    left = replace(sole_contact("left", (0, 0.1, 0), limit=800.0, **FOOT), yaw_limit=20.0)
    right = replace(left, name="right", corners=left.corners - np.array([0, 0.2, 0]))
    with pytest.raises(NoSolution, match="left, right has more than 300 vertices"):
        wrench_set(Stance((left, right), 900.0), max_vertices=300)
