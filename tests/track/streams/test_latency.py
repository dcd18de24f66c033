import numpy as np

from homodyn.track.streams.latency import LatencyHistogram, LatencyLedger


def test_percentiles_agree_with_numpy():
    samples = np.random.default_rng(2).lognormal(-6.0, 1.0, 20_000)
    histogram = LatencyHistogram()
    for sample in samples:
        histogram.add(sample)
    for share in (0.01, 0.5, 0.99):
        exact = np.quantile(samples, share)
        assert abs(histogram.percentile(share) / exact - 1.0) < 0.03
    assert histogram.max_s == samples.max()
    summary = histogram.summary()
    assert summary.count == 20_000
    assert "ms median" in summary.headline()


def test_extremes_stay_in_the_table():
    histogram = LatencyHistogram()
    for sample in (0.0, -1.0, 1e9):
        histogram.add(sample)
    assert histogram.count == 3
    assert histogram.percentile(0.5) <= 1e-6
    assert LatencyHistogram().percentile(0.5) == 0.0


def test_stages_are_separate():
    ledger = LatencyLedger(("one", "two"))
    ledger.add(one=0.001, two=0.010)
    found = ledger.summary()
    assert abs(found["one"].median_ms - 1.0) < 0.03
    assert abs(found["two"].median_ms - 10.0) < 0.3
