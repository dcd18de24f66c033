"""Verdicts on EMG: silent channels, and clocks that do not agree with the markers."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.analysis import Settings
from homodyn.analysis.emg_verdicts import emg_verdicts
from homodyn.capture import Signals


def with_emg(analysis, *, start=0.0, stretch=1.0, size=(1.0, 1.0), settings=None):
    """The analysis with two envelopes over its motion, on another clock."""
    count = 2000
    rate = (count - 1) / analysis.motion.duration / stretch
    wave = 1 + np.sin(np.linspace(0, 9, count))
    emg = Signals(
        ("soleus_r", "vastus_l"),
        rate,
        wave[:, None] * np.array(size),
        start=float(analysis.motion.time[0]) + start,
    )
    chosen = settings or Settings(mass=70, emg="emg.sto")
    return replace(analysis, emg=emg, settings=chosen)


def test_emg_on_the_clock_of_the_markers_has_no_verdict(analysis):
    assert list(emg_verdicts(with_emg(analysis))) == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"start": 50.0}, "of which it covers nothing"),
        ({"stretch": 0.1}, "of which it covers 10 %"),
        ({"stretch": 10.0}, "If both were recorded together, check the rates"),
        ({"size": (0.0, 1.0)}, "Channels without any signal: soleus_r."),
        ({"size": (1.0, np.nan)}, "Channels without any signal: vastus_l."),
    ],
)
def test_other_clocks_and_silent_channels_are_named(analysis, change, text):
    (verdict,) = emg_verdicts(with_emg(analysis, **change))
    assert (verdict.light, verdict.subject) == ("fair", "EMG")
    assert text in verdict.sentence


def test_emg_may_last_longer_than_an_interval_of_the_recording(analysis):
    settings = Settings(mass=70, emg="emg.sto", last=2.0)
    assert list(emg_verdicts(with_emg(analysis, stretch=10.0, settings=settings))) == []
