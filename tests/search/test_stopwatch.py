"""A stopwatch on a clock that the test advances."""

import pytest

from homodyn.search import stopwatch
from homodyn.search.stopwatch import Stopwatch


@pytest.fixture
def clock(monkeypatch):
    """Seconds of the monotonic clock, to be changed by the test."""
    now = [100.0]
    monkeypatch.setattr(stopwatch.time, "monotonic", lambda: now[0])
    return now


def test_time_is_measured_from_its_creation(clock):
    watch = Stopwatch()
    clock[0] += 2.5
    assert watch.elapsed == 2.5
    assert watch.remaining == float("inf")
    clock[0] += 1e9
    assert not watch.expired


def test_it_expires_when_the_limit_is_reached(clock):
    watch = Stopwatch(3.0)
    clock[0] += 2.0
    assert (watch.remaining, watch.expired) == (1.0, False)
    clock[0] += 1.0
    assert (watch.remaining, watch.expired) == (0.0, True)
    clock[0] += 5.0
    assert watch.remaining == 0.0
