"""The benchmark of wearable robots counts simulated time, and none of a simulation that broke."""

import numpy as np
import pytest

from homodyn.bench import codesign as bench
from homodyn.codesign.walking import Walker, WalkingOutcome


def test_broken_candidates_add_nothing_to_the_rate(monkeypatch):
    """Half of the candidates are planted as broken: the rate is that of the other half."""
    counts = []

    def planted(self, batch, parameters=None, threads=None):
        count = len(next(iter(batch.values())))
        counts.append(count)
        broken = np.arange(count) % 2 == 0
        ones = np.ones(count)
        return WalkingOutcome(np.where(broken, np.nan, 1.0), ones, ones, ones, ones, broken)

    clock = iter(np.arange(0.0, 100.0, 0.5))
    monkeypatch.setattr(Walker, "simulate", planted)
    monkeypatch.setattr(bench.time, "process_time", lambda: next(clock))
    row = bench._person_rate(1)
    measured = counts[-3:]
    assert row.ours == pytest.approx(sum(n // 2 for n in measured) / 1.5)
    assert f"{measured[0] - measured[0] // 2} broken" in row.note
