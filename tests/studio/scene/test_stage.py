"""The stage draws the parts that the view options select."""

import numpy as np
import pytest

from homodyn.studio.scene.stage import FORCE_COLORS


def test_each_part_of_a_body_is_shown_by_its_option(studio):
    studio.session.update_clock(lambda clock: clock.at(1.6))
    nodes = studio.stage.bodies["walk"]
    markers = studio.stage._markers["walk"]
    parts = {
        "joints": nodes.joints,
        "capsules": nodes.capsules,
        "center_of_mass": nodes.plumb,
        "support_polygon": nodes,
        "forces": studio.stage._forces,
        "measured_markers": studio.stage._trials["walk"].balls,
        "model_markers": markers.balls,
        "marker_errors": markers.lines,
    }
    for name, part in parts.items():
        for on in (False, True):
            studio.set_view_options(**{name: on})
            studio.wait_until_drawn()
            handle = part.support if name == "support_polygon" else part.handle
            assert handle.visible == on, name
    for way, solid, bones in (("solid", True, False), ("bones", False, True)):
        studio.set_view_options(body=way)
        studio.wait_until_drawn()
        assert (nodes.tubes.handle.visible, nodes.bones.handle.visible) == (solid, bones)


def test_the_view_follows_the_body_and_bodies_are_side_by_side(studio):
    studio.session.update_clock(lambda clock: clock.at(1.6))
    studio.wait_until_drawn()
    nodes = studio.stage.bodies["walk"]
    poses, row = nodes.at(1.6)
    np.testing.assert_allclose(studio.stage.root.position[:2], -poses.com[row][:2], atol=1e-6)
    ground = studio.stage._ground.grid.position
    np.testing.assert_allclose(poses.com[row][:2], ground[:2], atol=0.51)
    assert ground[0] == round(ground[0])
    studio.set_view_options(follow=False)
    studio.wait_until_drawn()
    np.testing.assert_array_equal(studio.stage.root.position, 0.0)
    studio.session.change("add", lambda d: d.with_actor(d.actors[0], active=False))
    studio.set_view_options(body_spacing=1.2)
    studio.wait_until_drawn()
    first, second = studio.stage.bodies.values()
    assert first.frame.position[1] == 0.0
    assert second.frame.position[1] == pytest.approx(1.2)
    colors = {tuple(nodes.bones.color.tolist()) for nodes in (first, second)}
    assert len(colors) == 2


def test_a_click_selects_the_marker_behind_a_see_through_segment(studio):
    clicked = []
    studio.on_marker.append(lambda *clicked_item: clicked.append(clicked_item))
    studio.on_segment.append(lambda *clicked_item: clicked.append(clicked_item))
    names, places = studio.stage.visible_markers(0.0)
    eye = np.array([3.0, -5.0, 1.0])
    ray = (eye, places[names.index("LTOE")] - eye)
    studio.stage._on_hit("walk", "FootLeft", ray, True)
    assert not clicked
    studio.stage._on_hit("walk", "FootLeft", ray, False)
    assert clicked == [("walk", "FootLeft")]
    studio.set_view_options(body="see-through")
    studio.wait_until_drawn()
    studio.stage._on_hit("walk", "FootLeft", ray, True)
    assert clicked[1:] == [("walk", "LTOE", True)]


def test_forces_of_plates_are_shown_in_addition_on_request(studio):
    studio.session.update_clock(lambda clock: clock.at(1.6))
    for plates in (False, True):
        studio.set_view_options(plate_forces=plates)
        studio.wait_until_drawn()
        assert studio.stage._forces.handle.visible
        assert studio.stage._plates.handle.visible == plates


def test_removed_bodies_leave_no_nodes(studio):
    def nodes():
        return set(studio.server.scene._handle_from_node_name)

    before = nodes()
    for _ in range(3):
        studio.session.change("add", lambda d: d.with_actor(d.actors[0]))
        studio.wait_until_drawn()
    assert len(nodes()) > len(before)
    for _ in range(3):
        studio.session.undo()
    studio.wait_until_drawn()
    assert nodes() == before


def test_labels_are_created_on_demand(studio):
    def labels():
        return [name for name in studio.server.scene._handle_from_node_name if "/labels/" in name]

    assert not labels()
    for kind, count in (("markers", 32), ("joints", 19), ("none", 0)):
        studio.set_view_options(labels=kind)
        studio.wait_until_drawn()
        assert len(labels()) == count


def test_a_click_without_a_segment_chooses_the_nearest_one_on_its_ray(studio):
    clicked = []
    studio.on_segment.append(lambda *item: clicked.append(item))
    nodes = studio.stage.bodies["walk"]
    poses, row = nodes.at(0.0)
    shank = nodes.body_geometry.bodies.index("ShankLeft")
    center = poses.centers(row)[shank] + np.asarray(studio.stage.root.position)
    eye = center + np.array([0.0, 5.0, 0.0])
    studio.stage._on_hit("walk", None, (eye, center - eye), False)
    assert clicked == [("walk", "ShankLeft")]
    studio.stage._on_hit("walk", None, (eye, center - eye), True)
    assert len(clicked) == 1


def test_forces_have_the_color_of_their_foot(studio):
    actor = studio.session.document.actor
    loaded = {
        foot.side: actor.loads.motion.time[np.argmax(foot.force[:, 2])] for foot in actor.loads.feet
    }
    assert set(loaded) == {"right", "left"}
    for side, instant in loaded.items():
        studio.session.update_clock(lambda clock, t=float(instant): clock.at(t))
        studio.wait_until_drawn()
        colors = {tuple(color) for color in np.atleast_2d(studio.stage._forces.handle.colors)}
        assert FORCE_COLORS[side] in {tuple(int(c) for c in color) for color in colors}
