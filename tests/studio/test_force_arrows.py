"""Arrows start where forces act, and their length is proportional to the force."""

import numpy as np

from homodyn.motion import (
    ForcePlate,
)
from homodyn.studio.body_geometry import body_geometry
from homodyn.studio.force_arrows import contact_arrows, plate_arrows
from support.studio_bodies import knee_bender


def test_arrows_start_where_forces_act_with_proportional_length():
    actor = knee_bender()
    arrows = contact_arrows(actor, body_geometry(actor.model), 0.5)
    (arrow,) = arrows.ends
    assert arrows.sides == ("left",)
    weight = actor.model.mass * 9.81
    np.testing.assert_allclose(arrow[0], [0.1, 0.2, 0.0])
    np.testing.assert_allclose(arrow[1] - arrow[0], [0, 0, 0.7 * 400 / weight])
    posed = actor.with_pose(actor.q)
    assert len(contact_arrows(posed, body_geometry(actor.model), 0.5).ends) == 0
    force = np.array([[0.0, 0.0, 700.0], [0.0, 0.0, 1.0]])
    plate = ForcePlate("p", 10.0, force, np.zeros((2, 3)), np.zeros((2, 3)))
    assert len(plate_arrows((plate,), 0.0, 700.0).ends) == 1
    assert len(plate_arrows((plate,), 0.1, 700.0).ends) == 0
