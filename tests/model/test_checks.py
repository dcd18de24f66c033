"""Checks of valid models: findings on ranges, attachments, inertias and extents."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.foundation import Severity
from homodyn.model import Assembly, Coordinate, Marker, box, check, joints
from homodyn.model.checks import MAX_ATTACHMENT_DISTANCE_M, body_extent
from support.small_models import leg, two_links


def sentences(model, severity):
    return [f"{one.subject}: {one.sentence}" for one in check(model) if one.severity is severity]


def test_a_plausible_model_has_information_only():
    model = two_links()
    assert sentences(model, Severity.WARNING) == []
    assert sentences(model, Severity.INFO) == ["range: without a range: knee"]


def test_the_extent_of_a_body_contains_its_joints_markers_contacts_and_capsules():
    points = body_extent(leg(), "shank")
    low, high = points.min(axis=0), points.max(axis=0)
    # The capsule reaches 6 cm beyond its ends, the heel sphere 3 cm beyond its center.
    np.testing.assert_allclose(low, [-0.06, -0.06, -0.46])
    np.testing.assert_allclose(high, [0.06, 0.06, 0.06])


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_markers_far_from_their_body_are_probably_in_millimeters(factor):
    far = Marker("FAR", "shank", (0.0, 0.0, factor * MAX_ATTACHMENT_DISTANCE_M))
    found = sentences(replace(two_links(), markers=(far,)), Severity.WARNING)
    assert any("'FAR' is" in one and "millimeters?" in one for one in found) == (factor > 1)


def test_an_empty_range_is_a_mistake_unless_the_coordinate_is_locked():
    model = two_links()
    hip, knee = model.joints
    for locked, severity in ((False, Severity.WARNING), (True, Severity.INFO)):
        stiff = Coordinate("knee", lower=0.1, upper=0.1, default=0.1, locked=locked)
        changed = replace(model, joints=(hip, replace(knee, coordinates=(stiff,))))
        assert "range: 'knee' cannot move: its range is 0.1 alone" in sentences(changed, severity)


def test_a_power_of_ten_about_every_axis_is_a_placeholder():
    model = (
        Assembly("m")
        .add("a", joints.revolute("y"), mass=1.0, inertia=(0.001, 0.001, 0.001))
        .add("b", joints.revolute("y"), "a", mass=1.0, inertia=(0.002, 0.002, 0.002))
        .model()
    )
    found = sentences(model, Severity.WARNING)
    assert "inertia: 0.001 kg m2 about every axis looks like a placeholder: a" in found
    assert not any("placeholder" in one and "b" in one.rpartition(":")[2] for one in found)


def test_a_center_of_mass_outside_its_segment_and_a_wide_inertia_are_reported():
    trunk = box("trunk", 10.0, (0.2, 0.2, 0.4), com=(0.0, 0.0, 2.0))
    wide = replace(trunk, com=np.zeros(3), inertia=np.diag([40.0, 40.0, 40.0]))
    for body, subject in ((trunk, "center of mass"), (wide, "inertia")):
        model = (
            Assembly("m")
            .add(body, joints.revolute("y"))
            .marker("TOP", "trunk", (0.0, 0.0, 0.4))
            .model()
        )
        assert [one.subject for one in check(model) if one.severity is Severity.WARNING] == [
            subject
        ]
