"""Plots of the comparison follow the results."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.studio.comparison import (
    QUANTITIES,
)
from homodyn.studio.panels import compare
from homodyn.studio.panels.compare import ComparePanel


def scaled(actor, factor, name):
    """A body that bends all joints by a factor."""
    motion = replace(actor.motion, q=actor.motion.q * factor)
    return replace(actor, name=name, motion=motion, loads=None)


def test_plots_are_drawn_again_only_when_the_results_change(studio):
    panel = studio.layout.panel(ComparePanel)
    before = dict(panel.plots)
    assert set(before) == set(QUANTITIES)
    studio.session.change("pose", lambda d: d.with_active(d.actor.with_pose(d.actor.q + 0.1)))
    studio.wait_until_drawn()
    assert panel.plots == before
    half = scaled(studio.session.document.actor, 0.5, "half")
    studio.session.change("open", lambda d: d.with_actor(half), in_file=True)
    studio.wait_until_drawn()
    assert panel.plots["Angle"] is not before["Angle"]
    assert "half" in panel.tables["Angle"].content


def test_curves_of_a_body_follow_when_its_edits_pause(studio, monkeypatch):
    panel = studio.layout.panel(ComparePanel)
    monkeypatch.setattr(compare, "EDIT_PAUSE_S", 1e6)

    def bend(document, degrees):
        motion = document.actor.motion
        q = motion.q.copy()
        q[:, motion.model.coordinate_index("KneeRight_RY")] += np.radians(degrees)
        return document.with_active(replace(document.actor, motion=replace(motion, q=q)))

    # The first edit is long after the one before it, which never happened.
    panel._edited = -2e6
    tables = [panel.tables["Angle"].content]
    for _ in range(3):
        studio.session.change("edit", lambda document: bend(document, 10.0))
        studio.wait_until_drawn()
        tables.append(panel.tables["Angle"].content)
    assert tables[1] != tables[0]
    assert tables[3] == tables[2] == tables[1]
    monkeypatch.setattr(compare, "EDIT_PAUSE_S", 0.0)
    studio.wait_until_drawn()
    maximum = right_knee_maximum(panel.tables["Angle"].content)
    assert maximum == pytest.approx(right_knee_maximum(tables[0]) + 30.0, abs=0.1)


def right_knee_maximum(content):
    """The maximum of the right knee in a table of the page."""
    row = next(line for line in content.splitlines() if line.startswith("| walk right"))
    return float(row.split("|")[3])
