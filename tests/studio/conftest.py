"""A studio with the bundled walk, and a real browser for tests of the page.

``studio`` shows the bundled walk with its true motion; ``visit`` opens it in the browser and
returns the Playwright page. `support.studio_page` finds controls, and `support.waiting.until` waits
for conditions.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from homodyn import capture
from homodyn.analysis.demo import DEMO_TRIAL_FOLDER
from homodyn.studio import Actor, Session, StudioDocument
from homodyn.studio.studio import Studio
from homodyn.synthetic import read_truth
from support.studio_bodies import SPRING_NETWORK, run_bowl_study
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
    """A studio with the walk open, on its own port."""
    page = Studio(Session(walk_document), port=0)
    page.start()
    page.wait_until_drawn()
    yield page
    page.stop()


@pytest.fixture
def spring_file(tmp_path: Path) -> Path:
    """A network file with one mass on a spring."""
    path = tmp_path / "spring.cdn"
    path.write_text(SPRING_NETWORK)
    return path


@pytest.fixture
def study(tmp_path: Path) -> tuple[Path, Any]:
    """The database of a finished study, and its result."""
    database = tmp_path / "bowl.db"
    return database, run_bowl_study(database, 12)


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
    """Open the page of a studio: ``visit(studio)``; errors of its scripts fail the test."""
    pages: list[Any] = []
    errors: list[str] = []

    def open_page(
        studio: Studio,
        width: int = 1100,
        height: int = 750,
        query: str = "",
        color_scheme: str = "light",
    ) -> Any:
        page = browser.new_page(
            viewport={"width": width, "height": height}, color_scheme=color_scheme
        )
        page.set_default_timeout(1000 * PATIENCE)
        page.on("pageerror", lambda error: errors.append(str(error)))
        # A quarter of the pixels, because there is no graphics card.
        mark = "&" if "?" in studio.address else "?"
        page.goto(f"{studio.address}{mark}fixedDpr=0.5&{query}")
        page.get_by_text("Open a file").wait_for()
        until(lambda: studio.server.get_clients(), "a page connected")
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert not errors, errors
