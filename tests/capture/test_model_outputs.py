"""Results of a model that a file stores as points."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.model_outputs import ModelOutput, OutputKind, model_output_kinds


def test_kinds_follow_the_names_of_vicon():
    kinds = model_output_kinds(
        ("Anna:PELO", "LFEO", "LFEA", "LFEL", "LTOP", "LKneeAngles", "RHipMoment", "LKNE", "RTOE")
    )
    assert kinds == {
        "Anna:PELO": OutputKind.POINT,
        "LFEO": OutputKind.POINT,
        "LFEA": OutputKind.POINT,
        "LFEL": OutputKind.POINT,
        "LKneeAngles": OutputKind.ANGLE,
        "RHipMoment": OutputKind.MOMENT,
    }


def test_points_turn_and_all_outputs_are_cropped_with_the_trial():
    values = np.arange(12.0).reshape(4, 3)
    outputs = {
        "PELO": ModelOutput("PELO", OutputKind.POINT, "m", values),
        "LKneeAngles": ModelOutput("LKneeAngles", OutputKind.ANGLE, "deg", values),
    }
    trial = hd.capture.Trial(
        "t", ("A",), np.zeros((4, 1, 3)) + 1.0, rate=1.0, model_outputs=outputs
    )
    turned = trial.rotate(np.diag([1.0, -1.0, -1.0])).crop(1.0, 2.0)
    np.testing.assert_array_equal(turned.model_outputs["PELO"].values, values[1:3] * [1, -1, -1])
    np.testing.assert_array_equal(turned.model_outputs["LKneeAngles"].values, values[1:3])


@pytest.mark.parametrize("name", ["Sample_Static.c3d", "Sample_Static.csv"])
def test_a_plug_in_gait_trial_has_markers_and_results_apart(shared_data, name):
    trial = hd.capture.read(shared_data / "plug_in_gait" / name)
    labeled = [label for label in trial.markers if not label.startswith("*")]
    assert len(labeled) == 35
    assert "PELO" not in trial.markers
    assert trial.model_outputs["PELO"].unit == "m"
    assert trial.model_outputs["LKneeAngles"].kind is OutputKind.ANGLE
    assert trial.model_outputs["LKneeAngles"].unit == "deg"
    # The knee center of Vicon's model is beside the knee marker.
    center = trial.model_outputs["LFEO"].values.mean(0)
    assert 0.03 < np.linalg.norm(center - trial["LKNE"].values.mean(0)) < 0.08
    report = hd.capture.check_health(trial)
    assert not report.has_errors
    assert all(not label.startswith("*") for row in report.markers for label in (row.marker,))


def test_both_exports_of_one_trial_agree(shared_data):
    c3d, csv = (
        hd.capture.read(shared_data / "plug_in_gait" / f"Sample_Static.{kind}")
        for kind in ("c3d", "csv")
    )
    assert c3d.markers == csv.markers
    assert (c3d.rate, c3d.frames) == (csv.rate, csv.frames)
    np.testing.assert_allclose(c3d.positions, csv.positions, atol=1e-6)
    assert c3d.model_outputs.keys() == csv.model_outputs.keys()
    for name, output in c3d.model_outputs.items():
        np.testing.assert_allclose(output.values, csv.model_outputs[name].values, atol=2e-4)


def test_stray_points_are_in_no_verdict():
    model = hd.catalog.heiman(height=1.75, mass=70)
    labels = tuple(marker.name for marker in model.markers)
    points = np.tile(hd.dynamics.marker_positions(model, model.neutral()), (50, 1, 1))
    stray = np.random.default_rng(0).normal(size=(50, 1, 3))
    stray[30:] = np.nan
    trial = hd.capture.Trial("t", (*labels, "*7"), np.concatenate([points, stray], 1), rate=100.0)
    report = hd.capture.check_health(trial)
    assert not report.findings
    renamed = replace(trial, markers=(*labels, "stray"))
    assert hd.capture.check_health(renamed).findings
