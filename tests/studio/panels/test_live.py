"""The panel of live sessions."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import Trial
from homodyn.errors import HomodynError
from homodyn.studio.document import Actor
from homodyn.studio.panels.live import LivePanel, increasing, start_sentence
from support.live_arm import LABELS, RATE, arm, arm_frame
from support.live_samples import live_sample
from support.waiting import until


@pytest.fixture
def panel(studio, tmp_path):
    """The panel with an arm as the active body, and a recording of it as the source."""
    model = arm()
    actor = Actor("arm", model, model.neutral())
    studio.session.change("arm", lambda document: document.with_actor(actor))
    positions = np.stack([arm_frame(model, k).positions for k in range(60)])
    path = tmp_path / "swing.csv"
    hd.capture.write(Trial("swing", LABELS, positions, RATE, start=5.0), path)
    found = studio.layout.panel(LivePanel)
    found.source.value = f"file:{path}"
    found.calibration.value = 0.0
    found.loop.value = True
    return found


def test_the_body_follows_and_a_recording_is_opened(studio, panel):
    before = studio.session.document.actor.q
    panel.start()
    assert panel.end.visible
    assert not panel.run.visible
    panel.toggle_recording()
    until(lambda: panel._kept is not None and len(panel._kept) > 20, "20 frames are recorded")
    until(lambda: "Latency" in panel.numbers.content, "numbers are shown")
    assert "8 of 8 are seen" in panel.health.content
    assert "elbow" in panel.bars.content
    assert not np.array_equal(studio.session.document.actor.q, before)
    panel.toggle_recording()
    until(lambda: "arm live" in studio.session.document.names, "the recording is open")
    panel.stop()
    until(lambda: panel.live is None, "the session ended")
    recorded = studio.session.document.actor
    assert recorded.name == "arm live"
    assert recorded.motion.frames > 20
    assert recorded.loads is not None
    assert panel.run.visible


def test_a_wrong_source_is_refused(panel):
    panel.source.value = "somewhere"
    with pytest.raises(HomodynError, match="lsl:NAME"):
        panel.start()
    assert panel.live is None


def test_times_of_a_recording_increase():
    model = arm()
    samples = [live_sample(model, k) for k in (0, 1, 2, 1, 3)]
    assert [sample.number for sample in increasing(samples)] == [1, 2, 3, 4]


def test_without_a_body_the_panel_says_what_to_do():
    assert "Open or add a body" in start_sentence(None)
