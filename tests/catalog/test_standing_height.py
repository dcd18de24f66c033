"""Heights in the neutral pose, compared with the kinematics of dynamics."""

import numpy as np
import pytest

from homodyn import catalog
from homodyn.catalog.standing_height import (
    lowest_contact_height,
    placements,
    with_same_standing_height,
)
from homodyn.dynamics import orientation, position
from homodyn.model import Assembly, box, joints


def test_bodies_are_placed_as_by_kinematics():
    model = catalog.heiman(height=1.75, mass=70)
    rng = np.random.default_rng(6)
    q = model.integrate(model.neutral(), rng.uniform(-0.5, 0.5, model.nv))
    for name, (_, body) in zip(model.body_names, placements(model, q), strict=True):
        np.testing.assert_allclose(body.r, position(model, q, name), atol=1e-12)
        np.testing.assert_allclose(body.E.T, orientation(model, q, name), atol=1e-12)


def leg(height, length, radius=0.05):
    """A leg on a vertical slide, with a round foot."""
    return (
        Assembly("leg")
        .add(
            box("leg", 1.0, (0.1, 0.1, length)),
            joints.prismatic("z", default=height),
            joint_name="lift",
        )
        .contact("foot", "leg", "sphere", position=(0, 0, -length), radius=radius)
        .model()
    )


def test_the_lowest_point_is_below_the_center_of_a_round_foot():
    assert lowest_contact_height(leg(0.95, 0.9)) == pytest.approx(0.0, abs=1e-15)
    assert lowest_contact_height(leg(1.5, 0.9)) == pytest.approx(0.55)
    without = Assembly("box").add(box("box", 1.0, (1, 1, 1)), joints.free()).model()
    assert lowest_contact_height(without) is None


def test_a_longer_leg_lifts_the_root_and_its_foot_stays_on_the_ground():
    before, longer = leg(0.95, 0.9), leg(0.95, 1.1)
    after = with_same_standing_height(longer, before)
    assert lowest_contact_height(after) == pytest.approx(0.0, abs=1e-12)
    assert after.neutral()[0] == pytest.approx(1.15)


def test_a_root_that_cannot_rise_stays():
    hinged = (
        Assembly("pendulum")
        .add(box("leg", 1.0, (0.1, 0.1, 1.0)), joints.revolute("y"))
        .contact("foot", "leg", "sphere", position=(0, 0, -1.0), radius=0.1)
        .model()
    )
    assert with_same_standing_height(hinged, leg(0.95, 0.9)) is hinged
