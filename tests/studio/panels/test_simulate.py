"""The panel of a live simulation."""

import numpy as np
import pytest

from homodyn.studio.live_simulation import (
    SimulationChoices,
    SimulationSample,
)
from homodyn.studio.panels.simulate import SimulatePanel, progress_sentence
from support.waiting import until


def test_a_simulation_that_cannot_start_shows_its_error(studio):
    panel = studio.layout.panel(SimulatePanel)
    messages = []
    studio.notify = lambda title, sentence, color=None: messages.append(sentence)
    panel.friction.value = -1.0
    panel.start()
    until(lambda: messages, "a refusal")
    assert "friction" in messages[0]
    assert "negative" in messages[0]
    assert panel.live is None
    assert panel.run.visible
    assert not panel.end.visible
    assert not studio.session.document.actor.posed


@pytest.mark.parametrize(
    ("pace", "speed", "words"),
    [
        (0.99, 1.0, ""),
        (0.24, 0.25, ""),
        (0.05, 1.0, "takes about 3 minutes"),
        (0.5, 1.0, "takes about 18 s"),
    ],
)
def test_a_slow_simulation_shows_the_remaining_time(pace, speed, words):
    sample = SimulationSample(1.0, np.zeros(1), np.zeros(3), np.zeros(3), 0.0, 0.0, None, pace)
    choices = SimulationChoices(duration=10.0, speed=speed)
    text = progress_sentence("walker", sample, choices, stopped=False)
    assert f"1.0 s, {pace:.2f} × real time" in text
    assert (words in text) if words else ("slower" not in text)
    assert "at 1.0 s" in progress_sentence("walker", sample, SimulationChoices(), stopped=True)
