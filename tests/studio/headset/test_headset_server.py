"""The headset page in Chromium, flat and with an emulated headset (IWER)."""

import json
import shutil
import subprocess
import tarfile
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from homodyn.foundation.toml import parse_toml
from homodyn.studio.headset import HeadsetServer
from homodyn.track.experiments import ExperimentRun, TrialStage
from homodyn.track.experiments.experiment_file import experiment_from_toml
from homodyn.track.streams import LiveSample
from support.live_arm import LABELS, arm, true_markers, true_state, true_torques
from support.reach_experiment import REACH
from support.waiting import PATIENCE, until

EMULATOR = "iwer@2.5.0"
"""Package of the npm registry that emulates a headset."""
MODEL = arm()


class Person:
    """Sends results to a server: an arm whose finger follows the target."""

    def __init__(self, server):
        self.server, self.ended = server, threading.Event()
        self.follows = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self):
        self.ended.set()
        self._thread.join()

    def _run(self):
        run, k = self.server.experiment, 0
        while not self.ended.wait(0.02):
            k += 1
            markers = true_markers(MODEL, 0.02 * k)
            finger = markers[LABELS.index("FIN")]
            if self.follows.is_set() and run.shown is not None:
                finger[:] = run.shown.position
            else:
                finger[1] += 1.0
            q, v, _ = true_state(0.02 * k)
            torques = true_torques(MODEL, 0.02 * k)
            self.server.write(
                LiveSample(
                    time=0.02 * k,
                    arrival=0.02 * k,
                    number=k,
                    labels=LABELS,
                    markers=markers,
                    q=q,
                    v=v,
                    torques=torques,
                    power=10.0,
                    effort=float(np.abs(torques).sum()),
                    marker_error=0.001,
                    latency_s=0.002,
                )
            )


@pytest.fixture
def server(tmp_path):
    run = ExperimentRun(experiment_from_toml(parse_toml(REACH)), tmp_path)
    running = HeadsetServer(0, run)
    running.start(MODEL)
    yield running
    running.close()


@pytest.fixture
def person(server):
    sending = Person(server)
    yield sending
    sending.stop()


@pytest.fixture
def open_page(browser):
    pages, errors = [], []

    def open_page(server, script=None):
        page = browser.new_page(viewport={"width": 640, "height": 420})
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        if script is not None:
            page.add_init_script(script)
        page.goto(server.address)
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert not errors, errors


@pytest.fixture(scope="module")
def emulated_headset(tmp_path_factory):
    """Script of the emulator, from the npm registry."""
    npm, folder = shutil.which("npm"), tmp_path_factory.mktemp("emulator")
    if npm is None:
        pytest.skip("npm, which brings the emulated headset, is not installed")
    packed = subprocess.run([npm, "pack", EMULATOR], cwd=folder, capture_output=True, text=True)
    archives = list(folder.glob("*.tgz"))
    if packed.returncode or not archives:
        pytest.skip(f"npm brought no {EMULATOR}: {packed.stderr.strip()[-200:]}")
    with tarfile.open(archives[0]) as archive:
        script = archive.extractfile("package/build/iwer.min.js")
        assert script is not None
        return script.read().decode("utf-8")


def test_the_page_needs_the_token(server):
    plain = f"http://127.0.0.1:{server.port}/"
    for path in ("", "headset.js", "three.min.js", "stream"):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(plain + path)
    with urllib.request.urlopen(server.address) as answer:
        assert b"Homodyn headset" in answer.read()
        assert "script-src 'nonce-" in answer.headers["Content-Security-Policy"]
    with pytest.raises(InvalidStatus):
        connect(f"ws://127.0.0.1:{server.port}/stream", proxy=None)


def test_unknown_paths(server):
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(server.address.replace("/?", "/etc/passwd?"))


def test_a_client_receives_the_body_and_then_frames(server, person):
    address = server.address.replace("http", "ws").replace("/?", "/stream?")
    with connect(address, proxy=None) as client:
        assert json.loads(client.recv(timeout=PATIENCE))["kind"] == "body"
        assert json.loads(client.recv(timeout=PATIENCE))["kind"] == "frame"
        client.send("nonsense")
        client.send('{"head": [0.5, 0.25, 1.75]}')
        until(lambda: np.isfinite(server.experiment.head).all(), "the place of the head")
    np.testing.assert_array_equal(server.experiment.head, [0.5, 0.25, 1.75])


def test_a_flat_page_shows_body_and_target(server, person, open_page):
    page = open_page(server)
    page.wait_for_function("homodynHeadset.frames > 3 && homodynHeadset.drawn > 3")
    assert page.evaluate("homodynHeadset.model()") == "arm"
    assert page.evaluate("homodynHeadset.errors") == 0
    shown = page.evaluate("homodynHeadset.target")
    np.testing.assert_allclose(shown["position"], [0.2, 0.0, 0.95])
    assert "touch the start" in page.inner_text("#task")
    assert page.locator("#enter").is_disabled()
    person.follows.set()
    until(
        lambda: server.experiment.task is None or server.experiment.task.plan.number > 1,
        "the first trial ended",
    )


def test_an_emulated_headset_enters_and_reports_the_head(
    server, person, open_page, emulated_headset
):
    script = emulated_headset + (
        ";window.headset = new IWER.XRDevice(IWER.metaQuest3);"
        "headset.installRuntime({ forceInstall: true }); headset.position.set(0.3, 1.65, -0.4);"
    )
    page = open_page(server, script)
    page.wait_for_function("!document.getElementById('enter').disabled")
    page.click("#enter")
    page.wait_for_function("homodynHeadset.head !== null")
    until(lambda: np.isfinite(server.experiment.head).all(), "the place of the head")
    # Z up: x to the right, y forward from the floor of the headset.
    np.testing.assert_allclose(server.experiment.head, [0.3, 0.4, 1.65], atol=0.05)
    person.follows.set()
    until(
        lambda: (
            server.experiment.task is None or server.experiment.task.stage is not TrialStage.START
        ),
        "the start was touched",
    )
    page.wait_for_function("document.getElementById('enter').textContent === 'Leave VR'")
    # The view of the emulated headset covers the page.
    page.evaluate("document.getElementById('enter').click()")
    page.wait_for_function("document.getElementById('enter').textContent === 'Enter VR'")
    assert page.evaluate("homodynHeadset.errors") == 0
