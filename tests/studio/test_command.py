"""The command starts, serves a page to a browser, and ends on Ctrl-C."""

import os
import re
import signal
import subprocess
import sys

import numpy as np

from homodyn.studio.autosave import find_recoverable_work
from homodyn.studio.file_opening import from_catalog
from support.studio_page import unfold
from support.waiting import PATIENCE


def test_the_demonstration_ends_on_ctrl_c_and_keeps_unsaved_work(browser, tmp_path):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTHONUNBUFFERED": "1",
        "HOMODYN_STATE": str(tmp_path),
        # Without compiled kernels the analysis is still running when the program ends.
        "HOMODYN_CACHE": str(tmp_path / "cache"),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "homodyn", "studio", "heiman", "--demo", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )
    page = browser.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    try:
        address = re.search(r"http://\S+", process.stdout.readline())[0]
        page.goto(f"{address}&fixedDpr=0.5")
        page.get_by_text("Analyzing the demonstration").first.wait_for()
        unfold(page, "Pose")
        page.get_by_role("button", name="Random").click()
        page.get_by_text("Homodyn studio (unsaved work)").wait_for()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        rest = process.stdout.read()
    finally:
        page.close()
        process.kill()
        process.wait()
        process.stdout.close()
    assert "Traceback" not in rest
    posed = re.search(r"Not saved: pose of (HeiMan|walk)\. The next homodyn studio offers", rest)[1]
    assert rest.rstrip().endswith("The studio has ended.")
    (kept,) = find_recoverable_work(tmp_path / "studio")
    body = next(actor for actor in kept.read().actors if actor.name == posed)
    # The walker becomes the active body if its analysis ends before the pose is set.
    assert posed == "walk" or not np.allclose(body.q, from_catalog("heiman").q, atol=0.01)
