"""Options of inverse kinematics: as a record, as keywords, and checked when they are made."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.kinematics import InverseKinematicsOptions
from homodyn.capture.kinematics.options import InverseKinematicsKeywords
from homodyn.errors import CaptureError
from support.movements import swaying, trial_of


@pytest.fixture(scope="module")
def spoiled():
    """A model and a trial in which one marker is far from its place."""
    model = hd.catalog.heiman()
    trial = trial_of(model, swaying(model, 3))
    positions = trial.positions.copy()
    positions[:, trial.markers.index("LANK")] += 0.2
    return model, replace(trial, positions=positions)


def test_a_record_and_keywords_give_the_same_bits_and_keywords_override(spoiled):
    model, trial = spoiled
    options = InverseKinematicsOptions(robust="cauchy", weights={"LANK": 0.5})
    by_record = hd.capture.inverse_kinematics(model, trial, options)
    by_keywords = hd.capture.inverse_kinematics(
        model, trial, robust="cauchy", weights={"LANK": 0.5}
    )
    assert by_record.q.tobytes() == by_keywords.q.tobytes()
    assert by_record.method == by_keywords.method
    changed = hd.capture.inverse_kinematics(model, trial, options, robust=None, limits=False)
    assert "limits off" in changed.method
    assert "cauchy" not in changed.method
    assert np.abs(changed.q - by_record.q).max() > 1e-3


def test_every_field_can_be_a_keyword():
    fields = set(InverseKinematicsOptions.__dataclass_fields__)
    assert set(InverseKinematicsKeywords.__annotations__) == fields


def test_an_unknown_keyword_is_an_error(spoiled):
    with pytest.raises(TypeError, match="reject"):
        hd.capture.inverse_kinematics(*spoiled, reject=0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "newton"}, "levenberg-marquardt or sugihara"),
        ({"method": "sugihara", "smooth": 6.0}, "cannot smooth"),
        ({"robust": "tukey"}, "'huber' or 'cauchy'"),
        ({"robust": ("huber", -1.0)}, "above zero"),
        ({"weights": {"LKNE": np.nan}}, "weight of marker 'LKNE'"),
        ({"track": {"right knee flexion": (-1.0, 0.0)}}, "coordinate 'right knee flexion'"),
    ],
)
def test_contradictions_are_refused_before_any_fit(options, message):
    with pytest.raises(CaptureError, match=message):
        InverseKinematicsOptions(**options)


@pytest.mark.parametrize(
    ("robust", "loss"),
    [(None, ("", 1.0)), ("huber", ("huber", 0.02)), (("cauchy", 0.01), ("cauchy", 0.01))],
)
def test_the_distance_of_a_robust_loss_has_a_default(robust, loss):
    assert InverseKinematicsOptions(robust=robust).robust_loss == loss


def test_options_are_records():
    options = InverseKinematicsOptions(weights={"LKNE": 0.2}, robust="huber", smooth=6.0)
    assert len(repr(options).splitlines()) <= 10
    assert "huber loss from 0.02 m, jerk penalized from 6 Hz" in options.sentence
    restored = InverseKinematicsOptions.from_dict(options.to_dict())
    assert restored.weights == options.weights
    assert restored.sentence == options.sentence
