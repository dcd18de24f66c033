"""Time series: columns by name, data frames and plots."""

import sys

import numpy as np
import pytest

from homodyn.errors import HomodynError
from homodyn.foundation import Curve, TimeSeries, record


@record
class WeatherLog(TimeSeries):
    """Two columns."""

    time: np.ndarray
    heat: np.ndarray
    wind: np.ndarray

    def columns(self):
        return {
            "heat": Curve("Temperature", "K", self.time, self.heat),
            "wind": Curve("Wind", "m/s", self.time, self.wind),
        }


@pytest.fixture
def log():
    return WeatherLog(np.arange(3.0), np.array([280.0, 281.0, np.nan]), np.ones((3, 3)))


def test_columns_are_found_by_name(log):
    np.testing.assert_array_equal(np.asarray(log["heat"]), log.heat)
    with pytest.raises(HomodynError, match="no column 'heet'; did you mean 'heat'"):
        log["heet"]


def test_data_frames_have_time_as_index_and_units_in_names(log):
    frame = log.to_pandas()
    assert frame.index.name == "time (s)"
    assert list(frame.columns) == ["heat (K)", "wind x (m/s)", "wind y (m/s)", "wind z (m/s)"]
    np.testing.assert_array_equal(frame["heat (K)"], log.heat)
    assert log["heat"].to_pandas().name == "Temperature (K)"
    assert list(log["wind"].to_pandas().columns)[2] == "Wind (m/s) z"


def test_without_pandas_a_sentence_says_what_to_install(log, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(HomodynError, match="pip install 'homodyn\\[pandas\\]'"):
        log.to_pandas()


def test_plots_have_names_and_units(log):
    import matplotlib

    matplotlib.use("Agg")
    axes = log["heat"].plot()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time (s)", "Temperature (K)")
    assert log.plot("heat", "wind").lines[0].get_label() == "Temperature"
    with pytest.raises(HomodynError, match="no column"):
        log.plot("nothing")
