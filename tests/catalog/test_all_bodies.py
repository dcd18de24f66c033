"""What every body of the catalog must have, whoever adds it."""

from functools import cache

import numpy as np
import pytest

import homodyn as hd
from homodyn.catalog import entries, mirror_map, scale
from homodyn.model import WORLD
from homodyn.model.plausibility import implausibilities

SYMMETRIC = 0.02
"""Distance (m) that the sides of a measured body may differ by: Bip's cabinet is 9 mm off."""

BODIES = {item.name: item for item in entries()}
every_body = pytest.mark.parametrize("name", BODIES)


@cache
def body(name):
    return BODIES[name].build()


@every_body
def test_it_is_plausible(name):
    model = body(name)
    assert implausibilities(model) == []
    assert model.mass > 0
    assert not model.parameters


@every_body
def test_it_states_its_sources(name):
    item = BODIES[name]
    assert item.title.endswith(".")
    assert len(item.source) > 10
    assert len(item.limits) > 10
    assert all(sentence.strip() for sentence in item.assumed)
    text = " ".join(hd.catalog.description(name).split())
    for sentence in (item.source, item.limits, *item.assumed):
        assert sentence in text


@every_body
def test_it_can_be_seen_touched_and_followed_by_cameras(name):
    model = body(name)
    heavy = {b.name for b in model.bodies if b.mass > 0}
    drawn = {capsule.body for capsule in model.capsules}
    assert drawn, "no capsules"
    assert heavy & drawn, "no capsule on a body with mass"
    assert model.contacts, "no contact shapes"
    assert model.markers, "no markers"
    for capsule in model.capsules:
        assert capsule.radius > 0, capsule.name


@every_body
def test_every_coordinate_but_those_of_the_base_has_a_finite_range(name):
    model = body(name)
    for joint in model.joints:
        # A base may go anywhere, and a ball has no range of its own.
        if joint.parent == WORLD or joint.kind == "spherical":
            continue
        for coordinate in joint.coordinates:
            assert np.isfinite([coordinate.lower, coordinate.upper]).all(), coordinate.name
            assert coordinate.lower < coordinate.upper or coordinate.locked, coordinate.name


@every_body
def test_its_mirror_map_is_an_involution(name):
    model = body(name)
    image = mirror_map(model, tolerance=SYMMETRIC)
    q, v = model.random(1, 4), np.random.default_rng(1).normal(size=(4, model.nv))
    assert np.array_equal(image.position(image.position(q)), q)
    assert np.array_equal(image.velocity(image.velocity(v)), v)
    assert all(image.names[image.names[part]] == part for part in image.names)


@every_body
def test_ranges_of_both_sides_are_mirror_images(name):
    model = body(name)
    image = mirror_map(model, tolerance=SYMMETRIC)
    lower, upper = image.velocity(model.lower), image.velocity(model.upper)
    assert np.minimum(lower, upper) == pytest.approx(model.lower)
    assert np.maximum(lower, upper) == pytest.approx(model.upper)


@every_body
def test_it_survives_a_file(name, tmp_path):
    model = body(name)
    path = tmp_path / "body.toml"
    hd.save(model, path)
    assert hd.load(path).digest == model.digest


@every_body
def test_it_can_be_scaled(name):
    model = body(name)
    large = scale(model, 1.2)
    assert large.mass == pytest.approx(model.mass)
    for one, other in zip(model.bodies, large.bodies, strict=True):
        assert other.inertia == pytest.approx(1.44 * one.inertia, rel=1e-9)
