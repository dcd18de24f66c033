"""Residual analysis finds a cutoff between the signal and the noise."""

import numpy as np
import pytest

from homodyn.capture.filters import (
    choose_cutoff,
    lowpass,
    suggest_cutoff,
)
from homodyn.capture.filters.residual_analysis import AUTO_CUTOFF_RANGE_HZ
from homodyn.errors import CaptureError


def movement(time: np.ndarray, highest: float) -> np.ndarray:
    """Four harmonics with falling amplitude (m), the last at ``highest`` (Hz)."""
    parts = range(1, 5)
    return sum(0.1 / k**1.5 * np.sin(2 * np.pi * highest * k / 4 * time + k) for k in parts)


@pytest.mark.parametrize("rate", [100, 200])
@pytest.mark.parametrize("highest", [2.0, 4.0, 6.0])
@pytest.mark.parametrize("noise", [0.0005, 0.002])
def test_the_cutoff_is_nearly_the_best_there_is(rate, highest, noise):
    time = np.arange(10 * rate) / rate
    clean = movement(time, highest)
    noisy = clean + noise * np.random.default_rng(3).normal(size=len(time))
    found = suggest_cutoff(noisy, rate)
    assert highest < found < 4 * highest

    def error(cutoff):
        return np.sqrt(np.mean((lowpass(noisy, rate, cutoff=cutoff) - clean) ** 2))

    best = min(error(cutoff) for cutoff in np.arange(1, 25))
    assert error(found) < 1.5 * best


def test_faster_movement_and_less_noise_ask_for_higher_cutoffs():
    time = np.arange(1000) / 100
    noise = np.random.default_rng(4).normal(size=1000)
    found = [suggest_cutoff(movement(time, f) + 1e-3 * noise, 100) for f in (1, 2, 4, 8)]
    assert found == sorted(found)
    found = [suggest_cutoff(movement(time, 4) + n * noise, 100) for n in (1e-2, 1e-3, 1e-4)]
    assert found == sorted(found)


def test_columns_are_judged_apart_and_still_ones_have_no_answer():
    time = np.arange(600) / 100
    noise = 1e-3 * np.random.default_rng(5).normal(size=(600, 2))
    table = np.stack([movement(time, 2), movement(time, 6)], axis=1) + noise
    table = np.column_stack([table, np.ones(600), np.full(600, np.nan)])
    table[200:230, 1] = np.nan
    found = suggest_cutoff(table, 100)
    assert found[0] == pytest.approx(suggest_cutoff(table[:, 0], 100))
    assert found[0] < found[1] < 20
    assert np.isnan(found[2:]).all()


def noisy_markers(rate=100, seconds=4):
    """(frames, 4, 3): four markers with harmonics up to 2, 4, 6 and 6 Hz and noise (m)."""
    time = np.arange(seconds * rate) / rate
    noise = 1e-3 * np.random.default_rng(6).normal(size=(len(time), 4, 3))
    curves = np.stack([movement(time, f) for f in (2, 4, 6, 6)], axis=1)
    return curves[:, :, None] * np.array([1.0, 0.7, 0.4]) + noise


def test_one_cutoff_for_all_markers_is_the_median_of_all():
    markers = noisy_markers()
    found = choose_cutoff(markers, 100, ("A", "B", "C", "D"))
    each = suggest_cutoff(markers, 100)
    assert found.cutoff == found.median == pytest.approx(np.median(each))
    assert not found.limited
    assert found.by_name["A"] == pytest.approx(np.median(each[0]))
    assert found.by_name["A"] < found.by_name["C"]
    assert found.low <= found.cutoff <= found.high
    assert f"cutoff {found.cutoff:.3g} Hz by residual analysis" in found.sentence


def test_markers_that_were_filtered_before_reach_the_upper_bound():
    smooth = lowpass(noisy_markers(), 100, cutoff=30)
    found = choose_cutoff(smooth - smooth.mean(0), 100)
    slow = noisy_markers()[:, :1] * 0 + np.sin(np.arange(400) / 100)[:, None, None]
    bounded = choose_cutoff(slow, 100)
    assert bounded.limited
    assert bounded.cutoff in AUTO_CUTOFF_RANGE_HZ
    assert "is not used" in bounded.sentence
    assert AUTO_CUTOFF_RANGE_HZ[0] <= found.cutoff <= AUTO_CUTOFF_RANGE_HZ[1]


def test_a_long_recording_is_judged_where_it_moves():
    markers = noisy_markers(seconds=4)
    still = np.random.default_rng(7).normal(scale=1e-3, size=(4000, 4, 3))
    together = np.concatenate([still, markers])
    assert choose_cutoff(together, 100).cutoff == pytest.approx(
        choose_cutoff(together[-1000:], 100).cutoff
    )


def test_signals_that_do_not_move_have_no_cutoff():
    with pytest.raises(CaptureError, match="pass a frequency"):
        choose_cutoff(np.ones((100, 3)), 100)
