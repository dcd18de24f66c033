"""Draw the images of reports for the guide: the top of a report, and margins of balance.

Requires chromium and the package playwright.

Example: python tools/draw_report.py docs/images
"""

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from homodyn.balance import evaluate, scene_phases, scene_wrench
from homodyn.motion import load_scene
from homodyn.report.balance_figures import margins_figure
from homodyn.report.demo import write_demo

PALETTE_COLORS = 256
REPORT_SIZE_PX = (1180, 1440)
REPORT_SCALE = 0.75
PATH_SAMPLES = 401


def draw_report(path: Path) -> None:
    """Write an image of the top of the report of the demonstration."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        report = write_demo(Path(folder))
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        width, height = REPORT_SIZE_PX
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(report.page.resolve().as_uri())
        page.wait_for_timeout(1000)
        page.screenshot(path=path)
        browser.close()
    with Image.open(path) as image:
        size = tuple(round(REPORT_SCALE * n) for n in image.size)
        scaled = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    reduce_palette(scaled).save(path, optimize=True)


def draw_balance(path: Path) -> None:
    """Write the margins of the bundled scene ``complex``, a walk over a board."""
    scene = load_scene("complex")
    assert scene.path is not None
    time = np.linspace(scene.path.instants[0], scene.path.instants[-1], PATH_SAMPLES)
    figure = margins_figure(evaluate(scene_wrench(scene, time), scene_phases(scene)))
    figure.set_size_inches(9.0, 5.4)
    figure.savefig(path, dpi=90)
    with Image.open(path) as image:
        reduced = reduce_palette(image.convert("RGB"))
    reduced.save(path, optimize=True)


def reduce_palette(image: Image.Image) -> Image.Image:
    """The image with few colors; maximum coverage keeps the colors of small symbols."""
    return image.quantize(PALETTE_COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)


def main() -> None:
    """Write the images into a folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    draw_report(folder / "report.png")
    draw_balance(folder / "balance.png")


if __name__ == "__main__":
    main()
