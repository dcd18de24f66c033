"""Fits of the studio agree with those of the command line, and report progress."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn import capture, dynamics
from homodyn.analysis.pipeline import MAX_FIT_ERROR_M
from homodyn.errors import CaptureError, HomodynError
from homodyn.studio.background_tasks import TaskCancelled
from homodyn.studio.document import StudioDocument
from homodyn.studio.file_opening import from_catalog
from homodyn.studio.fit_tasks import (
    calibrate,
    current_error,
    fit_all,
    fit_frame,
    inverse_dynamics,
    single_frame,
)
from homodyn.studio.marker_editing import (
    set_marker_weights,
)


@pytest.fixture(scope="module")
def trial(walk_document):
    """Sixty frames of the walk, with its plates."""
    whole = walk_document.trial
    return whole.crop(float(whole.time[100]), float(whole.time[159]))


@pytest.fixture(scope="module")
def fitted(trial):
    return fit_all(from_catalog("heiman"), trial)


def test_one_frame_is_fitted_from_a_distant_pose(trial):
    actor = from_catalog("heiman")
    actor = actor.with_pose(actor.q + np.eye(actor.model.nq)[0] * 3.0)
    time = float(trial.time[30])
    outcome = fit_frame(actor, trial, time)
    assert current_error(actor, trial, time) > 2.0
    assert current_error(outcome.after, trial, time) < 0.015
    alone = capture.inverse_kinematics(actor.model, single_frame(trial, 30))
    assert current_error(outcome.after, trial, time) == pytest.approx(alone.rms, abs=2e-5)
    assert "mm** after the fit" in outcome.sentence


def test_unobserved_coordinates_keep_their_values(trial):
    actor = from_catalog("heiman")
    bent = actor.model.pose({"ElbowLeft_RY": -1.0})
    legs = [name for name in trial.markers if name[1:] not in ("UPA", "ELB", "WRA", "WRB")]
    time = float(trial.time[0])
    near = fit_frame(actor.with_pose(bent), trial.select_markers(legs), time).after
    elbow = actor.model.coordinate_index("ElbowLeft_RY")
    assert near.q[elbow] == pytest.approx(-1.0)


def test_all_frames_are_fitted_as_the_command_line_does(trial, fitted):
    model = from_catalog("heiman").model
    plain = capture.inverse_kinematics(model, capture.fill_gaps(trial), max_rms=MAX_FIT_ERROR_M)
    np.testing.assert_array_equal(fitted.after.motion.q, plain.q)
    assert fitted.after.moving
    assert f"{1000 * plain.rms:.1f} mm" in fitted.sentence


def test_weights_affect_the_fit(trial):
    document = StudioDocument().with_trial(trial).with_actor(from_catalog("heiman"))
    time = float(trial.time[10])
    plain = fit_frame(document.actor, trial, time).after
    heavy = set_marker_weights(document, {"LKNE"}, 50.0).actor
    fixed = fit_frame(heavy, trial, time).after

    def knee(actor):

        k = [m.name for m in actor.model.markers].index("LKNE")
        place = dynamics.marker_positions(actor.model, actor.q)[k]
        return np.linalg.norm(place - trial.marker("LKNE")[10])

    assert knee(fixed) < 0.3 * knee(plain)


def test_a_fit_reports_its_progress_and_can_be_cancelled(trial, monkeypatch):
    monkeypatch.setattr("homodyn.capture.kinematics.least_squares.BATCH_FRAMES", 20)
    reports = []
    in_parts = fit_all(from_catalog("heiman"), trial, lambda stage, share: reports.append(share))
    assert reports[-3:] == [0.0, pytest.approx(1 / 3), pytest.approx(2 / 3)]

    def stop(stage, share):
        if share > 0.3:
            raise TaskCancelled

    with pytest.raises(TaskCancelled):
        fit_all(from_catalog("heiman"), trial, stop)
    whole = capture.inverse_kinematics(
        from_catalog("heiman").model, capture.fill_gaps(trial), max_rms=MAX_FIT_ERROR_M
    )
    np.testing.assert_array_equal(in_parts.after.motion.q, whole.q)


def test_a_calibrated_body_fits_better_and_gets_loads(trial, fitted):
    reports = []
    sized = calibrate(
        fitted.after, [trial], lambda stage, share: reports.append(stage), mass=70.0, height=1.75
    )
    assert "calibrating" in reports
    assert sized.after.model.mass == pytest.approx(70.0)
    assert sized.after.recipe is None
    time = float(trial.time[20])
    still = calibrate(fitted.before, [trial], mass=70.0, height=1.75, time=time).after
    assert current_error(still, trial, time) < 0.5 * current_error(fitted.after, trial, time)
    again = fit_all(sized.after, trial).after
    assert again.motion.rms < 0.5 * fitted.after.motion.rms
    outcome = inverse_dynamics(again, trial, cutoff=6.0)
    expected = capture.inverse_dynamics(again.motion, trial.plates, cutoff=6.0)
    np.testing.assert_array_equal(outcome.after.loads.tau, expected.tau)
    assert outcome.after.motion.rms == pytest.approx(again.motion.rms)
    assert "root residuals over" in outcome.sentence
    assert "force peak" in outcome.sentence
    assert "moment peak" in outcome.sentence


def test_bodies_that_cannot_be_fitted_are_refused(trial):
    actor = from_catalog("heiman")
    unrelated = trial.rename_markers({name: f"x{name}" for name in trial.markers})
    for work in (fit_frame, fit_all):
        with pytest.raises(CaptureError, match="no marker name in common"):
            work(actor, unrelated, *([0.0] if work is fit_frame else []))
    with pytest.raises(CaptureError, match="no open recording"):
        calibrate(actor, [unrelated])
    with pytest.raises(CaptureError, match="fit all frames first"):
        inverse_dynamics(actor, trial, cutoff=6.0)


def test_a_result_is_not_applied_to_a_body_that_was_changed_meanwhile(trial, fitted):
    document = StudioDocument().with_actor(fitted.before)
    assert fitted.apply_to(document).actor.motion is fitted.after.motion
    other = document.with_active(replace(document.actor, model=from_catalog("hdm").model))
    with pytest.raises(HomodynError, match="start it again"):
        fitted.apply_to(other)


def test_the_true_body_fits_its_own_recording(walk_document):
    assert current_error(walk_document.actor, walk_document.trial, 1.0) < 0.01
