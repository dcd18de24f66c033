"""Positions of the parts of a model in a pose, their sides, and outlines."""

import numpy as np
import pytest

import homodyn as hd
from homodyn import dynamics
from homodyn.report.posed_geometry import capsule_outline, geometry_at_pose, marker_sides


@pytest.fixture(scope="module")
def person():
    return hd.catalog.heiman()


def test_positions_agree_with_kinematics(person):
    q = person.random(seed=4)
    scene = geometry_at_pose(person, q)
    np.testing.assert_allclose(
        list(scene.markers.values()), dynamics.marker_positions(person, q), atol=1e-12
    )
    np.testing.assert_allclose(scene.com, dynamics.center_of_mass(person, q), atol=1e-12)
    np.testing.assert_allclose(
        scene.joints["KneeLeft"], dynamics.position(person, q, "ShankLeft"), atol=1e-12
    )


def test_a_body_is_on_the_side_where_its_center_of_mass_is(person):
    sides = geometry_at_pose(person, person.neutral()).sides
    assert sides["ThighLeft"] == "left"
    assert sides["HandRight"] == "right"
    assert sides["Head"] == sides["Pelvis"] == "middle"


def test_the_outline_of_a_capsule_is_as_far_from_its_axis_as_its_radius():
    start, end = np.array([0.2, 1.0]), np.array([-0.3, 0.4])
    outline = capsule_outline(start, end, 0.1)
    along = (end - start) / np.linalg.norm(end - start)
    t = np.clip((outline - start) @ along, 0, np.linalg.norm(end - start))
    nearest = start + t[:, None] * along
    np.testing.assert_allclose(np.linalg.norm(outline - nearest, axis=1), 0.1, atol=1e-12)
    np.testing.assert_allclose(np.ptp(capsule_outline(start, start, 0.1), axis=0), 0.2, atol=1e-3)


def test_parameters_have_their_default_values(person):
    tall = hd.parametric(hd.catalog.heiman, height=1.79, mass=76.0)
    here, there = geometry_at_pose(tall, tall.neutral()), geometry_at_pose(person, person.neutral())
    np.testing.assert_allclose(here.com, there.com, atol=1e-12)


def test_a_marker_has_the_side_of_its_body_or_of_its_name(person):
    sides = marker_sides(person, ["RKNE", "LASI", "C7", "unknown", "RX12"])
    assert sides["RKNE"] == "right"
    # The pelvis is in the middle; the name of the marker states its side.
    assert sides["LASI"] == "left"
    assert sides["C7"] == "middle"
    assert sides["unknown"] == "middle"
    assert sides["RX12"] == "right"
