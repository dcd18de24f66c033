"""Joint frames are edited by numbers."""

import numpy as np

from homodyn.studio.model_editing import joint_placement
from homodyn.studio.panels.edit import EditPanel


def test_a_joint_frame_is_edited_by_numbers(studio):
    panel = studio.layout.panel(EditPanel)
    panel.joint.value = "AnkleLeft"
    studio.wait_until_drawn()
    before = joint_placement(studio.session.document.actor.model, "AnkleLeft")
    panel.position.value = tuple(np.round(before[0] + [0.01, 0.0, 0.0], 4))
    panel.angles.value = (0.0, 15.0, 0.0)
    panel._set_joint()
    studio.wait_until_drawn()
    place, turn = joint_placement(studio.session.document.actor.model, "AnkleLeft")
    np.testing.assert_allclose(place, before[0] + [0.01, 0.0, 0.0], atol=1e-4)
    np.testing.assert_allclose(turn, [0.0, 15.0, 0.0], atol=1e-9)
    assert studio.session.view().undo_label == "move joint AnkleLeft"
