"""The page in a real browser: markers, fits and edits."""

from dataclasses import replace
from time import monotonic, sleep

import numpy as np
import pytest

from homodyn import catalog
from homodyn.studio import Session, StudioDocument
from homodyn.studio.file_opening import from_catalog
from homodyn.studio.panels.edit import EditPanel
from homodyn.studio.panels.fit import FitPanel
from homodyn.studio.panels.health import HealthPanel
from homodyn.studio.panels.markers import MarkersPanel
from homodyn.studio.panels.pose import PosePanel
from homodyn.studio.studio import Studio
from support.studio_page import arrow_of, choose, pixel, show_tab, unfold
from support.waiting import until

ASTRAY = ("LKNE", "LTIB", "LANK")


@pytest.fixture
def working(walk_document):
    """The walk with a ready body of which three markers sit a hand's breadth off."""
    actor = from_catalog("heiman")
    markers = tuple(
        replace(m, position=m.position + np.array([0.09, 0.0, 0.0])) if m.name in ASTRAY else m
        for m in actor.model.markers
    )
    astray = replace(actor, model=replace(actor.model, markers=markers))
    document = StudioDocument().with_trial(walk_document.trial).with_actor(astray)
    page = Studio(Session(document), port=0)
    page.start()
    page.wait_until_drawn()
    yield page
    page.stop()


def test_the_demonstration_opens_with_one_click_and_plays(visit):
    empty = Studio(port=0)
    empty.start()
    try:
        page = visit(empty)
        page.get_by_role("button", name="Open demonstration").click()
        until(lambda: empty.session.document.trial is not None, "the recorded markers")
        actor = until(lambda: empty.session.document.actor, "the body that was fitted to them")
        assert actor.loads is not None
        until(lambda: empty.session.clock.playing, "playing")
        page.get_by_text("is open. Press").wait_for()
        assert page.locator("#homodyn-strip rect").count() >= 4
    finally:
        empty.stop()


def error(page) -> float:
    """mm: the root mean square that the page shows."""
    return float(page.locator("[data-errors]").first.get_attribute("data-errors"))


def click_marker(page, studio, name: str, **how) -> None:
    names, places = studio.stage.visible_markers(studio.session.clock.now)
    page.mouse.move(*pixel(page, studio, places[names.index(name)]))
    for key in how.get("modifiers", ()):
        page.keyboard.down(key)
    page.mouse.click(*pixel(page, studio, places[names.index(name)]))
    for key in how.get("modifiers", ()):
        page.keyboard.up(key)


def fit_frame(page, working, patience=20.0):
    """Click the button once; whether the frame is fitted after a while."""
    page.get_by_role("button", name="Fit this frame").click()
    end = monotonic() + patience
    while monotonic() < end:
        if working.session.view().undo_label == "fit this frame":
            return True
        sleep(0.05)
    return False


def test_three_markers_are_assigned_and_the_error_decreases(working, visit):
    page = visit(working)
    show_tab(page, "Fit")
    far = error(page)
    page.get_by_role("button", name="Fit this frame").click()
    until(lambda: working.session.view().undo_label == "fit this frame", "a fitted frame")
    until(lambda: error(page) < 0.2 * far, "a smaller error")
    astray = error(page)
    # Some of the markers are inside the leg: they are clicked through it.
    working.set_view_options(body="see-through")
    working.wait_until_drawn()
    click_marker(page, working, ASTRAY[0])
    until(lambda: working.view_options.selected_markers == {ASTRAY[0]}, "a chosen marker")
    for name in ASTRAY[1:]:
        click_marker(page, working, name, modifiers=("Control",))
        until(lambda name=name: name in working.view_options.selected_markers, f"{name} besides")
    assert working.view_options.selected_markers == set(ASTRAY)
    panel = working.layout.panel(MarkersPanel)
    choose(page, panel.segment, "ShankLeft")
    page.get_by_role("button", name="Assign to segment").click()
    until(
        lambda: (
            {m.body for m in working.session.document.actor.model.markers if m.name in ASTRAY}
            == {"ShankLeft"}
        ),
        "markers on the shank",
    )
    # The panel is drawn again after an assignment; a click in that instant reaches no button.
    until(lambda: fit_frame(page, working), "a second fit")
    until(lambda: error(page) < 0.8 * astray, "an error that fell")


def test_a_box_selects_the_markers_inside_it(working, visit):
    page = visit(working)
    show_tab(page, "Fit")
    names, places = working.stage.visible_markers(0.0)
    at = np.array([pixel(page, working, place) for place in places])
    hips = [k for k, name in enumerate(names) if name.endswith("SI")]
    low, high = at[hips].min(axis=0) - 6, at[hips].max(axis=0) + 6
    inside = {names[k] for k in np.flatnonzero(((at > low) & (at < high)).all(axis=1))}
    assert {names[k] for k in hips} <= inside < set(names)
    page.keyboard.down("Shift")
    page.mouse.move(*low)
    page.mouse.down()
    page.mouse.move(*((low + high) / 2), steps=4)
    page.mouse.move(*high, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    until(lambda: working.view_options.selected_markers == inside, "the hips in a box")
    panel = working.layout.panel(MarkersPanel)
    unfold(page, "Names")
    choose(page, panel.scope, "body")
    page.get_by_role("button", name="Remove", exact=True).click()
    page.get_by_text(f"{len(inside)} unassigned").wait_for()
    assert len(working.session.document.actor.model.markers) == len(names) - len(inside)


def test_a_length_is_edited_with_its_inertia_and_undone(working, visit):
    page = visit(working)
    before = working.session.document.actor.model
    unfold(page, "Edit")
    panel = working.layout.panel(EditPanel)
    choose(page, panel.parameter, "ThighLeftLength")
    box = page.locator(f"[id='{panel.value._impl.uuid}']")
    until(lambda: box.input_value() not in ("", "0"), "the length of the thigh")
    box.fill("0.5")
    box.press("Enter")
    until(lambda: working.session.document.actor.model != before, "another model")
    expected = catalog.heiman(overrides={"ThighLength": 0.5})
    body = working.session.document.actor.model.body("ThighLeft")
    until(lambda: working.session.document.actor.model.bodies == expected.bodies, "inertias")
    assert body == expected.body("ThighLeft")
    page.get_by_text("moments of inertia").wait_for()
    page.get_by_role("button", name="Undo").click()
    until(lambda: working.session.document.actor.model == before, "undo")
    page.get_by_role("button", name="Redo").click()
    until(lambda: working.session.document.actor.model.bodies == expected.bodies, "redo")


def drag_arrow(page, studio, node) -> np.ndarray:
    """Pull the arrow along x of a handle by twice its length; where it was before (m)."""
    before = np.array(node.position)
    start, end = arrow_of(page, studio, node)
    page.mouse.move(*end)
    page.mouse.down()
    page.mouse.move(*(1.5 * end - 0.5 * start), steps=5)
    page.mouse.move(*(2 * end - start), steps=5)
    page.mouse.up()
    return before


def test_handles_in_the_scene_move_a_joint_and_a_segment(working, visit):
    page = visit(working)
    edit, pose = working.layout.panel(EditPanel), working.layout.panel(PosePanel)
    model = working.session.document.actor.model
    edit.joint.value = "KneeRight"
    edit._attach("KneeRight")
    working.wait_until_drawn()
    before = drag_arrow(page, working, edit.handle.node)
    until(lambda: working.session.view().undo_label == "move joint KneeRight", "a moved joint")
    until(lambda: edit.handle.node.position[0] - before[0] > 0.05, "a joint in front")
    until(lambda: working.session.document.actor.model != model, "another body")
    edit._attach("(nothing)")
    working.session.undo()
    until(lambda: working.session.document.actor.model == model, "undo")
    working.wait_until_drawn()
    pose._on_segment_click("HeiMan", "HandRight")
    working.wait_until_drawn()
    drag_arrow(page, working, pose.handle.node)
    until(lambda: working.session.view().undo_label == "drag HandRight", "a pulled hand")
    elbow = model.coordinate_index("ElbowRight_RY")
    until(lambda: working.session.document.actor.q[elbow] != 0.0, "a bent elbow")


def test_a_pose_is_saved_and_loaded(working, visit, tmp_path):
    page = visit(working)
    unfold(page, "Pose")
    page.get_by_role("button", name="Random").click()
    until(lambda: working.session.view().undo_label == "random pose", "a random pose")
    pose = working.session.document.actor.q
    with page.expect_download() as sent:
        page.get_by_role("button", name="Save pose").click()
    sent.value.save_as(tmp_path / "pose.csv")
    page.get_by_role("button", name="Zero").click()
    until(lambda: working.session.view().undo_label == "zero pose", "a zero pose")
    assert not np.allclose(working.session.document.actor.q, pose)
    upload = page.get_by_role("button", name="Load pose").locator("xpath=..")
    upload.locator('input[type="file"]').set_input_files(str(tmp_path / "pose.csv"))
    until(lambda: working.session.view().undo_label == "load pose.csv", "a pose from a file")
    np.testing.assert_allclose(working.session.document.actor.q, pose, atol=1e-7)


def test_all_frames_are_fitted_and_tasks_can_be_cancelled(working, visit):
    page = visit(working)
    show_tab(page, "Fit")
    page.get_by_role("button", name="Fit all frames").click()
    until(lambda: working.session.document.actor.motion is not None, "a motion")
    page.get_by_text("the worst marker is").wait_for()
    working.tasks.current.done.wait(60)

    def slow(task):
        for k in range(100_000):
            task.report("counting", min(k / 1000, 0.99))
            task.cancelled.wait(0.02)

    task = working.tasks.start("Counting", slow)
    page.get_by_role("button", name="Cancel").click()
    until(task.done.is_set, "an end")
    page.get_by_text("cancelled").first.wait_for()
    assert not working.layout.panel(FitPanel).bar.visible


def test_a_finding_leads_to_its_frame_and_markers(working, visit):
    page = visit(working)
    show_tab(page, "Fit")
    panel = working.layout.panel(HealthPanel)
    until(lambda: panel.buttons, "findings")
    page.get_by_role("button", name="gap: LELB, LWRA").click()
    until(lambda: working.view_options.selected_markers == {"LELB", "LWRA"}, "its markers")
    trial, health = panel.report
    first = health.findings[0].frames[0][0] - trial.first_frame
    assert working.session.clock.frame == first
    page.get_by_text("Showing frames").wait_for()
