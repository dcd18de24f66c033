"""Static and ZMP polygons: closed forms, the slow methods, and the full set of wrenches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homodyn.balance import (
    Grasp,
    Stance,
    point_contact,
    sole_contact,
    static_equilibrium_polygon,
    support_areas,
    support_polygon,
    wrench_set,
    zmp_support_area,
)
from homodyn.balance.polytopes import Polytope, inclusion, volume
from homodyn.bench.balance import polygon_by_hull, polygon_by_programs, three_points, three_soles
from homodyn.errors import NoSolution

QIU_STATIC = [(0.06, 0.14, 0), (0.06, -0.14, 0), (-0.06, -0.1, 0), (-0.06, 0.18, 0)]
QIU_ZMP = [(0.06, 0.18, 0), (0.06, -0.1, 0), (-0.06, -0.06, 0), (-0.06, 0.22, 0)]


def points(places, friction: float, **more) -> Stance:
    return Stance(
        tuple(point_contact(f"p{k}", p, friction=friction) for k, p in enumerate(places)), **more
    )


def same(first: Polytope, second: Polytope, tolerance: float = 1e-6) -> bool:
    return bool(inclusion(first, second, tolerance) and inclusion(second, first, tolerance))


def test_on_level_ground_the_static_polygon_is_the_support_polygon():
    stance = points(QIU_STATIC, 0.7)
    found = static_equilibrium_polygon(stance)
    assert same(found, support_polygon(stance), 1e-9)
    assert found.check() == ()
    assert same(
        static_equilibrium_polygon(points(QIU_STATIC, 0.7, limit=1e4), mass=60), found, 1e-9
    )


@pytest.mark.parametrize(
    ("z", "ratios"),
    [(0.8, [0.554, 0.857, 1, 1, 1, 1]), (0.3, [0.107, 0.429, 0.603, 0.821, 0.996, 1])],
)
def test_friction_and_a_low_center_of_mass_clip_the_zmp_polygon(z, ratios):
    """Box friction leaves the support polygon within |x|, |y| <= mu z of the center of mass."""
    for friction, ratio in zip([0.1, 0.2, 0.3, 0.5, 0.7, 1.0], ratios, strict=True):
        stance = points(QIU_ZMP, friction)
        found, base = zmp_support_area(stance, (0, 0, z)), support_polygon(stance)
        assert volume(found) / volume(base) == pytest.approx(ratio, abs=5e-4)
        reach = friction * z
        rows = np.vstack([base.A, np.eye(2), -np.eye(2)])
        closed = Polytope.from_rows(rows, [*base.b, *[reach] * 4])
        assert same(found, closed, 1e-9)


def test_the_zmp_polygon_is_a_slice_of_the_wrenches():
    stance = Stance(
        (
            sole_contact("left", (0, 0.1, 0), size=(0.28, 0.12), friction=0.4),
            sole_contact("right", (0.2, -0.1, 0.1), size=(0.28, 0.12), friction=0.4),
        ),
        900,
    )
    com, mass, lift = np.array([0.1, 0.0, 0.8]), 60.0, 1.5
    found = zmp_support_area(stance, com, mass=mass, lift=lift)
    wrenches = wrench_set(stance)
    rng = np.random.default_rng(0)
    zmp = rng.uniform(-0.3, 0.4, (400, 2))
    weight = mass * (9.81 + lift)
    across = (com[:2] - zmp) * weight / com[2]
    force = np.c_[across, np.full(400, weight)]
    inside = wrenches.contains(force, np.cross(com, force))
    assert (found.contains(zmp, 1e-9) == inside).all()
    assert 10 < inside.sum() < 390


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_pivoting_finds_what_linear_programs_find(seed):
    rng = np.random.default_rng(seed)
    supports = []
    for k in range(rng.integers(1, 5)):
        place, limit = rng.uniform(-1, 1, 3), rng.choice([np.inf, 700.0])
        normal = rng.normal(size=3) * 0.4 + [0, 0, 1]
        if rng.random() < 0.5:
            supports.append(point_contact(f"s{k}", place, normal=normal, friction=0.6, limit=limit))
        elif rng.random() < 0.8:
            supports.append(
                sole_contact(
                    f"s{k}", place, size=(0.3, 0.1), friction=0.6, orientation=k, limit=limit
                )
            )
        else:
            supports.append(Grasp(f"s{k}", place, 150.0))
    stance = Stance(tuple(supports), limit=rng.choice([np.inf, 1200.0]))
    answers = []
    for method in (
        support_areas.project_by_pivoting,
        support_areas._project_by_linear_programs,
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(support_areas, "project_by_pivoting", method)
            try:
                answers.append(static_equilibrium_polygon(stance, mass=70.0))
            except NoSolution:
                answers.append(None)
    pivoted, programmed = answers
    assert (pivoted is None) == (programmed is None)
    if pivoted is not None:
        assert same(pivoted, programmed, 1e-6)


@pytest.mark.parametrize("stance", [three_points(), three_soles()])
def test_the_peers_of_the_benchmark_find_the_same_polygon(stance):
    found = static_equilibrium_polygon(stance)
    assert same(found, Polytope.from_points(polygon_by_programs(stance)), 1e-4)
    assert same(found, Polytope.from_points(polygon_by_hull(stance)), 1e-4)
    # Every corner stands and a step beyond it does not: the definition, state by state.
    weight = np.array([0, 0, 686.7])
    middle = found.vertices.mean(axis=0)
    for corner in found.vertices:
        for share, stands in ((0.999, True), (1.001, False)):
            place = np.array([*(middle + share * (corner - middle)), 0.0])
            if stands:
                stance.distribute(weight, np.cross(place, weight))
            else:
                with pytest.raises(NoSolution):
                    stance.distribute(weight, np.cross(place, weight))


def test_the_vertical_may_have_any_direction():
    level = points([(0.1, 0.2, 0), (-0.3, 0.1, 0), (0.0, -0.2, 0)], 0.5)
    upright = Stance(
        tuple(
            point_contact(
                p.name, (p.middle[0], p.middle[2], -p.middle[1]), normal=(0, 1, 0), friction=0.5
            )
            for p in level.patches
        )
    )
    rotated = static_equilibrium_polygon(upright, gravity=np.array([0, -9.81, 0]))
    assert same(rotated, static_equilibrium_polygon(level), 1e-9)


def test_impossible_polygons_are_refused():
    wall = points([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0)], 0.5)
    with pytest.raises(NoSolution, match="give mass"):
        static_equilibrium_polygon(points(QIU_STATIC, 0.7, limit=500))
    with pytest.raises(NoSolution, match="cannot carry the weight"):
        static_equilibrium_polygon(points(QIU_STATIC, 0.7, limit=500), mass=60)
    with pytest.raises(NoSolution, match="normal force is zero"):
        zmp_support_area(wall, (0, 0, 1), lift=-10)
    with pytest.raises(NoSolution, match="gravity is zero"):
        static_equilibrium_polygon(wall, gravity=np.zeros(3))
