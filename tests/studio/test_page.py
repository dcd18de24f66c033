"""The page in a real browser: playback, sliders, handles and files."""

import re
from pathlib import Path

import numpy as np
import pytest

from homodyn import catalog, save
from homodyn.analysis.demo import DEMO_TRIAL_FOLDER
from homodyn.report.simulation_folder import write_simulation
from homodyn.simulate import SimulationOptions, run
from homodyn.studio.file_opening import from_catalog
from homodyn.studio.panels.pose import PosePanel
from homodyn.studio.pose_editing import coordinate_sliders
from homodyn.studio.studio import Studio
from support.studio_page import number_box, type_number, unfold
from support.waiting import until


def test_the_walk_plays_and_pauses(studio, visit):
    page = visit(studio)
    assert page.title() == "Homodyn studio"
    play = page.get_by_role("button", name="▶ / ❚❚")
    play.click()
    until(lambda: studio.session.clock.playing, "playing")
    before = studio.session.clock.now
    shown = page.locator("text=/^\\d\\.\\d\\d s$/").first
    first = shown.inner_text()
    until(lambda: studio.session.clock.now != before, "time went on")
    until(lambda: shown.inner_text() != first, "the page shows another instant")
    play.click()
    until(lambda: not studio.session.clock.playing, "a pause")
    frame = studio.session.clock.frame
    page.get_by_role("button", name="▶|").click()
    until(lambda: studio.session.clock.frame == frame + 1, "a step of one frame")


def test_events_are_marked_on_the_time_line(studio, visit):
    page = visit(studio)
    page.get_by_text("LS", exact=True).first.wait_for()
    assert page.locator("#homodyn-strip rect").count() >= 4


def test_a_pose_slider_moves_the_body_and_undo_takes_it_back(studio, visit):
    page = visit(studio)
    unfold(page, "Pose")
    unfold(page, "Left leg")
    slider = studio.layout.panel(PosePanel).sliders["KneeLeft_RY"]
    number_box(page, slider).wait_for()
    studio.wait_until_drawn()
    slot = next(
        s
        for s in coordinate_sliders(studio.session.document.actor.model)
        if s.name == "KneeLeft_RY"
    )
    screenshot = page.locator("canvas").first.screenshot()
    type_number(page, slider, 80)
    until(lambda: studio.session.document.actor.posed, "a pose")
    until(
        lambda: studio.session.document.actor.q[slot.index] == np.radians(80.0),
        "the knee at 80 degrees",
    )
    until(lambda: page.locator("canvas").first.screenshot() != screenshot, "another screenshot")
    page.get_by_text("is fixed in a pose").wait_for()
    page.get_by_role("button", name="Undo").click()
    until(lambda: not studio.session.document.actor.posed, "undo")


def test_files_are_opened_and_errors_are_shown(studio, visit, tmp_path):
    page = visit(studio)
    broken = tmp_path / "broken.c3d"
    broken.write_bytes(b"this is no recording")
    entry = page.locator('input[type="file"]').first
    entry.set_input_files(str(broken))
    page.get_by_text(re.compile(r"broken\.c3d: ")).first.wait_for()
    assert len(studio.session.document.trials) == 1
    entry.set_input_files(str(DEMO_TRIAL_FOLDER / "static.c3d"))
    until(lambda: len(studio.session.document.trials) == 2, "a second recording")


def drop(page, name: str, content: str) -> None:
    page.evaluate(
        """([name, content]) => {
            const carrier = new DataTransfer();
            carrier.items.add(new File([content], name));
            for (const kind of ["dragenter", "dragover", "drop"])
                document.body.dispatchEvent(
                    new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: carrier}));
        }""",
        [name, content],
    )


def test_a_file_can_be_dropped_on_the_page(studio, visit, tmp_path):
    save(catalog.bip(), tmp_path / "robot.lua")
    page = visit(studio)
    drop(page, "robot.lua", Path(tmp_path / "robot.lua").read_text())
    until(lambda: len(studio.session.document.actors) == 2, "a dropped body")


DROP_FOLDER = """([name, files]) => {
    const file = ([name, content]) => ({
        isFile: true, isDirectory: false, name, file: (ok) => ok(new File([content], name)),
    });
    let read = false;
    const folder = {
        isFile: false, isDirectory: true, name,
        createReader: () => ({
            readEntries: (ok) => { ok(read ? [] : Object.entries(files).map(file)); read = true; },
        }),
    };
    const event = new Event("drop", {bubbles: true, cancelable: true});
    event.dataTransfer = {
        types: ["Files"], files: [], items: [{webkitGetAsEntry: () => folder}],
    };
    document.body.dispatchEvent(event);
}"""


def test_a_folder_of_results_can_be_dropped_on_the_page(studio, visit, tmp_path):
    actor = from_catalog("heiman")
    options = SimulationOptions(record_interval=1e-2)
    record = run(actor.model, actor.q, None, 0.02, 1e-3, contact="none", options=options)
    write_simulation(record, tmp_path / "falling")
    texts = {
        path.name: path.read_text()
        for path in (tmp_path / "falling").iterdir()
        if path.suffix != ".png"
    }
    page = visit(studio)
    page.evaluate(DROP_FOLDER, ["falling", texts])
    until(lambda: "falling" in studio.session.document.names, "a dropped result")
    assert studio.session.document.actor.motion.q.shape == record.q.shape


def test_two_pages_show_the_same(studio, visit):
    one, two = visit(studio), visit(studio)
    until(lambda: len(studio.server.get_clients()) == 2, "two pages")
    one.get_by_role("button", name="▶|").click()
    for page in (one, two):
        page.get_by_text("0.01 s", exact=True).first.wait_for()
    two.get_by_role("button", name="▶|").click()
    one.get_by_text("0.02 s", exact=True).first.wait_for()
    two.close()
    one.get_by_role("button", name="|◀").click()
    one.get_by_text("0.00 s", exact=True).first.wait_for()


DRAWN = """() => {
    const all = [...document.querySelectorAll("canvas")];
    const gl = all.map((canvas) => canvas.getContext("webgl2")).find(Boolean);
    const known = gl.getExtension("WEBGL_debug_renderer_info");
    return [gl.getContextAttributes().antialias, gl.getParameter(known.UNMASKED_RENDERER_WEBGL)];
}"""


@pytest.mark.parametrize("edges", ["smooth", ""])
def test_edges_are_smooth_unless_the_renderer_is_software(studio, visit, edges):
    smooth, machine = visit(studio, query=f"edges={edges}").evaluate(DRAWN)
    processor = "swiftshader" in machine.lower() or "llvmpipe" in machine.lower()
    assert smooth == (edges == "smooth" or not processor)


def test_an_empty_studio_shows_the_first_step(visit):
    empty = Studio(port=0)
    empty.start()
    try:
        page = visit(empty)
        page.get_by_text("Start here:").wait_for()
        page.get_by_role("button", name="Add model").click()
        until(lambda: empty.session.document.names == ("HeiMan",), "a ready body")
        page.get_by_text("Pose it under Pose").wait_for()
    finally:
        empty.stop()
