"""Muscles, ligaments and wrap objects of stretched bodies."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import ModelError
from homodyn.model import Assembly, Mesh, parametric, rod
from homodyn.model.functions import Linear
from homodyn.model.joints import revolute
from homodyn.model.muscles import Ligament, Muscle, PathPoint, PointLaw, WrapObject
from homodyn.spatial import Transform, rotation


def leg():
    """Two rods below each other, a muscle from one to the other, and all that may hang on it."""
    created = (
        Assembly("leg")
        .add(rod("thigh", 8.0, (0, 0, 0), (0, 0, -0.4)), revolute("y", names="hip"))
        .add(rod("shank", 4.0, (0, 0, 0), (0, 0, -0.4)), revolute("y", names="knee"), "thigh",
             at=(0, 0, -0.4))
        .model()
    )  # fmt: skip
    path = (
        PathPoint("origin", "thigh", [0, 0, -0.1]),
        PathPoint("via", "thigh", [0.05, 0, 0], laws=(PointLaw("z", "knee", Linear(0.1, -0.3)),)),
        PathPoint("insertion", "shank", [0.0, 0, -0.2]),
    )
    turned = Transform(rotation(np.array([1.0, 0, 0]), np.pi / 2), np.array([0.01, 0.02, -0.3]))
    return replace(
        created,
        muscles=(Muscle("quad", "Thelen2003Muscle", path),),
        ligaments=(Ligament("band", "Ligament", path[::2]),),
        wraps=(
            WrapObject("tube", "thigh", "cylinder", (0.02, 0.1), turned),
            WrapObject("ball", "thigh", "sphere", (0.03,)),
            WrapObject("egg", "thigh", "ellipsoid", (0.01, 0.02, 0.03), turned),
            WrapObject("ring", "shank", "torus", (0.01, 0.02)),
        ),
        meshes=(Mesh("thigh", "femur.vtp", turned, np.array([1.0, 2.0, 3.0])),),
    )


def test_paths_are_stretched_with_their_bodies_and_fibres_with_their_path():
    model = leg()
    created = hd.catalog.scale(model, {"thigh": (1.2, 1.0, 1.5)})
    origin, via, insertion = created.muscles[0].points
    np.testing.assert_allclose(origin.position, [0, 0, -0.15])
    np.testing.assert_allclose(via.position, [0.06, 0, 0])
    assert via.laws[0].function.value(0.5) == pytest.approx(1.5 * (-0.3 + 0.05))
    np.testing.assert_allclose(insertion.position, [0, 0, -0.2])
    np.testing.assert_array_equal(created.ligaments[0].points[0].position, origin.position)
    before = np.hypot(0.05, 0.2) + np.hypot(0.05, 0.3)
    after = np.hypot(0.06, 0.3) + np.hypot(0.06, 0.6 + 0.2 - 0.45)
    for field in ("optimal_fiber_length", "tendon_slack_length"):
        old, new = getattr(model.muscles[0], field), getattr(created.muscles[0], field)
        assert new / old == pytest.approx(after / before)
    assert created.muscles[0].max_isometric_force == model.muscles[0].max_isometric_force


def test_wraps_and_meshes_are_stretched_along_their_own_axes():
    created = hd.catalog.scale(leg(), {"thigh": (1.2, 1.0, 1.5)})
    tube, ball, egg, ring = created.wraps
    # Turned about x, their y lies along z of the thigh and their z along y.
    assert tube.dimensions == pytest.approx((0.02 * 1.35, 0.1 * 1.0))
    assert egg.dimensions == pytest.approx((0.012, 0.03, 0.03))
    assert ball.dimensions == pytest.approx((0.03 * 3.7 / 3,))
    assert ring.dimensions == (0.01, 0.02)
    np.testing.assert_allclose(tube.placement.r, [0.012, 0.02, -0.45])
    np.testing.assert_allclose(created.meshes[0].scale, [1.2, 3.0, 3.0])
    np.testing.assert_allclose(created.meshes[0].placement.r, [0.012, 0.02, -0.45])


def test_every_segment_keeps_its_share_of_the_mass_when_asked():
    created = hd.catalog.scale(leg(), {"thigh": 1.3}, mass=20.0, keep_shares=True)
    assert [body.mass for body in created.bodies] == pytest.approx([20 * 8 / 12, 20 * 4 / 12])
    thigh = leg().body("thigh")
    assert created.body("thigh").inertia[0, 0] == pytest.approx(
        thigh.inertia[0, 0] * 1.3**2 * 20 / 12
    )
    with pytest.raises(ModelError, match="exclude each other"):
        hd.catalog.scale(leg(), 1.1, mass="density", keep_shares=True)


def test_paths_of_a_parametric_size_are_those_of_the_size():
    made = parametric(lambda size: hd.catalog.scale(leg(), {"thigh": size}), size=1.0)
    numeric = hd.catalog.scale(leg(), {"thigh": 1.3})
    for one, two in zip(made.at({"size": 1.3}).muscles, numeric.muscles, strict=True):
        assert one.optimal_fiber_length == pytest.approx(two.optimal_fiber_length, rel=1e-14)
        assert one.tendon_slack_length == pytest.approx(two.tendon_slack_length, rel=1e-14)
        for a, b in zip(one.points, two.points, strict=True):
            np.testing.assert_allclose(a.position, b.position, rtol=1e-14)
    for one, two in zip(made.at({"size": 1.3}).wraps, numeric.wraps, strict=True):
        np.testing.assert_allclose(one.dimensions, two.dimensions, rtol=1e-14)


def test_a_model_scaled_by_opensim_is_matched(shared_data):
    folder = shared_data / "arnold2013"
    generic = hd.load(folder / "generic" / "unscaled_generic.osim")
    truth = hd.load(folder / "subject01" / "subject01.osim")
    pairs = zip(generic.meshes, truth.meshes, strict=True)
    factors = {one.body: two.scale / one.scale for one, two in pairs}
    created = hd.catalog.scale(generic, factors, mass=72.84, keep_shares=True)
    for mine, theirs in zip(created.wraps, truth.wraps, strict=True):
        np.testing.assert_allclose(mine.dimensions, theirs.dimensions, rtol=1e-12)
        np.testing.assert_allclose(mine.placement.r, theirs.placement.r, atol=1e-12)
    for mine, theirs in zip(created.muscles, truth.muscles, strict=True):
        for one, two in zip(mine.points, theirs.points, strict=True):
            np.testing.assert_allclose(one.position, two.position, atol=1e-12)
        # Theirs follow the path around wraps, ours the straight one.
        assert mine.optimal_fiber_length == pytest.approx(theirs.optimal_fiber_length, rel=0.015)
    for mine, theirs in zip(created.bodies, truth.bodies, strict=True):
        assert mine.mass == pytest.approx(theirs.mass, rel=1e-12)
        np.testing.assert_allclose(mine.com, theirs.com, atol=1e-9)
    for mine, theirs in zip(created.markers, truth.markers, strict=True):
        np.testing.assert_allclose(mine.position, theirs.position, atol=1e-9)
