from dataclasses import replace

import numpy as np
import pytest

from homodyn import CaptureError
from homodyn.capture import (
    Signals,
    read,
)
from homodyn.gait.emg import emg_channels, emg_cycles, emg_envelopes
from homodyn.motion import Event
from support.walker import Walker

RATE = 1000.0
TIME = np.arange(6000) / RATE


def signals(*columns, names=None, unit="V", rate=RATE):
    names = names or tuple(f"Soleus {k}" for k in range(len(columns)))
    return Signals(names, rate, np.stack(columns, axis=1), (unit,) * len(columns))


def noise(seed=0):
    return np.random.default_rng(seed).normal(size=len(TIME))


def gain(frequency, **options):
    """How much of a modulation of that frequency an envelope keeps, and its lag (s)."""
    carrier = np.where(np.arange(len(TIME)) % 2, 1.0, -1.0)
    modulated = carrier * (1 + 0.5 * np.sin(2 * np.pi * frequency * TIME))
    found = emg_envelopes(signals(modulated), band=None, **options).values[1000:5000, 0]
    inner = TIME[1000:5000]
    basis = np.stack(
        [
            np.sin(2 * np.pi * frequency * inner),
            np.cos(2 * np.pi * frequency * inner),
            1 + 0 * inner,
        ],
        1,
    )
    s, c, mean = np.linalg.lstsq(basis, found, rcond=None)[0]
    assert mean == pytest.approx(1, abs=1e-3)
    return np.hypot(s, c) / 0.5, np.arctan2(c, s) / (2 * np.pi * frequency)


@pytest.mark.parametrize("order", [2, 4])
def test_the_envelope_has_3_db_at_6_hz_and_no_lag(order):
    size, lag = gain(6.0, order=order)
    assert 20 * np.log10(size) == pytest.approx(-3.01, abs=0.02)
    assert lag == pytest.approx(0, abs=1e-5)
    assert gain(1.0, order=order)[0] > 0.95
    assert gain(30.0, order=order)[0] < 0.12


def test_the_filter_of_felis_is_of_first_order_each_way():
    # Both passes: 1 / (1 + (f / f1)^2) with -3 dB at 6 Hz, so f1 = 6 / sqrt(sqrt(2) - 1).
    designed = 6.0 / np.sqrt(np.sqrt(2) - 1)
    for frequency in (2.0, 6.0, 20.0):
        warped = np.tan(np.pi * frequency / RATE) / np.tan(np.pi * designed / RATE)
        assert gain(frequency, order=2)[0] == pytest.approx(1 / (1 + warped**2), rel=2e-3)


def test_an_impulse_keeps_its_place():
    burst = np.zeros(len(TIME))
    burst[3000] = 1.0
    found = emg_envelopes(signals(burst), band=None).values[:, 0]
    assert found.argmax() == 3000
    assert found[2900:3000] == pytest.approx(found[3100:3000:-1], abs=1e-6)


def test_the_band_takes_drift_and_offset_away():
    drift = 5 + 3 * np.sin(2 * np.pi * 0.7 * TIME)
    bare, drifting = (
        emg_envelopes(signals(x)).values[500:-500] for x in (noise(), noise() + drift)
    )
    assert drifting == pytest.approx(bare, rel=0.02)
    # The mean of rectified Gaussian noise is sqrt(2/pi) of what the band lets through.
    share = np.sqrt((450 - 20) / 500)
    assert bare.mean() == pytest.approx(np.sqrt(2 / np.pi) * share, rel=0.05)


def test_a_low_rate_shortens_the_band_and_says_so():
    slow = Signals(("EMG1",), 500.0, noise()[:, None], ("mV",))
    found = emg_envelopes(slow)
    assert "too low for a band up to 450 Hz; it ends at 225 Hz" in found.notes[0]
    assert not emg_envelopes(replace(slow, rate=1000.0)).notes
    with pytest.raises(CaptureError, match=r"band of 20 to 450 Hz is empty.*band=None"):
        emg_envelopes(replace(slow, rate=40.0))
    with pytest.raises(CaptureError, match="a sampling rate above 13 Hz"):
        emg_envelopes(replace(slow, rate=10.0), band=None)


def test_channels_are_chosen_by_unit_and_name():
    names = {
        "Fx1": "V", "FP1_FZ": "V", "Force.Fz1": "N", "TAPIS FZ1": "V", "Moment.Mx1": "Nmm",
        "Sync": "V", "Channel_08": "V", "Voltage.1": "V", "Raw.Pin 1": "V", "Nothing": "V",
        "SOLEUS": "V", "L_TA": "mV", "R GM": "uV", "EMG 3": "", "Vastus lat": "µV",
        "Knee angle": "deg",
    }  # fmt: skip
    mixed = Signals(tuple(names), RATE, np.zeros((10, len(names))), tuple(names.values()))
    assert emg_channels(mixed) == ("SOLEUS", "L_TA", "R GM", "EMG 3", "Vastus lat")
    assert emg_channels(mixed, channels=["Channel_08"]) == ("Channel_08",)
    with pytest.raises(CaptureError, match="no analog channel 'SOLEU'; did you mean 'SOLEUS'"):
        emg_channels(mixed, channels=["SOLEU"])
    with pytest.raises(CaptureError, match=r"name them by channels=, accepted: Fx1"):
        emg_envelopes(signals(noise(), names=("Fx1",)))


def test_gaps_stay_gaps_and_flat_channels_are_named():
    holed = noise()
    holed[2000:2100] = np.nan
    found = emg_envelopes(signals(holed, np.zeros(len(TIME)), names=("Soleus", "Biceps Brachii")))
    assert np.flatnonzero(np.isnan(found.values[:, 0])).tolist() == list(range(2000, 2100))
    assert any("without any signal: Biceps Brachii" in note for note in found.notes)
    assert (found.values[:, 1] == 0).all()


@pytest.mark.parametrize(("normalize", "one"), [("maximum", np.max), ("mean", np.mean)])
def test_envelopes_are_normalized(normalize, one):
    found = emg_envelopes(signals(3 * noise(), noise(1)), normalize=normalize)
    assert one(found.values, axis=0) == pytest.approx([1, 1])
    assert found.units == ("1", "1")
    with pytest.raises(CaptureError, match="accepted: maximum, mean"):
        emg_envelopes(signals(noise()), normalize="peak")


def test_bursts_stand_at_their_place_in_the_cycle():
    walker = Walker(duration=5.9)
    phase = ((TIME - walker.first) / walker.period) % 1
    active = np.exp(-(((phase - 0.4) / 0.05) ** 2))
    raw = signals(noise(5) * (0.02 + active), noise(6) * 0.1, names=("Soleus", "Tibialis"))
    over = emg_cycles(emg_envelopes(raw), walker.events(), "right", normalize="maximum")
    assert over.names == ("Soleus", "Tibialis")
    assert over.cycles.values.shape == (5, 101, 2)
    assert over.cycles.values.max(axis=(0, 1)) == pytest.approx([1, 1])
    assert over.mean[:, 0].argmax() == pytest.approx(40, abs=3)
    assert over.mean[70:, 0].max() < 0.1
    assert over.sd.shape == (101, 2)
    assert over.units == ("1", "1")
    raw_units = emg_cycles(emg_envelopes(raw), walker.events(), "right")
    assert raw_units.units == ("V", "V")
    mean = emg_cycles(emg_envelopes(raw), walker.events(), "right", normalize="mean")
    assert mean.cycles.values.mean(axis=(0, 1)) == pytest.approx([1, 1])


def test_the_recording_of_felis_has_its_sixteen_muscles(shared_data):
    trial = read(shared_data / "puppeteer/testdata.c3d")
    found = emg_envelopes(trial.analog, band=None, order=2)
    assert len(found.names) == 16
    assert found.names[:3] == ("SOLEUS", "GASTROCNEMLAT", "TIBIALISANT")
    assert found.rate == 1000
    assert np.isfinite(found.values).all()
    assert (found.values >= 0).all()
    start = trial.start
    stride = [
        Event(start + 0.2, "Foot Strike", "Right"),
        Event(start + 1.2, "Foot Strike", "Right"),
    ]
    over = emg_cycles(found, stride, "right")
    assert over.mean.shape == (101, 16)


@pytest.mark.parametrize("file", ["walking2.c3d", "Qualisys.c3d", "FP_Type3.c3d"])
def test_plates_of_real_recordings_are_not_muscles(shared_data, file):
    trial = read(shared_data / "c3d" / file)
    chosen = emg_channels(trial.analog)
    assert not [
        name for name in chosen if any(w in name.upper() for w in ("FX", "FZ", "MX", "CHANNEL"))
    ]
