"""A dragged segment or marker moves the body."""

import numpy as np

from homodyn import dynamics
from homodyn.studio.panels.pose import PosePanel


def test_a_dragged_segment_moves_the_body(studio):
    panel = studio.layout.panel(PosePanel)
    panel._on_segment_click("walk", "HandLeft")
    node = panel.handle.node
    target = np.add(node.position, [0.05, 0.0, 0.1])
    node.position = target
    panel.handle.apply()
    studio.wait_until_drawn()
    actor = studio.session.document.actor
    assert actor.posed
    assert studio.session.view().undo_label == "drag HandLeft"
    from homodyn.studio.drag_ik import frame_placement

    place, _ = frame_placement(actor.model, actor.q, "HandLeft")
    assert np.linalg.norm(place - target) < 0.03


def test_a_dragged_marker_moves_the_body(studio):
    panel = studio.layout.panel(PosePanel)
    panel._attach("LWRA")
    node = panel.handle.node
    target = np.add(node.position, [0.04, 0.0, 0.06])
    node.position = target
    panel.handle.apply()
    studio.wait_until_drawn()
    actor = studio.session.document.actor
    k = [marker.name for marker in actor.model.markers].index("LWRA")
    place = dynamics.marker_positions(actor.model, actor.q)[k]
    assert np.linalg.norm(place - target) < 0.01
