"""Marker positions from one frame at a known pose."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import assign_markers
from homodyn.dynamics import marker_positions
from homodyn.errors import CaptureError
from support.movements import swaying, trial_of


def test_assigned_markers_pass_through_the_measured_points() -> None:
    model = hd.catalog.heiman()
    q = swaying(model, 3)
    trial = trial_of(model, q, noise=0.03)
    assigned = assign_markers(model, q[2], trial, frame=2)
    assert np.abs(marker_positions(assigned, q[2]) - trial.positions[2]).max() < 1e-14
    assert np.abs(marker_positions(model, q[2]) - trial.positions[2]).max() > 0.03
    assert [m.body for m in assigned.markers] == [m.body for m in model.markers]


def test_new_labels_need_a_body_and_unseen_ones_are_left() -> None:
    model = hd.catalog.heiman()
    trial = trial_of(model, swaying(model, 1))
    positions = trial.positions.copy()
    positions[0, trial.markers.index("RKNE")] = np.nan
    trial = hd.capture.Trial("t", trial.markers, positions, 100.0).rename_markers({"LKNE": "new"})
    pose = swaying(model, 1)[0]
    with pytest.raises(CaptureError, match="no marker 'new'; assign it to a body"):
        assign_markers(model, pose, trial, markers=["new"])
    with pytest.raises(CaptureError, match="not visible in frame 0"):
        assign_markers(model, pose, trial, markers=["RKNE"])
    with pytest.raises(CaptureError, match="no frame 7"):
        assign_markers(model, pose, trial, frame=7)
    more = assign_markers(model, pose, trial, bodies={"new": "ShankLeft"})
    assert more.markers[-1].name == "new"
    assert more.markers[-1].body == "ShankLeft"
    assert np.allclose(hd.dynamics.position(more, pose, "new"), trial.marker("new")[0])
    knee = next(m for m in more.markers if m.name == "RKNE")
    assert np.array_equal(
        knee.position, next(m for m in model.markers if m.name == "RKNE").position
    )
