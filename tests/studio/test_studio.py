"""The studio without a browser: it draws what changes, at its pace, and does not grow."""

import os
import resource
import time
from dataclasses import replace

import numpy as np
import pytest

from homodyn import catalog, dynamics
from homodyn.capture import Trial
from homodyn.motion import Motion
from homodyn.studio import Actor, Session, StudioDocument
from homodyn.studio.marker_editing import remove_markers
from homodyn.studio.model_editing import in_parent, joint_frame
from homodyn.studio.panels.edit import EditPanel
from homodyn.studio.panels.plots import PlotsPanel
from homodyn.studio.panels.pose import PosePanel
from homodyn.studio.scene.markers import (
    BAD_FIT_COLOR,
    MEASURED_COLOR,
    SELECTED_COLOR,
    UNASSIGNED_COLOR,
)
from homodyn.studio.studio import Studio


def test_a_pulled_segment_takes_the_body_along(studio):
    panel = studio.layout.panel(PosePanel)
    panel._on_segment_click("walk", "HandLeft")
    node = panel.handle._node
    target = np.add(node.position, [0.05, 0.0, 0.1])
    node.position = target
    panel.handle._pull()
    studio.wait_until_drawn()
    actor = studio.session.document.actor
    assert actor.posed
    assert studio.session.view().undo_label == "pull HandLeft"
    from homodyn.studio.drag_ik import frame_placement

    place, _ = frame_placement(actor.model, actor.q, "HandLeft")
    assert np.linalg.norm(place - target) < 0.03


def test_a_pulled_marker_takes_the_body_along(studio):
    panel = studio.layout.panel(PosePanel)
    panel._pull("LWRA")
    node = panel.handle._node
    target = np.add(node.position, [0.04, 0.0, 0.06])
    node.position = target
    panel.handle._pull()
    studio.wait_until_drawn()
    actor = studio.session.document.actor
    k = [marker.name for marker in actor.model.markers].index("LWRA")
    place = dynamics.marker_positions(actor.model, actor.q)[k]
    assert np.linalg.norm(place - target) < 0.01


def test_each_part_of_a_body_is_shown_when_it_is_asked_for(studio):
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


def test_the_picture_follows_the_body_and_bodies_stand_side_by_side(studio):
    studio.session.update_clock(lambda clock: clock.at(1.6))
    studio.wait_until_drawn()
    nodes = studio.stage.bodies["walk"]
    poses, row = nodes.at(1.6)
    np.testing.assert_allclose(studio.stage.root.position[:2], -poses.com[row][:2], atol=1e-6)
    ground = studio.stage._ground._lines.position
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


def test_two_curves_are_plotted_with_a_cursor_at_the_instant(studio):
    panel = studio.layout.panel(PlotsPanel)
    first, second = panel.rows
    assert first.choice.value.startswith("coordinate: Knee")
    second.choice.value = "torque: KneeLeft_RY"
    studio.session.update_clock(lambda clock: clock.at(1.23))
    studio.wait_until_drawn()
    for row in (first, second):
        time, *_, mark = row.plot.data
        assert time[int(np.argmax(mark))] == pytest.approx(1.23)


def test_a_joint_frame_follows_its_handle_and_numbers_follow_both(studio):
    panel = studio.layout.panel(EditPanel)
    model = studio.session.document.actor.model
    panel.joint.value = "KneeLeft"
    panel._take("KneeLeft")
    node = panel.handle._node
    place = np.array(node.position)
    node.position = place + np.array([0.0, 0.0, 0.02])
    panel.handle.edit()
    studio.wait_until_drawn()
    actor = studio.session.document.actor
    assert studio.session.view().undo_label == "move joint KneeLeft"
    where, _ = joint_frame(actor.model, actor.position(0.0), "KneeLeft")
    np.testing.assert_allclose(where, place + np.array([0.0, 0.0, 0.02]), atol=1e-6)
    np.testing.assert_allclose(panel.place.value, in_parent(actor.model, "KneeLeft")[0], atol=1e-4)
    studio.session.undo()
    studio.wait_until_drawn()
    assert studio.session.document.actor.model == model
    np.testing.assert_allclose(node.position, place, atol=1e-5)
    panel._take("(nothing)")
    assert panel.handle._node is None


def test_a_joint_frame_is_moved_and_turned_by_numbers(studio):
    panel = studio.layout.panel(EditPanel)
    panel.joint.value = "AnkleLeft"
    studio.wait_until_drawn()
    before = in_parent(studio.session.document.actor.model, "AnkleLeft")
    panel.place.value = tuple(np.round(before[0] + [0.01, 0.0, 0.0], 4))
    panel.turn.value = (0.0, 15.0, 0.0)
    panel._set_joint()
    studio.wait_until_drawn()
    place, turn = in_parent(studio.session.document.actor.model, "AnkleLeft")
    np.testing.assert_allclose(place, before[0] + [0.01, 0.0, 0.0], atol=1e-4)
    np.testing.assert_allclose(turn, [0.0, 15.0, 0.0], atol=1e-9)
    assert studio.session.view().undo_label == "move joint AnkleLeft"


def test_markers_stand_out_by_their_state(studio):
    def colors():
        return {
            name: tuple(color)
            for name, color in zip(
                studio.session.document.trial.markers,
                studio.stage._trials["walk"].balls.handle.batched_colors.tolist(),
                strict=True,
            )
        }

    assert set(colors().values()) == {MEASURED_COLOR}
    studio.session.change("remove", lambda d: remove_markers(d, {"LKNE"}, "body"))
    studio.set_view_options(selected_markers=frozenset({"RKNE"}))
    studio.wait_until_drawn()
    assert (colors()["LKNE"], colors()["RKNE"]) == (UNASSIGNED_COLOR, SELECTED_COLOR)
    actor = studio.session.document.actor
    moved = tuple(
        replace(m, position=m.position + 0.05) if m.name == "LTOE" else m
        for m in actor.model.markers
    )
    other = replace(actor, model=replace(actor.model, markers=moved))
    studio.session.change("move", lambda d: d.with_active(other))
    studio.wait_until_drawn()
    assert colors()["LTOE"] == BAD_FIT_COLOR
    assert studio.stage.errors["LTOE"] == pytest.approx(0.05 * np.sqrt(3), abs=0.02)
    studio.set_view_options(error_threshold=0.2)
    studio.wait_until_drawn()
    assert colors()["LTOE"] == MEASURED_COLOR


def test_a_marker_behind_a_see_through_segment_is_the_one_that_was_meant(studio):
    clicked = []
    studio.on_marker.append(lambda *told: clicked.append(told))
    studio.on_segment.append(lambda *told: clicked.append(told))
    names, places = studio.stage.visible_markers(0.0)
    eye = np.array([3.0, -5.0, 1.0])
    ray = (eye, places[names.index("LTOE")] - eye)
    studio.stage._hit("walk", "FootLeft", ray, True)
    assert not clicked
    studio.stage._hit("walk", "FootLeft", ray, False)
    assert clicked == [("walk", "FootLeft")]
    studio.set_view_options(body="see-through")
    studio.wait_until_drawn()
    studio.stage._hit("walk", "FootLeft", ray, True)
    assert clicked[1:] == [("walk", "LTOE", True)]


def test_forces_of_plates_are_shown_beside_those_on_the_feet_when_asked_for(studio):
    studio.session.update_clock(lambda clock: clock.at(1.6))
    for plates in (False, True):
        studio.set_view_options(plate_forces=plates)
        studio.wait_until_drawn()
        assert studio.stage._forces.handle.visible
        assert studio.stage._plates.handle.visible == plates


def test_bodies_come_go_and_change_without_leaving_nodes(studio):
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


def test_labels_are_made_on_demand_and_go_again(studio):
    def labels():
        return [name for name in studio.server.scene._handle_from_node_name if "/labels/" in name]

    assert not labels()
    for kind, count in (("markers", 32), ("joints", 19), ("none", 0)):
        studio.set_view_options(labels=kind)
        studio.wait_until_drawn()
        assert len(labels()) == count


def test_a_picture_that_fails_does_not_end_the_studio(studio, monkeypatch, capsys):
    monkeypatch.setattr(studio.stage, "draw", lambda clock, view_options: 1 / 0)
    studio.wait_until_drawn()
    monkeypatch.undo()
    frames_drawn = studio.frames_drawn
    studio.wait_until_drawn()
    assert studio.frames_drawn > frames_drawn
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.fixture(scope="module")
def long_session():
    """10 000 frames of a body with 54 speeds, and 60 markers over it."""
    model = catalog.hdm()
    rng = np.random.default_rng(0)
    frames = 10_000
    swing = 0.3 * np.sin(np.linspace(0, 200, frames))[:, None] * rng.standard_normal(model.nv)
    q = model.integrate(np.tile(model.neutral(), (frames, 1)), swing)
    still = np.zeros((frames, model.nv))
    motion = Motion(model, np.arange(frames) / 100, q, still, still)
    markers = np.cumsum(1e-3 * rng.standard_normal((frames, 60, 3)), axis=0)
    trial = Trial("long", tuple(f"M{k}" for k in range(60)), markers, 100.0)
    actor = Actor("long", model, q[0], motion)
    return Session(StudioDocument().with_trial(trial).with_actor(actor))


def test_ten_thousand_frames_are_drawn_in_time_and_memory_stays(long_session):
    studio = Studio(long_session, port=0)
    studio.start()
    studio.wait_until_drawn()
    try:
        view_options, clock = studio.view_options, long_session.clock
        with studio.pause_drawing():
            for frame in range(500):
                studio.stage.draw(clock.at_frame(frame), view_options)
            begun, memory = time.process_time(), _memory()
            frames = range(0, 10_000, 4)
            for frame in frames:
                studio.stage.draw(clock.at_frame(frame), view_options)
            spent = (time.process_time() - begun) / len(frames)
            grown = _memory() - memory
        buffered = len(studio.server._websock_server._broadcast_buffer.message_from_id)
    finally:
        studio.stop()
    assert spent < 1 / 30
    assert grown < 20e6
    assert buffered < 5_000


def test_playing_keeps_real_time_and_needs_under_a_thirtieth_second_a_picture(long_session):
    studio = Studio(long_session, port=0)
    studio.start()
    studio.wait_until_drawn()
    try:
        long_session.update_clock(lambda clock: clock.at_frame(0).play())
        begun, frames_drawn = time.perf_counter(), studio.frames_drawn
        busy = time.process_time()
        time.sleep(2.0)
        shown = studio.frames_drawn - frames_drawn
        wall, busy = time.perf_counter() - begun, time.process_time() - busy
        now = long_session.clock.now
        long_session.update_clock(lambda clock: clock.pause())
    finally:
        studio.stop()
    # On a machine that others use, the share of it that is needed says more than the rate.
    assert busy / max(shown, 1) < 1 / 30
    assert shown >= 30
    assert now == pytest.approx(wall, abs=0.5)


def _memory() -> int:
    """Bytes this process holds."""
    try:
        with open("/proc/self/statm") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
