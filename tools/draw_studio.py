"""Draw the pages of the studio for the guide, with a real browser and the walk that ships.

Needs Debian's chromium and the package playwright. A size and a theme other than the usual ones are
for looking at the page, not for the guide.

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
from homodyn.report.demo import TRIAL
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

COLORS = 256
USUAL = (1280, 800)
STEP = 1.6
"""s: an instant of the walk in the middle of a step."""
EXAMPLES = Path(__file__).parent.parent / "examples" / "networks"


def walk() -> StudioDocument:
    """The recorded walk and the body that walked."""
    truth = read_truth(TRIAL)
    actor = Actor("walk", truth.model, truth.motion.q[0], truth.motion, truth.loads, truth.events)
    return StudioDocument().with_trial(capture.read(TRIAL / "walk.c3d")).with_actor(actor)


def until(true: Callable[[], Any], seconds: float = 60.0) -> None:
    """Wait for something."""
    end = monotonic() + seconds
    while not true():
        if monotonic() > end:
            raise TimeoutError("the page did not come to show what it should")
        sleep(0.1)


def tab(page: Any, name: str) -> None:
    """Turn to a tab at the right."""
    page.get_by_role("tab", name=name).click()
    sleep(0.7)


def begin(page: Any, studio: Studio) -> None:
    """An empty page: what to do first."""


def seen(page: Any, studio: Studio) -> None:
    """The walk in the middle of a step."""
    studio.session.update_clock(lambda clock: clock.at(1.0))


def fitted() -> StudioDocument:
    """The recorded walk and a ready body, fitted to a frame of it."""
    trial = capture.read(TRIAL / "walk.c3d")
    actor = fit_frame(from_catalog("heiman"), trial, STEP).after
    return StudioDocument().with_trial(trial).with_actor(actor)


def markers(page: Any, studio: Studio) -> None:
    """Three markers of a shank are chosen, and one without a segment stands out."""
    studio.session.update_clock(lambda clock: clock.at(STEP))
    studio.session.change("remove", lambda d: remove_markers(d, {"STRN"}, "body"))
    tab(page, "Fit")
    studio.set_view_options(
        body="see-through", selected_markers=frozenset({"LKNE", "LTIB", "LANK"})
    )
    panel: Any = studio.layout.panel(MarkersPanel)
    panel.segment.value = "ShankLeft"


def edit(page: Any, studio: Studio) -> None:
    """A knee has its handle, and the length of a thigh is chosen."""
    studio.session.update_clock(lambda clock: clock.at(STEP))
    for folder in ("Open", "Edit"):
        page.get_by_text(folder, exact=True).first.click()
    panel: Any = studio.layout.panel(EditPanel)
    panel.number.value = "ThighLeftLength"
    panel.joint.value = "KneeRight"
    panel._take("KneeRight")


def compare(page: Any, studio: Studio) -> None:
    """Three results over the cycle."""
    walker = studio.session.document.actor
    assert walker is not None
    assert walker.motion is not None
    assert walker.loads is not None
    for name, bend, load in (("brisk", 1.12, 1.2), ("tired", 0.85, 0.8)):
        q = np.array(walker.motion.q)
        q[:, 6:] *= bend
        motion = replace(walker.motion, q=q)
        loads = replace(walker.loads, motion=motion, tau=load * walker.loads.tau)
        made = replace(walker, name=name, motion=motion, loads=loads)
        studio.session.change("open", lambda d, made=made: d.with_actor(made), in_file=True)
    tab(page, "Compare")


def simulate(page: Any, studio: Studio) -> None:
    """A body that is pushed at its trunk."""
    tab(page, "Simulate")
    page.get_by_role("button", name="Start simulation").click()
    panel: Any = studio.layout.panel(SimulatePanel)
    until(lambda: len(panel.samples) > 30)
    studio._segment_clicked("HeiMan", "UpperTrunk")
    node = panel.handle._node
    panel.handle._held = True
    node.position = np.add(node.position, [0.05, 0.25, 0.0])
    count = len(panel.samples)
    until(lambda: len(panel.samples) > count + 45)


def balance(page: Any, studio: Studio) -> None:
    """Margins of the walk."""
    tab(page, "Studies")
    studio.session.update_clock(lambda clock: clock.at(0.95))
    page.get_by_role("button", name="Evaluate balance").click()
    panel: Any = studio.layout.panel(BalancePanel)
    until(lambda: panel.plot is not None)


def network(page: Any, studio: Studio) -> None:
    """A network with its sliders."""
    tab(page, "Studies")
    page.get_by_text("Balance", exact=True).first.click()
    page.get_by_text("Network", exact=True).first.click()
    studio.open(open_path(EXAMPLES / "van_der_pol.cdn"), "van_der_pol.cdn")
    panel: Any = studio.layout.panel(NetworkPanel)
    until(lambda: panel.ran is not None)
    panel.until.value = 40.0
    panel.choices[1].value = "driven.x"
    panel._run()
    sleep(2.0)


def save(page: Any, studio: Studio) -> None:
    """What can be saved, with a pose that is not."""
    studio.session.change("pose", lambda d: d.with_active(d.actor.with_pose(d.actor.q)))
    for folder in ("Open", "Save"):
        page.get_by_text(folder, exact=True).first.click()


PAGES: dict[str, tuple[Callable[[Any, Studio], None], Callable[[], StudioDocument]]] = {
    "begin": (begin, StudioDocument),
    "walk": (seen, walk),
    "markers": (markers, fitted),
    "edit": (edit, fitted),
    "save": (save, walk),
    "compare": (compare, walk),
    "simulate": (simulate, lambda: StudioDocument().with_actor(from_catalog("heiman"))),
    "balance": (balance, walk),
    "network": (network, StudioDocument),
}
"""Pages by name: what is done on them, and what is open before."""


def frames_drawn(browser: Any, name: str, size: tuple[int, int], dark: bool, path: Path) -> None:
    """Write the picture of one page."""
    act, document = PAGES[name]
    studio = Studio(Session(document()), port=0)
    studio.start()
    try:
        studio.set_view_options(dark=dark)
        studio.wait_until_drawn()
        page = browser.new_page(viewport={"width": size[0], "height": size[1]})
        page.goto(f"{studio.address}?edges=smooth")
        page.get_by_text("Open a file").wait_for()
        sleep(1.5)
        act(page, studio)
        sleep(1.5)
        # Notes, such as that there is no graphics card, come and go.
        page.add_style_tag(content=".mantine-Notifications-root { display: none; }")
        page.screenshot(path=path)
        page.close()
    finally:
        studio.stop()
    with Image.open(path) as picture:
        # Maximum coverage keeps the colours that only a few small signs have.
        few = picture.convert("RGB").quantize(
            COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    few.save(path, optimize=True)


def main() -> None:
    """Write the pages that are named, or all, into a folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    words = sys.argv[2:]
    sizes = [word for word in words if "x" in word and word.replace("x", "").isdigit()]
    size = tuple(int(n) for n in sizes[0].split("x")) if sizes else USUAL
    names = [word for word in words if word in PAGES] or list(PAGES)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name in names:
            path = folder / f"studio_{name}.png"
            frames_drawn(browser, name, (size[0], size[1]), "dark" in words, path)
            print(path)
        browser.close()


if __name__ == "__main__":
    main()
