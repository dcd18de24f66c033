"""Columns of times become a steady rate, or a sentence."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from homodyn.capture.formats.time_base import fit_time_base
from homodyn.errors import FormatError


@given(
    st.sampled_from([25.0, 50.0, 60.0, 100.0, 120.0, 200.0, 240.0, 250.0]),
    st.integers(3, 2000),
    st.floats(0, 100),
)
def test_times_of_three_decimals_give_the_rate(rate, count, start):
    clock = fit_time_base(np.round(start + np.arange(count) / rate, 3), "a")
    drift = abs(clock.rate - rate) / rate * count
    assert drift < 0.5
    assert np.array_equal(clock.sample_indices, np.arange(count))


def test_simple_rates_are_found_exactly():
    for rate in (25.0, 59.94, 60.0, 119.88, 200.0, 600.0, 2000.0):
        time = np.round(np.arange(3000) / rate, 4)
        assert fit_time_base(time, "a").rate == pytest.approx(rate, rel=1e-6)
    assert fit_time_base(np.round(np.arange(200) / 60, 3), "a", stated_rate=60.0).rate == 60.0
    assert (
        fit_time_base(np.arange(223) / 200 + 3.38, "a", stated_rate=200.00000000000426).rate
        == 200.0
    )


def test_missing_rows_leave_gaps():
    clock = fit_time_base(np.delete(np.arange(50) / 100, [7, 8, 30]), "a")
    spread = clock.expand_rows(np.ones((47, 2)))
    assert spread.shape == (50, 2)
    assert np.flatnonzero(np.isnan(spread[:, 0])).tolist() == [7, 8, 30]
    assert "3 rows are missing" in clock.notes[0]


def test_every_second_row_is_half_the_rate_not_half_missing():
    clock = fit_time_base(np.arange(0, 100, 2) / 100, "a", stated_rate=100.0)
    assert clock.rate == 50.0
    assert "the file states 100 Hz, its times are at 50 Hz" in clock.notes[0]


@pytest.mark.parametrize(
    ("time", "sentence"),
    [
        ([], "no rows"),
        ([0.0, np.nan, 0.2], "row 2: the time is missing"),
        ([0.0, 0.1, 0.1], "row 3: time goes from 0.1 s to 0.1 s"),
        ([0.0, 0.1, 0.25, 0.29, 0.44], "not equally spaced; resample"),
    ],
)
def test_times_without_a_rate_are_refused(time, sentence):
    with pytest.raises(FormatError, match=sentence):
        fit_time_base(np.array(time), "a")


def test_one_row_has_the_stated_rate():
    clock = fit_time_base(np.array([2.0]), "a", stated_rate=50.0)
    assert (clock.start, clock.rate) == (2.0, 50.0)
