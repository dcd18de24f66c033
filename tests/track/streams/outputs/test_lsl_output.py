import numpy as np
import pytest

import homodyn as hd
from support.live_samples import live_sample

pytest.importorskip("pylsl")

from homodyn.track.streams.lsl_source import require_pylsl
from homodyn.track.streams.outputs import LslOutput


def test_coordinates_and_torques_are_streams():
    pylsl = require_pylsl()
    model = hd.catalog.hdm()
    output = LslOutput("homodyn-test")
    output.start(model)
    (found,) = pylsl.resolve_byprop("name", "homodyn-test_torques", 1, 20.0)
    inlet = pylsl.StreamInlet(found)
    info = inlet.info(20.0)
    labels = info.get_channel_labels()
    inlet.open_stream(20.0)
    sample = live_sample(model, 3)
    output.write(sample)
    values, stamp = inlet.pull_sample(timeout=20.0)
    output.close()
    assert labels[:2] == [f"{name}_torque" for name in model.coordinate_names[:2]]
    assert labels[-4:] == ["power", "effort", "marker_error", "latency"]
    np.testing.assert_array_equal(values[: model.nv], sample.torques)
    np.testing.assert_allclose(values[-4:], [12.0, sample.effort, 0.004, 0.002])
    assert stamp < pylsl.local_clock()
