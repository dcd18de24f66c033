"""CoMan against the numbers of its listing."""

import numpy as np
import pytest

from homodyn.catalog import coman, mirror_map
from homodyn.dynamics import center_of_mass, mass_matrix


@pytest.fixture(scope="module")
def model():
    return coman()


def test_mass_and_degrees_of_freedom_are_those_of_the_listing(model):
    assert model.mass == pytest.approx(27.33174, abs=1e-9)
    assert (len(model.bodies), model.nv, model.nq) == (7, 9, 9)


def test_upright_center_of_mass_above_the_sole(model, place):
    q = model.neutral()
    sole = place(model, q, "right_heel")[2]
    assert sole == pytest.approx(0.005, abs=1e-12)
    x, _, z = center_of_mass(model, q)
    assert z - sole == pytest.approx(0.5302, abs=5e-5)
    assert x == pytest.approx(0.00584, abs=5e-6)


def test_two_contacts_a_foot_span_the_shortened_sole(model, place):
    q = model.neutral()
    assert len(model.contacts) == 4
    for side in ("right", "left"):
        span = place(model, q, f"{side}_front") - place(model, q, f"{side}_heel")
        np.testing.assert_allclose(span, [0.1125, 0, 0], atol=1e-12)


def test_full_inertias_are_kept_and_turn_with_the_listed_radii(model):
    torso = model.body("torso")
    assert torso.inertia[0, 2] == -0.00413699
    radii = {"torso": 0.10827, "right_thigh": 0.08561, "left_shank": 0.05330, "right_foot": 0.04341}
    for name, radius in radii.items():
        body = model.body(name)
        assert np.sqrt(body.inertia[1, 1] / body.mass) == pytest.approx(radius, abs=6e-6)


def test_the_base_feels_the_whole_mass_and_the_motors_their_limits(model):
    M = mass_matrix(model, model.neutral())
    assert M[0, 0] == pytest.approx(model.mass, rel=1e-12)
    assert M[1, 1] == pytest.approx(model.mass, rel=1e-12)
    k = model.coordinate_index("left_knee")
    assert (model.max_force[k], model.max_velocity[k]) == (30.0, 6.0)
    assert (model.lower[k], model.upper[k]) == (-0.1, 1.5)


def test_knees_bend_backwards_to_positive_angles(model, place):
    q = model.neutral()
    q[model.coordinate_index("right_knee")] = 0.5
    assert place(model, q, "right_foot")[0] < -0.05


def test_sides_exchange_though_the_torso_deviates_by_half_a_millimeter(model):
    mirror = mirror_map(model, tolerance=1e-3)
    k, other = (model.coordinate_index(f"{side}_hip") for side in ("right", "left"))
    assert mirror.q_index[k] == other
    assert mirror.q_sign[k] == 1.0
