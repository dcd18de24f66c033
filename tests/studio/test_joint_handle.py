"""A dragged joint frame edits the model."""

import numpy as np

from homodyn.studio.model_editing import joint_frame, joint_placement
from homodyn.studio.panels.edit import EditPanel


def test_a_joint_frame_and_its_numbers_follow_the_handle(studio):
    panel = studio.layout.panel(EditPanel)
    model = studio.session.document.actor.model
    panel.joint.value = "KneeLeft"
    panel._attach("KneeLeft")
    node = panel.handle.node
    place = np.array(node.position)
    node.position = place + np.array([0.0, 0.0, 0.02])
    panel.handle.apply()
    studio.wait_until_drawn()
    actor = studio.session.document.actor
    assert studio.session.view().undo_label == "move joint KneeLeft"
    where, _ = joint_frame(actor.model, actor.position(0.0), "KneeLeft")
    np.testing.assert_allclose(where, place + np.array([0.0, 0.0, 0.02]), atol=1e-6)
    np.testing.assert_allclose(
        panel.position.value, joint_placement(actor.model, "KneeLeft")[0], atol=1e-4
    )
    studio.session.undo()
    studio.wait_until_drawn()
    assert studio.session.document.actor.model == model
    np.testing.assert_allclose(node.position, place, atol=1e-5)
    panel._attach("(nothing)")
    assert panel.handle.node is None
