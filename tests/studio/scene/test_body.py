"""Nodes of a body."""

import numpy as np
import pytest

from homodyn.studio.document import COLORS
from homodyn.studio.scene.body import plumb_line, side_shade
from support.colors import is_blue, is_neutral, is_red


def test_a_plumb_line_leads_from_the_center_of_mass_to_the_ground():
    down, *cross = plumb_line(np.array([0.3, 0.1, 0.9]))
    np.testing.assert_allclose(down, [[0.3, 0.1, 0.9], [0.3, 0.1, 0.01]])
    np.testing.assert_allclose(np.mean(cross, axis=1), [[0.3, 0.1, 0.01]] * 2)


@pytest.mark.parametrize("body", COLORS)
def test_segments_of_every_body_show_their_side(body):
    assert is_red(side_shade(body, "right"))
    assert is_blue(side_shade(body, "left"))
    assert side_shade(body, "middle") == body
    assert is_neutral(body)


def test_bones_have_the_color_of_their_side(studio):
    nodes = studio.stage.bodies["walk"]
    studio.set_view_options(body="bones")
    studio.wait_until_drawn()
    children = [nodes.body_geometry.model.joints[k].child for _, k in nodes.bone_joints]
    colors = dict(zip(children, nodes.bones.handle.colors[:, 0].tolist(), strict=True))
    assert is_red(tuple(colors["FootRight"]))
    assert is_blue(tuple(colors["FootLeft"]))
