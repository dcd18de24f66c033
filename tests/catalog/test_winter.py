"""The planar human with Winter's proportions."""

import numpy as np
import pytest

from homodyn.catalog import mirror_map, winter_human
from homodyn.dynamics import center_of_mass, mass_matrix
from homodyn.model import parametric


@pytest.fixture(scope="module")
def model():
    return winter_human()


def test_degrees_of_freedom_and_mass(model):
    assert model.nv == model.nq == 11
    assert model.mass == pytest.approx(70.0, rel=1e-14)


def test_upright_center_of_mass_is_where_winter_s_proportions_put_it(model):
    expected = 1.8 * (
        0.678 * (0.530 + 0.626 * 0.288)
        + 0.2 * (0.530 - 0.433 * 0.245)
        + 0.093 * (0.285 - 0.433 * 0.246)
        + 0.029 * 0.5 * 0.039
    )
    z = center_of_mass(model, model.neutral())[2]
    assert z == pytest.approx(expected, abs=1e-12)
    assert z == pytest.approx(1.05, abs=5e-3)


def test_five_contacts_lie_evenly_on_each_sole(model, place):
    q = model.neutral()
    for side in ("right", "left"):
        points = np.array([place(model, q, f"{side}_sole_{k}") for k in range(1, 6)])
        np.testing.assert_allclose(points[:, 2], 0.0, atol=1e-12)
        np.testing.assert_allclose(np.diff(points[:, 0]), 0.152 * 1.8 / 4, atol=1e-12)
    assert len(model.contacts) == 10


def test_toes_are_sprung_and_critically_damped(model):
    toes = model.joint("left_toes").coordinates[0]
    assert toes.stiffness == 12.0
    k = model.coordinate_index("left_toes")
    inertia = mass_matrix(model, model.neutral())[k, k]
    assert toes.damping == pytest.approx(2 * np.sqrt(12.0 * inertia), rel=1e-12)


def test_ranges_are_those_of_the_study(model):
    expected = {"right_hip": (-0.8, 0.8), "left_knee": (-0.1, 1.5), "right_ankle": (-0.6, 0.6)}
    for name, (lower, upper) in expected.items():
        k = model.coordinate_index(name)
        assert (model.lower[k], model.upper[k]) == (lower, upper)


def test_everything_scales_with_height_and_mass():
    created = parametric(winter_human, height=1.8, mass=70.0)
    small = created.at({"height": 1.2, "mass": 28.0})
    plain = winter_human(1.2, 28.0)
    q = plain.random(seed=4)
    np.testing.assert_allclose(mass_matrix(small, q), mass_matrix(plain, q), rtol=1e-12, atol=1e-14)


def test_sides_exchange_exactly(model):
    mirror = mirror_map(model)
    assert mirror.q_index == (0, 1, 2, 7, 8, 9, 10, 3, 4, 5, 6)
    assert set(mirror.q_sign) == {1.0}
