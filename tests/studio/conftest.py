"""A real browser for the tests of the page, and a studio with the walk that ships.

``studio`` is a page with the walk of the package, its body moving as it truly did; ``visit`` opens
it in the browser and returns the page of Playwright. `support.studio_page` has ways to
find controls, and `support.waiting.until` waits for what follows.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from homodyn import capture
from homodyn.analysis.demo import DEMO_TRIAL_FOLDER
from homodyn.studio import Actor, Session, StudioDocument
from homodyn.studio.studio import Studio
from homodyn.synthetic import read_truth
from support.waiting import PATIENCE, until


@pytest.fixture(scope="session")
def walk_document() -> StudioDocument:
    """The recorded walk and the body that walked, with its motion, forces and events."""
    truth = read_truth(DEMO_TRIAL_FOLDER)
    actor = Actor("walk", truth.model, truth.motion.q[0], truth.motion, truth.loads, truth.events)
    return (
        StudioDocument().with_trial(capture.read(DEMO_TRIAL_FOLDER / "walk.c3d")).with_actor(actor)
    )


@pytest.fixture
def studio(walk_document: StudioDocument) -> Iterator[Studio]:
    """A studio with the walk open, on a port of its own."""
    made = Studio(Session(walk_document), port=0)
    made.start()
    made.wait_until_drawn()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no chromium: install Debian's package of that name")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open the page of a studio: ``visit(studio)``; faults of its scripts fail the test."""
    pages: list[Any] = []
    faults: list[str] = []

    def open_page(studio: Studio, width: int = 1100, height: int = 750, query: str = "") -> Any:
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(1000 * PATIENCE)
        page.on("pageerror", lambda error: faults.append(str(error)))
        # A quarter of the pixels: there is no graphics card to draw them all.
        mark = "&" if "?" in studio.address else "?"
        page.goto(f"{studio.address}{mark}fixedDpr=0.5&{query}")
        page.get_by_text("Open a file").wait_for()
        until(lambda: studio.server.get_clients(), "a page connected")
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert not faults, faults
