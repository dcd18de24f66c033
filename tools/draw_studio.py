"""Draw the pages of the studio for the guide, with a real browser and the bundled walk.

Requires chromium and the package playwright. Sizes and themes other than the defaults are for
inspection, not for the guide.

Example: python tools/draw_studio.py docs/images
Example: python tools/draw_studio.py pages 1920x1080 dark compare simulate
"""

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from homodyn import capture
from homodyn.analysis.demo import DEMO_TRIAL_FOLDER
from homodyn.studio import Actor, Session, StudioDocument
from homodyn.studio.file_opening import from_catalog, open_path
from homodyn.studio.fit_tasks import fit_frame
from homodyn.studio.marker_editing import remove_markers
from homodyn.studio.panels.balance import BalancePanel
from homodyn.studio.panels.edit import EditPanel
from homodyn.studio.panels.markers import MarkersPanel
from homodyn.studio.panels.network import NetworkPanel
from homodyn.studio.panels.simulate import SimulatePanel
from homodyn.studio.studio import Studio
from homodyn.synthetic import read_truth

PALETTE_COLORS = 256
DEFAULT_SIZE_PX = (1440, 900)
MID_STEP_S = 1.6
"""An instant of the walk in the middle of a step (s)."""
EXAMPLES = Path(__file__).parent.parent / "examples" / "networks"


def walk() -> StudioDocument:
    """The recorded walk and the true motion of the subject."""
    truth = read_truth(DEMO_TRIAL_FOLDER)
    actor = Actor("walk", truth.model, truth.motion.q[0], truth.motion, truth.loads, truth.events)
    trial = capture.read(DEMO_TRIAL_FOLDER / "walk.c3d")
    return StudioDocument().with_trial(trial).with_actor(actor)


def fitted() -> StudioDocument:
    """The recorded walk and a library model that is fitted to one frame."""
    trial = capture.read(DEMO_TRIAL_FOLDER / "walk.c3d")
    actor = fit_frame(from_catalog("heiman"), trial, MID_STEP_S).after
    return StudioDocument().with_trial(trial).with_actor(actor)


def wait_until(condition: Callable[[], Any], seconds: float = 120.0) -> None:
    """Wait for a condition."""
    end = monotonic() + seconds
    while not condition():
        if monotonic() > end:
            raise TimeoutError("the page did not reach the expected state")
        sleep(0.1)


def show_tab(page: Any, name: str) -> None:
    """Open a tab at the right."""
    page.get_by_role("tab", name=name).click()
    sleep(0.7)


def begin(page: Any, studio: Studio) -> None:
    """Show an empty page."""


def view_walk(page: Any, studio: Studio) -> None:
    """Show the walk in the middle of a step."""
    studio.session.update_clock(lambda clock: clock.at(MID_STEP_S))


def edit_markers(page: Any, studio: Studio) -> None:
    """Select three markers of a shank; one marker has no segment."""
    studio.session.update_clock(lambda clock: clock.at(MID_STEP_S))
    studio.session.change("remove", lambda d: remove_markers(d, {"STRN"}, "body"))
    show_tab(page, "Fit")
    studio.set_view_options(
        body="see-through", selected_markers=frozenset({"LKNE", "LTIB", "LANK"})
    )
    panel: Any = studio.layout.panel(MarkersPanel)
    panel.segment.value = "ShankLeft"


def edit_joint(page: Any, studio: Studio) -> None:
    """Show the handle of a knee, and the length of a thigh."""
    studio.session.update_clock(lambda clock: clock.at(MID_STEP_S))
    for folder in ("Open", "Bodies", "Edit"):
        page.get_by_text(folder, exact=True).first.click()
    panel: Any = studio.layout.panel(EditPanel)
    panel.parameter.value = "ThighLeftLength"
    panel.joint.value = "KneeRight"
    panel._attach("KneeRight")


def compare(page: Any, studio: Studio) -> None:
    """Compare three results over the gait cycle."""
    walker = studio.session.document.actor
    assert walker is not None
    assert walker.motion is not None
    assert walker.loads is not None
    right = [k for k, name in enumerate(walker.model.coordinate_names) if "Right" in name]
    for name, bend, load in (("brisk", 1.12, 1.2), ("tired", 0.85, 0.8)):
        q = np.array(walker.motion.q)
        q[:, right] *= bend  # of one side, so that curves of right and left differ
        motion = replace(walker.motion, q=q)
        loads = replace(walker.loads, motion=motion, tau=load * walker.loads.tau)
        other = replace(walker, name=name, motion=motion, loads=loads)
        studio.session.change("open", lambda d, other=other: d.with_actor(other), in_file=True)
    show_tab(page, "Compare")


def simulate(page: Any, studio: Studio) -> None:
    """Push a body at its trunk."""
    show_tab(page, "Simulate")
    page.get_by_role("button", name="Start simulation").click()
    panel: Any = studio.layout.panel(SimulatePanel)
    wait_until(lambda: len(panel.samples) > 30)
    studio._segment_clicked("HeiMan", "UpperTrunk")
    node = panel.handle.node
    panel.handle.dragging = True
    node.position = np.add(node.position, [0.05, 0.25, 0.0])
    count = len(panel.samples)
    wait_until(lambda: len(panel.samples) > count + 45)


def balance(page: Any, studio: Studio) -> None:
    """Evaluate the margins of the walk."""
    show_tab(page, "Studies")
    studio.session.update_clock(lambda clock: clock.at(0.95))
    page.get_by_role("button", name="Evaluate balance").click()
    panel: Any = studio.layout.panel(BalancePanel)
    wait_until(lambda: panel.plot is not None)


def network(page: Any, studio: Studio) -> None:
    """Show a network with its sliders."""
    show_tab(page, "Studies")
    page.get_by_text("Balance", exact=True).first.click()
    page.get_by_text("Network", exact=True).first.click()
    studio.open(open_path(EXAMPLES / "van_der_pol.cdn"), "van_der_pol.cdn")
    panel: Any = studio.layout.panel(NetworkPanel)
    wait_until(lambda: panel.run is not None)
    panel.until.value = 40.0
    panel.choices[1].value = "driven.x"
    panel._start_run()
    sleep(2.0)


def save(page: Any, studio: Studio) -> None:
    """Show the panel that saves files, with an unsaved pose."""
    studio.session.update_clock(lambda clock: clock.at(MID_STEP_S))
    studio.session.change("pose", lambda d: d.with_active(d.actor.with_pose(d.actor.q)))
    for folder in ("Open", "Bodies", "Save"):
        page.get_by_text(folder, exact=True).first.click()


PAGES: dict[str, tuple[Callable[[Any, Studio], None], Callable[[], StudioDocument]]] = {
    "begin": (begin, StudioDocument),
    "walk": (view_walk, walk),
    "markers": (edit_markers, fitted),
    "edit": (edit_joint, fitted),
    "save": (save, fitted),
    "compare": (compare, walk),
    "simulate": (simulate, lambda: StudioDocument().with_actor(from_catalog("heiman"))),
    "balance": (balance, walk),
    "network": (network, StudioDocument),
}
"""By name: the actions on the page, and the document that is open before."""


def draw_page(browser: Any, name: str, size: tuple[int, int], theme: str, path: Path) -> None:
    """Write the image of one page."""
    act, document = PAGES[name]
    studio = Studio(Session(document()), port=0)
    studio.start()
    try:
        studio.wait_until_drawn()
        page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=theme)
        page.goto(f"{studio.address}?edges=smooth")
        page.get_by_text("Open a file").wait_for()
        sleep(1.5)
        act(page, studio)
        sleep(2.0)
        # Messages, such as that there is no graphics card, are temporary.
        page.add_style_tag(content=".mantine-Notifications-root { display: none; }")
        page.screenshot(path=path)
        page.close()
    finally:
        studio.stop()
    with Image.open(path) as image:
        # Maximum coverage keeps the colors of small symbols.
        reduced = image.convert("RGB").quantize(
            PALETTE_COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    reduced.save(path, optimize=True)


def main() -> None:
    """Write the named pages, or all, into a folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    options = sys.argv[2:]
    sizes = [option for option in options if option.replace("x", "").isdigit()]
    size = tuple(int(n) for n in sizes[0].split("x")) if sizes else DEFAULT_SIZE_PX
    names = [option for option in options if option in PAGES] or list(PAGES)
    theme = "dark" if "dark" in options else "light"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name in names:
            path = folder / f"studio_{name}.png"
            draw_page(browser, name, (size[0], size[1]), theme, path)
            print(path)
        browser.close()


if __name__ == "__main__":
    main()
