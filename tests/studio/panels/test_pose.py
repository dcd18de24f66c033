"""Sliders of the pose show clinical names and values."""

import numpy as np
import pytest

from homodyn.studio.panels.pose import PosePanel, slider_hint
from homodyn.studio.pose_editing import coordinate_sliders


def test_a_slider_has_the_clinical_name_and_sign_of_its_coordinate(studio):
    panel = studio.layout.panel(PosePanel)
    actor = studio.session.document.actor
    pose = actor.model.pose({"HipRight_RY": -0.5, "KneeLeft_RY": 0.4})
    studio.session.change("pose", lambda d: d.with_active(d.actor.with_pose(pose)))
    studio.wait_until_drawn()
    hip, knee = panel.sliders["HipRight_RY"], panel.sliders["KneeLeft_RY"]
    assert (hip.label, knee.label) == ("Right hip flexion", "Left knee flexion")
    # The coordinate of the hip counts flexion negative.
    assert hip.value == pytest.approx(np.degrees(0.5), abs=0.05)
    assert knee.value == pytest.approx(np.degrees(0.4), abs=0.05)
    coordinate = panel.coordinates["HipRight_RY"]
    assert slider_hint(coordinate) == "−HipRight_RY, degrees"
    panel._on_slider(coordinate, 20.0)
    q = studio.session.document.actor.q
    assert q[coordinate.index] == pytest.approx(-np.radians(20.0))
    assert studio.session.view().undo_label == "set Right hip flexion"


def test_sliders_span_the_limits_of_the_coordinates(studio):
    panel = studio.layout.panel(PosePanel)
    model = studio.session.document.actor.model
    for coordinate in coordinate_sliders(model):
        slider = panel.sliders[coordinate.name]
        low, high = coordinate.range
        assert slider.min == pytest.approx(low, abs=0.06)
        assert slider.max == pytest.approx(high, abs=0.06)


def test_resuming_the_motion_ends_the_pose(studio):
    panel = studio.layout.panel(PosePanel)
    panel._set_preset("Zero")
    studio.wait_until_drawn()
    assert panel.resume.visible
    panel._resume()
    studio.wait_until_drawn()
    assert studio.session.document.actor.moving
    assert not panel.resume.visible
