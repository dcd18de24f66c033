import numpy as np

from homodyn.track.streams.sender_clock import SenderClock


def test_offset_and_jitter_of_a_late_sender():
    rng = np.random.default_rng(0)
    clock = SenderClock()
    delays = rng.exponential(0.002, 2000)
    for k, delay in enumerate(delays):
        clock.add(k / 100, 50.0 + k / 100 + 0.004 + delay)
    # The constant part of the delay is not visible from one side.
    assert abs(clock.offset_s - 50.004) < 1e-4
    assert abs(clock.jitter.percentile(0.5) / np.median(delays) - 1.0) < 0.1


def test_a_drift_is_followed():
    clock = SenderClock()
    for k in range(6000):
        clock.add(k / 100, 1.0 + 1.0002 * k / 100)
    # After 60 s the clocks differ by 12 ms more; the window of 10 s sees 2 ms of it.
    assert abs(clock.offset_s - 1.010) < 1e-4


def test_a_clock_that_is_set_begins_again():
    clock = SenderClock()
    for k in range(100):
        clock.add(k / 100, 5.0 + k / 100)
    assert clock.add(1000.0, 6.0) == 0.0
    assert abs(clock.offset_s + 994.0) < 1e-9
