"""Filters have the gain they state, leave gaps alone, and equal OpenSim's where they say so."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homodyn.capture.filters import (
    bandpass,
    butterworth,
    derivatives,
    highpass,
    lowpass,
    opensim_derivatives,
    opensim_lowpass,
)
from homodyn.errors import CaptureError

HALF_POWER = np.sqrt(0.5)


def gain(function, frequency: float, rate: float = 200.0) -> float:
    """Amplitude of a filtered sine, by its projection on sine and cosine, away from the ends."""
    time = np.arange(int(20 * rate)) / rate
    wave = np.exp(2j * np.pi * frequency * time)
    middle = slice(int(8 * rate), int(12 * rate))
    out = function(wave.real, rate) + 1j * function(wave.imag, rate)
    return float(abs(np.mean((out / wave)[middle])))


@pytest.mark.parametrize("order", [2, 4, 6, 8])
@pytest.mark.parametrize("cutoff", [2.0, 6.0, 20.0])
def test_the_whole_filter_has_half_power_at_the_cutoff(order, cutoff):
    low = gain(lambda x, rate: lowpass(x, rate, cutoff=cutoff, order=order), cutoff)
    high = gain(lambda x, rate: highpass(x, rate, cutoff=cutoff, order=order), cutoff)
    band = (cutoff, 3 * cutoff)
    edges = [gain(lambda x, rate: bandpass(x, rate, band=band, order=order), f) for f in band]
    np.testing.assert_allclose([low, high, *edges], HALF_POWER, atol=1e-6)


def test_uncorrected_passes_leave_half_the_amplitude():
    low = gain(lambda x, rate: lowpass(x, rate, cutoff=6, corrected=False), 6)
    high = gain(lambda x, rate: highpass(x, rate, cutoff=6, corrected=False), 6)
    np.testing.assert_allclose([low, high], 0.5, atol=1e-9)


@pytest.mark.parametrize("frequency", [1.0, 4.0, 6.0, 12.0])
def test_markers_and_forces_at_their_own_rates_get_the_same_filter(frequency):
    gains = [gain(lambda x, rate: lowpass(x, rate, cutoff=6), frequency, r) for r in (500, 2000)]
    np.testing.assert_allclose(*gains, atol=1e-3)


def test_zero_lag_has_no_lag_and_causal_has_one():
    time = np.arange(2000) / 100
    wave = np.exp(2j * np.pi * 2.0 * time)
    for style, smallest, largest in (("zero-lag", -1e-6, 1e-6), ("causal", -2.0, -0.2)):
        out = lowpass(wave.real, 100, style=style) + 1j * lowpass(wave.imag, 100, style=style)
        lag = np.angle(np.mean((out / wave)[800:1200]))
        assert smallest <= lag <= largest


def test_coefficients_of_the_causal_filter_are_the_published_ones():
    b, a = butterworth(2, 8, 100)
    np.testing.assert_allclose(b, [0.0461318, 0.0922636, 0.0461318], atol=1e-7)
    np.testing.assert_allclose(a, [1, -1.30728503, 0.49181224], atol=1e-7)
    assert b.sum() / a.sum() == pytest.approx(1, abs=1e-12)
    turn = np.exp(-2j * np.pi * 8 / 100 * np.arange(3))
    assert abs(b @ turn / (a @ turn)) == pytest.approx(HALF_POWER, abs=1e-12)


def test_causal_style_is_the_recursion_with_these_coefficients():
    x = np.random.default_rng(0).normal(size=50)
    x[0] = 0.0
    b, a = butterworth(2, 8, 100)
    y = np.zeros(50)
    for k in range(50):
        y[k] = sum(b[i] * x[k - i] for i in range(3) if k >= i)
        y[k] -= sum(a[i] * y[k - i] for i in (1, 2) if k >= i)
    np.testing.assert_allclose(lowpass(x, 100, cutoff=8, order=2, style="causal"), y, atol=1e-13)


def test_straight_lines_pass_unchanged_to_their_ends():
    line = np.linspace(3, 5, 120)[:, None] * [1.0, -2.0, 0.0]
    np.testing.assert_allclose(lowpass(line, 100), line, atol=1e-9)
    np.testing.assert_allclose(opensim_lowpass(line, 100, cutoff=6), line, atol=1e-5)
    np.testing.assert_allclose(highpass(line, 100, cutoff=6), 0, atol=1e-4)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["zero-lag", "causal", "opensim"]))
def test_each_run_between_gaps_is_filtered_as_if_alone(seed, style):
    numbers = np.random.default_rng(seed)
    x = numbers.normal(size=(90, 2, 3)).cumsum(axis=0)
    missing = numbers.random((90, 2)) < 0.06
    x[missing] = np.nan
    out = lowpass(x, 100, style=style)
    np.testing.assert_array_equal(np.isnan(out), np.isnan(x))
    for marker in range(2):
        edges = np.flatnonzero(np.diff(np.r_[True, missing[:, marker], True]))
        for first, last in edges.reshape(-1, 2):
            alone = lowpass(x[first:last, marker], 100, style=style)
            np.testing.assert_allclose(out[first:last, marker], alone, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: lowpass(x, 100, cutoff=50), "below 50 Hz"),
        (lambda x: lowpass(x, 100, cutoff=-1), "above zero"),
        (lambda x: lowpass(x, 100, order=3), "even"),
        (lambda x: lowpass(x, 0), "rate"),
        (lambda x: bandpass(x, 100, band=(20, 10)), "lower cutoff must come first"),
        (lambda x: lowpass(x, 100, style="magic"), "zero-lag, causal, opensim"),
        (lambda x: highpass(x, 100, cutoff=3, style="opensim"), "style"),
        (lambda x: derivatives(x, 100, style="cubic"), "free, natural, opensim"),
        (lambda x: opensim_derivatives(x[:3], 100, cutoff=6), "four or more samples"),
    ],
)
def test_invalid_arguments_are_refused_with_what_is_accepted(call, words):
    with pytest.raises(CaptureError, match=words):
        call(np.zeros(50))


@pytest.fixture(scope="module")
def opensim_result():
    """The results of OpenSim for noisy signals at a rate whose times are exact binary numbers."""
    if importlib.util.find_spec("opensim") is None:
        pytest.skip("opensim is not installed")

    def ask(count: int, cutoff: float) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        numbers = np.random.default_rng(count)
        time = np.arange(count) / 128
        noise = 0.02 * numbers.normal(size=(count, 2))
        values = np.stack([np.sin(8 * time), 1 + time**2], axis=1) + noise
        request = {"time": time.tolist(), "values": values.tolist(), "cutoff": cutoff}
        script = Path(__file__).with_name("opensim_peer.py")
        done = subprocess.run(
            [sys.executable, script], input=json.dumps(request), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout[done.stdout.index("{") :])
        return values, {name: np.array(numbers) for name, numbers in answer.items()}

    return ask


@pytest.mark.parametrize(("count", "cutoff"), [(101, 6.0), (60, 63.0), (60, 80.0)])
def test_filter_and_spline_equal_opensim(opensim_result, count, cutoff):
    values, theirs = opensim_result(count, cutoff)
    ours = opensim_lowpass(values, 128, cutoff=cutoff)
    np.testing.assert_allclose(ours, theirs["filtered"], atol=1e-11)
    np.testing.assert_array_equal(lowpass(values, 128, cutoff=cutoff, style="opensim"), ours)

    both = opensim_derivatives(values, 128, cutoff=cutoff)
    for order, part in enumerate((both.value, both.first, both.second)):
        scale = np.abs(theirs["followed"][..., order]).max()
        np.testing.assert_allclose(part, theirs["followed"][..., order], atol=1e-10 * scale)

    for order, part in enumerate(derivatives(values, 128, style="opensim"), start=1):
        scale = np.abs(theirs["splined"][..., order]).max()
        np.testing.assert_allclose(part, theirs["splined"][..., order], atol=1e-9 * scale)
