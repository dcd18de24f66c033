"""Recordings are rotated into the world axes of a model."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import Trial
from homodyn.capture.kinematics import to_world_axes
from homodyn.errors import CaptureError


@pytest.fixture
def trial() -> Trial:
    """One marker ahead of, left of and above the origin."""
    return Trial("t", ("A",), np.array([[[1.0, 2.0, 3.0]]]), 100.0)


def test_a_model_with_z_up_takes_the_trial_as_it_is(trial):
    np.testing.assert_array_equal(
        to_world_axes(hd.catalog.heiman(), trial).positions, [[[1, 2, 3]]]
    )


def test_a_model_with_y_up_has_its_z_to_the_right(trial, shared_data):
    model = hd.load(shared_data / "gait10dof" / "subject01.osim")
    rotated = to_world_axes(model, trial)
    np.testing.assert_array_equal(rotated.positions, [[[1, 3, -2]]])
    np.testing.assert_array_equal(rotated.axes.T @ rotated.positions[0, 0], [1, 2, 3])


@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (9.81, 0.0, 0.0)])
def test_a_model_without_a_vertical_axis_is_refused(trial, gravity):
    model = replace(hd.catalog.heiman(), gravity=np.array(gravity))
    with pytest.raises(CaptureError, match=r"vertical axis is not known|Y up only"):
        to_world_axes(model, trial)
