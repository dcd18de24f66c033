"""Bip keeps what the listings of HuMAnS show and says what they do not."""

import numpy as np
import pytest

from homodyn.catalog import bip, from_humans, mirror_map
from homodyn.catalog.bip import humans_order

PELVIS = np.array([[0.0, 0, 1], [-1, 0, 0], [0, -1, 0]])
"""From the frame of the listing (x right, y down, z forward) to ours."""
FOOT = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])
"""x down, y left, z forward."""
LEVER = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
"""x left, y back, z up."""
CARDAN = np.array([[0.0, 0, 1], [0, -1, 0], [1, 0, 0]])
"""x up, y right, z forward."""
LISTED = {
    "pelvis": (PELVIS, 8.8, (0, 12, -68), (13, 14, 5), (0, 0, 2)),
    "right_hip_bracket": (PELVIS, 3.2, (5, -29, -107), (6, 5, 1), (0, 0, -1)),
    "left_foot": (FOOT, 2.34, (59, 0, 19), (2, 3, 1), (0, 0, 0)),
    "lumbar_lever": (LEVER, 1.05, (0, 47, -25), (0, 0, 1), (0, 0, 0)),
    "trunk_cardan": (CARDAN, 0.46, (0, 0, 46), (1, 0, 1), (0, 0, 0)),
}
"""Frame, mass (kg), center of mass (mm), inertia at the origin (0.01 kg m2): xx yy zz, xy xz yz."""


@pytest.fixture(scope="module")
def model():
    return bip()


def dh(r, lam, alpha, theta):
    ca, sa, ct, st = np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta)
    return np.array(
        [
            [ct, -st, 0, r],
            [ca * st, ca * ct, -sa, -lam * sa],
            [sa * st, sa * ct, ca, lam * ca],
            [0, 0, 0, 1],
        ]
    )


def test_counts_are_those_of_the_document(model):
    assert model.nv == model.nq == 15 + 6
    assert len(model.markers) == 25
    assert len(model.contacts) == 12


def test_contacts_are_the_tags_of_the_document(model):
    tags = [1, 2, 3, 4, 11, 12, 13, 14, 22, 23, 24, 25]
    for contact, tag in zip(model.contacts, tags, strict=True):
        marker = model.markers[tag - 1]
        assert contact.name == f"{marker.name}_contact"
        assert np.array_equal(contact.position, marker.position)


@pytest.mark.parametrize("name", LISTED)
def test_listed_solids_have_the_listed_mass_center_and_inertia_to_its_rounding(model, name):
    axes, mass, center, moments, products = LISTED[name]
    body = model.body(name)
    assert body.mass == mass
    np.testing.assert_allclose(axes.T @ body.com * 1000, center, atol=1e-9)
    inertia = axes.T @ body.spatial_inertia.I @ axes * 100
    np.testing.assert_array_equal(np.round(np.diag(inertia)), moments)
    found = [inertia[0, 1], inertia[0, 2], inertia[1, 2]]
    np.testing.assert_array_equal(np.round(found), products)


def test_the_base_is_where_the_listed_chain_puts_it(model, place):
    x, y, z = 0.3, -0.02, 0.07
    half = np.pi / 2
    chain = dh(0, 0.903 + y, -half, 0) @ dh(0, z, half, half) @ dh(0, x, half, half)
    np.testing.assert_allclose(chain[:3, 3], [x, 0.903 + y, z], atol=1e-12)
    q = np.zeros(21)
    q[15:18] = x, y, z
    found = place(model, from_humans(model, q), "pelvis")
    np.testing.assert_allclose(found, [x, -z, 0.903 + y], atol=1e-12)


def test_the_trunk_is_where_the_listed_chain_puts_it(model, place):
    half = np.pi / 2
    to_ours = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    rng = np.random.default_rng(3)
    yaw, pitch, roll, q13, q14, q15 = rng.uniform(-0.4, 0.4, 6)
    chain = (
        dh(0, 0.903, -half, 0) @ dh(0, 0, half, half) @ dh(0, 0, half, half)
        @ dh(0, 0, half, half + yaw) @ dh(0, 0, half, half + pitch) @ dh(0, 0, half, half + roll)
        @ dh(0, 0.128, half, np.pi + q13) @ dh(0, 0, half, half + q14) @ dh(0, 0, -half, q15)
    )  # fmt: skip
    q = np.zeros(21)
    q[12:15] = q13, q14, q15
    q[18:21] = roll, yaw, pitch
    for tag, listed in ((16, (0, 0, 110)), (19, (660, 0, -110)), (22, (660, 150, 110))):
        expected = to_ours @ (chain @ [*(np.array(listed) / 1000), 1.0])[:3]
        found = place(model, from_humans(model, q), model.markers[tag - 1].name)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_feet_are_flat_on_the_ground_and_as_large_as_listed(model, place):
    q = model.neutral()
    names = [marker.name for marker in model.markers]
    corners = np.array([place(model, q, name) for name in names[:4]])
    np.testing.assert_allclose(corners[:, 2], 0.0, atol=1e-12)
    assert np.linalg.norm(corners[0] - corners[1]) == pytest.approx(0.180, abs=1e-12)
    assert corners[0, 0] - corners[2, 0] == pytest.approx(0.17 + 0.12, abs=1e-12)
    left = np.array([place(model, q, name) for name in names[10:14]])
    np.testing.assert_allclose(left - corners, [[0, 0.24, 0]] * 4, atol=1e-12)


def test_it_weighs_what_its_notes_say(model):
    assert model.mass == pytest.approx(105.0, rel=1e-12)


def test_left_ankle_coordinates_are_q5_and_q6():
    assert humans_order()[4:6] == ("left_ankle_roll", "left_ankle_pitch")
    assert humans_order()[12:15] == ("trunk_yaw", "trunk_roll", "trunk_pitch")


def test_legs_exchange_though_the_cabinet_is_off_the_middle(model):
    mirror = mirror_map(model, tolerance=0.02)
    k, other = (model.coordinate_index(f"{side}_hip_roll") for side in ("right", "left"))
    assert (mirror.q_index[k], mirror.q_sign[k]) == (other, -1.0)


def test_notes_state_what_is_a_surrogate(model):
    assert sum(note.startswith("SURROGATE") for note in model.notes) == 2
