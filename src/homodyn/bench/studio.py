"""The page of the studio in a browser while a long motion plays.

A model of 48 joint degrees of freedom with 60 markers plays 10 000 frames in headless Chromium
without a graphics card. The page counts how often the scene is drawn, and how often with changed
positions. Of two frames that arrive while one is drawn, only the later one is shown.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from homodyn import capture, catalog
from homodyn.analysis.result_files import SUMMARY
from homodyn.analysis.result_tables import write_motion
from homodyn.bench.harness import BenchmarkRow, benchmark, missing
from homodyn.capture import Trial
from homodyn.errors import HomodynError
from homodyn.model import save
from homodyn.motion import motion_from_poses

FRAMES, MARKERS = 10_000, 60
MOTION_RATE_HZ = 100.0
FRAME_RATE_HZ = 30.0
"""Frames per second that the studio sends and the page should draw."""
MAX_MEMORY_GROWTH_MB = 10.0
"""Limit of the memory growth of the server, and of the browser, during the measurement."""
ROUND_DURATION_S = 5.0
"""Duration of a measurement; the best of several rounds counts."""
SIZES = ((1280, 800), (1920, 1080))
COUNT = """
(() => {
  window.placed = window.cleared = 0;
  const last = new WeakMap();
  const original = WebGL2RenderingContext.prototype.texSubImage2D;
  WebGL2RenderingContext.prototype.texSubImage2D = function (...words) {
    const values = words.find((word) => word instanceof Float32Array);
    const texture = this.getParameter(this.TEXTURE_BINDING_2D);
    if (values && texture) {
      const sum = values.subarray(0, 64).reduce((total, value) => total + value, 0);
      if (last.get(texture) !== sum) window.placed += 1;
      last.set(texture, sum);
    }
    return original.apply(this, words);
  };
  const clear = WebGL2RenderingContext.prototype.clear;
  WebGL2RenderingContext.prototype.clear = function (...words) {
    window.cleared += 1;
    return clear.apply(this, words);
  };
})();
"""
WATCH = """(seconds) => new Promise((done) => {
  const begin = performance.now();
  const cleared = window.cleared;
  let before = window.placed, fresh = 0;
  const step = () => {
    if (window.placed !== before) fresh += 1;
    before = window.placed;
    const passed = (performance.now() - begin) / 1000;
    if (passed < seconds) requestAnimationFrame(step);
    else done([(window.cleared - cleared) / passed, fresh / passed]);
  };
  requestAnimationFrame(step);
})"""
HEAP = "() => { gc(); return performance.memory.usedJSHeapSize / 1e6; }"


@benchmark("studio")
def studio(quick: bool) -> Iterator[BenchmarkRow]:
    """Frame rate and memory of the studio page while 10 000 frames play."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    note = (
        missing("viser")
        or missing("playwright")
        or ("" if chromium else "chromium is not installed")
    )
    if note:
        yield BenchmarkRow("frames drawn", None, FRAME_RATE_HZ, "1/s", None, 1.0, note)
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory(prefix="homodyn-") as folder, sync_playwright() as driver:
        files = long_motion(Path(folder))
        with serving(files) as (process, address):
            browser = driver.chromium.launch(
                executable_path=chromium,
                args=["--no-sandbox", "--enable-precise-memory-info", "--js-flags=--expose-gc"],
            )
            for size in SIZES[:1] if quick else SIZES:
                yield from _play(browser, process, address, size, 1 if quick else 4)
            browser.close()


def long_motion(folder: Path) -> list[Path]:
    """Write a result folder with a random motion, and a recording with random markers.

    Args:
        folder: Where to write them.

    Returns:
        Paths of the result folder and of the recording.
    """
    model = catalog.hdm()
    rng = np.random.default_rng(0)
    swing = 0.3 * np.sin(np.linspace(0, 200, FRAMES))[:, None] * rng.standard_normal(model.nv)
    q = model.integrate(np.tile(model.neutral(), (FRAMES, 1)), swing)
    result = folder / "swinging"
    result.mkdir()
    save(model, result / "model.toml")
    write_motion(motion_from_poses(model, np.arange(FRAMES) / MOTION_RATE_HZ, q), (), result)
    (result / SUMMARY).write_text(json.dumps({"trial": "swinging"}), encoding="utf-8")
    steps = 1e-3 * rng.standard_normal((FRAMES, MARKERS, 3))
    positions = np.cumsum(steps, axis=0) + np.array([0.0, 0.0, 1.0])
    names = tuple(f"M{k}" for k in range(MARKERS))
    trial = Trial("wandering", names, positions, MOTION_RATE_HZ)
    capture.write(trial, folder / "wandering.c3d")
    return [result, folder / "wandering.c3d"]


@contextmanager
def serving(files: list[Path]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run ``homodyn studio`` with files open; yields the process and its address."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        "HOMODYN_STATE": str(files[0].parent / "state"),
    }
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "homodyn", "studio", "--no-browser", *map(str, files)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = next((line for line in process.stdout if "http://" in line), "")
        found = re.search(r"http://\S+", line)
        if found is None:
            raise HomodynError("homodyn studio did not start")
        yield process, found[0]
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _play(
    browser: Any,
    process: subprocess.Popen[str],
    address: str,
    size: tuple[int, int],
    rounds: int,
) -> Iterator[BenchmarkRow]:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.add_init_script(COUNT)
    page.goto(address)
    page.get_by_text("is open. Press").wait_for(timeout=60_000)
    time.sleep(3.0)
    play = page.get_by_role("button", name="▶ / ❚❚")
    play.click()
    time.sleep(3.0)
    before = (_resident(process), page.evaluate(HEAP))
    frames_drawn, distinct_frames, server_ms = 0.0, 0.0, float("inf")
    for _ in range(rounds):
        used = _processor(process)
        rates = page.evaluate(WATCH, ROUND_DURATION_S)
        used = _processor(process) - used
        frames_drawn = max(frames_drawn, rates[0])
        distinct_frames = max(distinct_frames, rates[1])
        server_ms = min(server_ms, 1e3 * used / (FRAME_RATE_HZ * ROUND_DURATION_S))
    after = (_resident(process), page.evaluate(HEAP))
    play.click()
    page.close()
    resolution = f"{size[0]}x{size[1]}"
    note = f"best of {rounds} rounds; the peer is the rate that is sent"
    for name, rate in (("frames drawn", frames_drawn), ("distinct frames", distinct_frames)):
        yield BenchmarkRow.from_rates(
            f"{name}, {resolution}", rate, FRAME_RATE_HZ, unit="1/s", required=1.0, note=note
        )
    note = "the peer is a limit" if Path("/proc/self").exists() else "measured on Linux only"
    yield BenchmarkRow(
        f"server, {resolution}", server_ms, None, "ms/frame", None, None, "minimum processor time"
    )
    for name, first, last in zip(("server", "browser"), before, after, strict=True):
        yield BenchmarkRow(
            f"memory growth of the {name}, {resolution}",
            last - first,
            MAX_MEMORY_GROWTH_MB,
            "MB",
            None if last <= first else MAX_MEMORY_GROWTH_MB / (last - first),
            None if last <= first else 1.0,
            f"{note}; {last:.0f} MB after {rounds * ROUND_DURATION_S:g} s",
        )


def _resident(process: subprocess.Popen[str]) -> float:
    """Memory (MB) of a process."""
    path = Path(f"/proc/{process.pid}/statm")
    if not path.exists():
        return 0.0
    return int(path.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _processor(process: subprocess.Popen[str]) -> float:
    """Processor time (s) of a process so far."""
    path = Path(f"/proc/{process.pid}/stat")
    if not path.exists():
        return 0.0
    words = path.read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
