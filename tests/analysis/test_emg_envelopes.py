"""EMG of an analysis: from a file, by channel, as a share of a maximum."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis.emg_envelopes import compute_emg_envelopes, read_signals
from homodyn.analysis.settings import Settings
from homodyn.capture import Table, Trial, write_table
from homodyn.errors import CaptureError

TRIAL = Trial("walk", ("A",), np.zeros((10, 1, 3)), 100.0)


def table(path, size, names=("soleus_r", "vastus_l")):
    time = np.arange(2000) / 1000.0
    noise = np.random.default_rng(3).standard_normal((len(time), len(names)))
    write_table(Table(names, time, size * noise), path)
    return str(path)


def test_envelopes_as_shares_of_maximal_contractions(tmp_path):
    emg, mvc = table(tmp_path / "emg.sto", 0.2), table(tmp_path / "mvc.csv", 0.8)
    plain = compute_emg_envelopes(TRIAL, Settings(emg=emg))
    assert plain.names == ("soleus_r", "vastus_l")
    share = compute_emg_envelopes(TRIAL, Settings(emg=emg, mvc=mvc, emg_normalize="mvc"))
    own = compute_emg_envelopes(TRIAL, Settings(emg=emg, emg_normalize="maximum"))
    assert own.values.max(axis=0) == pytest.approx([1.0, 1.0])
    # The same noise at a quarter of the size.
    np.testing.assert_allclose(share.values.max(axis=0), 0.25, rtol=1e-9)
    assert share.units == ("1", "1")
    one = compute_emg_envelopes(TRIAL, Settings(emg=emg, emg_channels=("vast",)))
    assert one.names == ("vastus_l",)


def test_channels_that_the_reference_lacks_are_refused(tmp_path):
    emg = table(tmp_path / "emg.sto", 0.2)
    mvc = table(tmp_path / "mvc.sto", 0.8, ("soleus_r", "gluteus_l"))
    with pytest.raises(CaptureError, match="lacks the channels vastus_l"):
        compute_emg_envelopes(TRIAL, Settings(emg=emg, mvc=mvc, emg_normalize="mvc"))


def test_a_table_without_muscles_is_refused(tmp_path):
    emg = table(tmp_path / "emg.sto", 0.2, ("left", "right"))
    with pytest.raises(CaptureError, match="--emg-channels"):
        compute_emg_envelopes(TRIAL, Settings(emg=emg))


def test_recorded_envelopes_are_not_filtered_again(shared_data):
    path = shared_data / "rajagopal_walk" / "electromyography.sto"
    raw = read_signals(path)
    assert raw.rate == 2000.0
    found = compute_emg_envelopes(TRIAL, Settings(emg=str(path)))
    assert len(found.names) == 10
    np.testing.assert_array_equal(found.values, np.maximum(raw.values, 0.0))
    assert "contains envelopes" in found.notes[-1]


def test_orientations_of_sensors_are_named(shared_data):
    path = shared_data / "imu" / "walking_orientations.sto"
    with pytest.raises(CaptureError, match="orientations of sensors"):
        compute_emg_envelopes(TRIAL, Settings(emg=str(path)))
    with pytest.raises(hd.errors.FormatError, match="orientations of sensors"):
        hd.capture.read(path)


def test_a_trial_without_channels_has_no_emg():
    assert compute_emg_envelopes(replace(TRIAL, name="empty"), Settings()) is None
