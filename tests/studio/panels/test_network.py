"""A network on the page follows its sliders."""

import numpy as np
import pytest

from homodyn.studio.file_opening import open_path
from homodyn.studio.panels.network import NetworkPanel
from support.waiting import until


def test_a_network_on_the_page_follows_its_sliders(studio, spring_file):
    studio.open(open_path(spring_file), "spring.cdn")
    panel = studio.layout.panel(NetworkPanel)
    until(lambda: panel.run is not None, "a run")
    studio.wait_until_drawn()
    assert panel.choices[0].value == "mass.x"
    assert panel.plots[0] is not None
    before = panel.run
    panel._set_parameter("k", 1.0)
    until(lambda: panel.run is not before, "another run")
    assert panel.run.result["mass.x"][100] == pytest.approx(np.cos(1.0), abs=1e-4)
    panel.filter.value = "mass"
    panel._replace_sliders()
    assert set(panel.sliders) == {"mass.x", "mass.v"}
