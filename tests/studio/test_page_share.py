"""The page in a real browser: saving, recovery, comparison and simulation."""

import io
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from homodyn import catalog, load, save
from homodyn.errors import ModelError
from homodyn.model import Assembly, joints, sphere
from homodyn.studio import Session, StudioDocument
from homodyn.studio.autosave import Autosave, find_recoverable_work
from homodyn.studio.file_opening import from_catalog, standing_actor
from homodyn.studio.panels.compare import ComparePanel
from homodyn.studio.panels.save import GIF, IMAGE, REPLAY, SavePanel
from homodyn.studio.panels.simulate import SimulatePanel
from homodyn.studio.studio import Studio
from support.studio_page import arrow_of, pixel, unfold
from support.waiting import until


@pytest.fixture
def serve():
    """Start a studio over a document: ``serve(document)``; it ends with the test."""
    started = []

    def start(document=None, **options):
        page = Studio(Session(document or StudioDocument()), port=0, **options)
        started.append(page)
        page.start()
        page.wait_until_drawn()
        return page

    yield start
    for page in started:
        page.stop()


def posed(studio, value=0.3):
    studio.session.change("pose", lambda d: d.with_active(d.actor.with_pose(d.actor.q + value)))


def downloaded(page, button, path):
    with page.expect_download() as got:
        page.get_by_role("button", name=button).click()
    got.value.save_as(path)
    return got.value.suggested_filename


def test_work_is_saved_and_opens_again_in_another_studio(studio, visit, serve, tmp_path):
    page = visit(studio)
    posed(studio)
    page.get_by_text("Homodyn studio (unsaved work)").wait_for()
    unfold(page, "Save")
    page.get_by_text("pose of walk").wait_for()
    name = downloaded(page, "Save everything", tmp_path / "session.zip")
    assert name == "session.zip"
    page.get_by_text("All changes are saved.").wait_for()
    posed(studio, 0.1)
    page.get_by_text("pose of walk").wait_for()
    with page.expect_download() as got:
        page.keyboard.press("Control+s")
    got.value.save_as(tmp_path / "session.zip")
    page.get_by_text("All changes are saved.").wait_for()
    page.reload()
    page.get_by_text("is fixed in a pose").wait_for()

    other = serve()
    again = visit(other)
    again.locator('input[type="file"]').first.set_input_files(str(tmp_path / "session.zip"))
    until(lambda: other.session.document.names == ("walk",), "the saved body")
    again.get_by_text("is fixed in a pose").wait_for()
    np.testing.assert_allclose(other.session.document.actor.q, studio.session.document.actor.q)
    assert other.session.document.trial.markers == studio.session.document.trial.markers


def test_an_image_a_video_and_a_replay_are_saved_from_the_page(studio, visit, browser, tmp_path):
    page = visit(studio)
    panel = studio.layout.panel(SavePanel)
    unfold(page, "Save")
    panel.kind.value = IMAGE
    downloaded(page, "Save file", tmp_path / "view.png")
    image = np.asarray(Image.open(tmp_path / "view.png"))
    assert image.shape[2] == 3
    assert image.std() > 3

    first = studio.session.document.actor.motion
    short = first.take(np.arange(21))
    studio.session.change(
        "cut", lambda d: StudioDocument().with_actor(replace(d.actor, motion=short, loads=None))
    )
    studio.wait_until_drawn()
    panel.kind.value = GIF
    assert downloaded(page, "Save file", tmp_path / "walk.gif") == "walk.gif"
    video = Image.open(io.BytesIO((tmp_path / "walk.gif").read_bytes()))
    assert video.n_frames == 4
    frames = []
    for k in range(4):
        video.seek(k)
        frames.append(np.asarray(video.convert("RGB")).astype(int))
    assert all(np.abs(a - b).max() > 50 for a, b in pairwise(frames))

    panel.kind.value = REPLAY
    downloaded(page, "Save file", tmp_path / "walk.html")
    faults = []
    sent = browser.new_page()
    sent.on("pageerror", lambda error: faults.append(str(error)))
    sent.on(
        "request", lambda request: faults.append(request.url) if "http" in request.url else None
    )
    sent.goto((tmp_path / "walk.html").as_uri())
    before = sent.locator("output").inner_text()
    sent.get_by_role("button", name="▶ Play").click()
    until(lambda: sent.locator("output").inner_text() != before, "the replay plays")
    sent.close()
    assert not faults


def test_closing_a_page_with_unsaved_work_needs_confirmation(studio, visit):
    page = visit(studio)
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.type), dialog.accept()))
    page.get_by_role("button", name="▶|").click()
    page.reload()
    page.get_by_text("Open a file").wait_for()
    assert dialogs == []
    posed(studio)
    page.get_by_text("Homodyn studio (unsaved work)").wait_for()
    page.get_by_role("button", name="▶|").click()
    page.reload()
    page.get_by_text("Open a file").wait_for()
    assert dialogs == ["beforeunload"]


def test_closing_a_body_with_unsaved_work_needs_confirmation(studio, visit):
    page = visit(studio)
    posed(studio)
    page.get_by_role("button", name="Close active body").click()
    page.get_by_text("Its pose is not saved.").wait_for()
    page.get_by_role("button", name="Keep open").click()
    until(lambda: not page.get_by_text("Its pose is not saved.").count(), "the question closed")
    assert studio.session.document.names == ("walk",)
    page.get_by_role("button", name="Close active body").click()
    page.get_by_role("button", name="Close", exact=True).click()
    until(lambda: studio.session.document.names == (), "a closed body")


def test_unsaved_work_of_a_crash_is_offered(visit, serve, tmp_path):
    body = from_catalog("bip")
    session = Session(StudioDocument().with_actor(body))
    session.change("pose", lambda d: d.with_active(d.actor.with_pose(d.actor.q + 0.2)))
    Autosave(session, tmp_path).write()
    assert len(find_recoverable_work(tmp_path)) == 1

    studio = serve(home=tmp_path)
    page = visit(studio)
    page.get_by_text("Unsaved work was found").wait_for()
    page.get_by_role("button", name="Open", exact=True).click()
    until(lambda: studio.session.document.names == session.document.names, "the work is back")
    np.testing.assert_array_equal(studio.session.document.actor.q, body.q + 0.2)
    assert studio.session.view().unsaved
    until(lambda: not find_recoverable_work(tmp_path), "it is held by this studio now")


def test_a_model_with_invalid_inertias_can_be_opened_anyway(visit, serve, tmp_path):
    path = tmp_path / "others.lua"
    save(catalog.bip(), path)
    text = re.sub(r"inertia = \{\s*\{[^,]+", "inertia = {{9.0", path.read_text(), count=1)
    path.write_text(text)
    with pytest.raises(ModelError, match="as_measured=True"):
        load(path)
    studio = serve()
    page = visit(studio)
    page.locator('input[type="file"]').first.set_input_files(str(path))
    page.get_by_text("no rigid body has principal moments").first.wait_for()
    assert not studio.session.document.actors
    page.get_by_role("button", name="Open anyway").click()
    until(lambda: studio.session.document.actors, "a body")
    assert studio.session.document.actor.model.as_measured


def test_two_results_are_compared_over_the_cycle(studio, visit, tmp_path):
    walker = studio.session.document.actor
    weaker = replace(walker, name="weaker", loads=replace(walker.loads, tau=0.8 * walker.loads.tau))
    studio.session.change("open", lambda d: d.with_actor(weaker), in_file=True)
    page = visit(studio)
    page.get_by_role("tab", name="Compare").click()
    page.get_by_text("2 of 2 results over the cycle").wait_for()
    for quantity in ("Angle", "Torque", "Ground force"):
        page.get_by_text(quantity, exact=True).first.wait_for()
    until(lambda: page.locator(".uplot:visible").count() >= 4, "plots")
    downloaded(page, "Save curves", tmp_path / "comparison.csv")
    heads = (tmp_path / "comparison.csv").read_text().splitlines()[0]
    assert "walk: Knee flexion right mean (deg)" in heads
    assert re.search(r"weaker: Knee flexion left mean \(N m/kg\)", heads)
    unfold(page, "Results")
    box = studio.layout.panel(ComparePanel).list.boxes["weaker"]
    page.locator(f"[id='{box._impl.uuid}']").click()
    page.get_by_text("1 of 2 results").wait_for()


def ball():
    return (
        Assembly("ball")
        .add(sphere("ball", mass=2.0, radius=0.3), joints.free())
        .contact("skin", "ball", "sphere", radius=0.3)
        .model()
    )


def test_a_body_is_simulated_pushed_and_stopped(visit, serve):
    studio = serve(StudioDocument().with_actor(standing_actor(ball())))
    page = visit(studio)
    page.get_by_role("tab", name="Simulate").click()
    page.get_by_role("button", name="Start simulation").click()
    panel = studio.layout.panel(SimulatePanel)
    until(lambda: len(panel.samples) > 5, "the body moves")
    page.mouse.click(*pixel(page, studio, (0.0, 0.0, 0.3)))
    until(lambda: panel.handle.node is not None, "a handle at what was clicked")
    assert panel.handle.segment == "ball"
    studio.wait_until_drawn()
    start, end = arrow_of(page, studio, panel.handle.node)
    page.mouse.move(*end)
    page.mouse.down()
    page.mouse.move(*(2 * end - start), steps=5)
    until(lambda: panel.samples[-1].push is not None, "a push")
    until(lambda: panel.samples[-1].q[0] > 0.02, "the body moves to where it is pulled")
    assert max(sample.push.force[0] for sample in panel.samples if sample.push) > 1.0
    page.mouse.up()
    until(lambda: panel.samples[-1].push is None, "a hand that let go")
    page.get_by_text(re.compile(r"real time")).wait_for()
    page.get_by_role("button", name="Stop").click()
    until(lambda: len(studio.session.document.names) == 2, "a result")
    result = studio.session.document.actor
    assert result.name.endswith("implicit springs")
    assert result.motion.time[-1] > 5 / 60
    assert not studio.session.document.actors[0].posed
    page.get_by_role("button", name="Start simulation").wait_for()
