"""Verdicts on the quality of a result: lights, sentences and their order."""

import json
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis import QualityLight, QualityVerdict, overall_light, quality_verdicts
from homodyn.capture.kinetics import AccelerationLoss, ForceLoss, residuals
from homodyn.capture.quality import TrialFinding
from homodyn.foundation import Severity
from homodyn.motion import FitStatus


def verdict(analysis, subject):
    (found,) = [v for v in quality_verdicts(analysis) if v.subject == subject]
    return found


def with_motion(analysis, **changes):
    return replace(analysis, motion=replace(analysis.motion, **changes))


def test_verdicts_are_sorted_and_the_overall_light_is_the_worst(analysis):
    ranks = [v.light.rank for v in quality_verdicts(analysis)]
    assert ranks == sorted(ranks, reverse=True)
    notes = (QualityVerdict(QualityLight.NOTE, "a", "b"),)
    fair = (*notes, QualityVerdict(QualityLight.FAIR, "a", "b"))
    assert overall_light(()) is overall_light(notes) is QualityLight.GOOD
    assert overall_light(fair) is QualityLight.FAIR
    assert overall_light(fair) == "fair"


@pytest.mark.parametrize(("error", "light"), [(0.005, "good"), (0.03, "fair"), (0.05, "poor")])
def test_the_fit_is_graded_by_the_marker_error(analysis, error, light):
    residual = np.full(analysis.motion.residual.shape, error)
    found = verdict(with_motion(analysis, residual=residual), "fit")
    assert found.light == light
    assert f"{1000 * error:.1f} mm (root mean square)" in found.sentence


def test_one_bad_marker_makes_a_good_fit_fair(analysis):
    residual = np.full(analysis.motion.residual.shape, 0.001)
    residual[:, 4] = 0.06
    found = verdict(with_motion(analysis, residual=residual), "fit")
    assert found.light is QualityLight.FAIR
    assert f"worst is {analysis.motion.markers[4]} with 60.0 mm" in found.sentence


def test_frames_that_did_not_converge_are_counted(analysis):
    status = analysis.motion.status.copy()
    status[:3] = FitStatus.STALLED
    found = verdict(with_motion(analysis, status=status), "convergence")
    assert found.light is QualityLight.FAIR
    assert found.sentence.startswith(f"3 of {len(status)} frames did not converge")


def test_joint_limits_and_unseen_coordinates_have_clinical_names(analysis):
    model = analysis.model
    at_limit = np.zeros_like(analysis.motion.at_limit, shape=analysis.motion.v.shape, dtype=bool)
    at_limit[: len(at_limit) // 2, model.coordinate_index("KneeRight_RY")] = True
    changed = with_motion(analysis, at_limit=at_limit, unobserved=("ElbowLeft_RY",))
    limits = verdict(changed, "joint limits")
    assert limits.light is QualityLight.FAIR
    assert "Right knee flexion (KneeRight_RY) 50 %" in limits.sentence
    unseen = verdict(changed, "unseen coordinates")
    assert unseen.light is QualityLight.NOTE
    assert "Left elbow flexion (ElbowLeft_RY)" in unseen.sentence


@pytest.mark.parametrize(("severity", "light"), [("error", "poor"), ("warning", "fair")])
def test_the_worst_finding_of_the_health_check_is_quoted(analysis, severity, light):
    findings = [
        TrialFinding(Severity(severity), "swap", "the labels are swapped", ("A", "B")),
        TrialFinding(Severity.WARNING, "spike", "has spikes", ("C",)),
        TrialFinding(Severity.INFO, "gap", "has a gap", ("D",)),
    ]
    health = replace(analysis.health, findings=tuple(findings))
    found = verdict(replace(analysis, health=health), "health")
    assert found.light == light
    assert found.sentence == ("A, B: the labels are swapped. 1 further finding under Data quality.")
    clean = replace(analysis, health=replace(analysis.health, findings=tuple(findings[2:])))
    assert "health" not in {v.subject for v in quality_verdicts(clean)}


@pytest.mark.parametrize(("factor", "light"), [(0.5, "good"), (2.0, "fair"), (4.0, "poor")])
def test_residuals_are_compared_with_their_limits(analysis, factor, light):
    force_limit = residuals(analysis.loads).force_limit
    shape = analysis.loads.residual_force.shape
    loads = replace(
        analysis.loads,
        residual_force=np.broadcast_to([factor * force_limit, 0.0, 0.0], shape),
        residual_moment=np.zeros(shape),
    )
    found = verdict(replace(analysis, loads=loads), "residuals")
    assert found.light == light
    assert f"force peak {factor * force_limit:.3g} N" in found.sentence
    assert f"limit of {force_limit:.3g} N" in found.sentence


@pytest.mark.parametrize(("factor", "light"), [(1.02, "good"), (1.1, "fair"), (1.3, "poor")])
def test_the_weight_on_the_plates_is_compared_with_the_model(analysis, factor, light):
    feet = tuple(replace(foot, force=factor * foot.force) for foot in analysis.loads.feet)
    heavy = replace(analysis, loads=replace(analysis.loads, feet=feet))
    found = verdict(heavy, "body weight")
    assert found.light == light
    assert ("--mass" in found.sentence) is (light != "good")


def test_forces_that_were_not_measured_are_noted(analysis):
    none = replace(analysis, loads=None, missing={"kinetics": "The plates were off."})
    assert verdict(none, "forces").sentence == "The plates were off."
    feet = tuple(replace(foot, predicted=True) for foot in analysis.loads.feet)
    predicted = replace(analysis, loads=replace(analysis.loads, feet=feet))
    assert verdict(predicted, "forces").light is QualityLight.NOTE
    nowhere = np.zeros(len(analysis.motion.time), dtype=bool)
    unmeasured = replace(analysis, loads=replace(analysis.loads, usable=nowhere))
    assert verdict(unmeasured, "forces").light is QualityLight.FAIR


def test_a_filter_that_lowers_peaks_is_named(analysis):
    assert "filter" not in {v.subject for v in quality_verdicts(analysis)}
    force = ForceLoss(6.0, "plate 1", 1600.0, 1500.0)
    found = verdict(replace(analysis, force_loss=force), "filter")
    assert found.light is QualityLight.FAIR
    assert "takes 6 % (100 of 1600 N) off the peak vertical force" in found.sentence
    assert "--cutoff auto" in found.sentence
    small = replace(force, filtered_peak=1590.0)
    acceleration = AccelerationLoss(6.0, 14.0, 30.0, 25.0)
    both = replace(analysis, force_loss=small, acceleration_loss=acceleration)
    assert "17 % off the peak vertical acceleration" in verdict(both, "filter").sentence


def test_more_than_the_weight_on_plates_is_poor_where_no_frame_is_measured(analysis):
    nowhere = replace(analysis.loads, usable=np.zeros(len(analysis.loads.tau), dtype=bool))
    unmeasured = replace(analysis, loads=nowhere)
    assert "body weight" not in {v.subject for v in quality_verdicts(unmeasured)}
    doubled = tuple(replace(plate, force=2 * plate.force) for plate in analysis.trial.plates)
    heavy = replace(unmeasured, trial=replace(analysis.trial, plates=doubled))
    assert verdict(heavy, "body weight").light is QualityLight.POOR


def test_absent_markers_are_listed(analysis):
    matching = replace(analysis.matching, absent=tuple(f"M{k}" for k in range(12)))
    unseen = with_motion(analysis, unobserved=("ElbowLeft_RY",))
    found = verdict(replace(unseen, matching=matching), "labels")
    assert found.light is QualityLight.FAIR
    assert "M7 and 4 more" in found.sentence
    # Markers that were taken off after the static trial matter only where they leave gaps.
    assert verdict(replace(analysis, matching=matching), "labels").light is QualityLight.NOTE
    few = replace(analysis.matching, absent=("M1",))
    assert verdict(replace(analysis, matching=few), "labels").light is QualityLight.NOTE


def test_cycles_are_counted_or_missing(analysis):
    assert verdict(analysis, "cycles").light is QualityLight.GOOD
    without = replace(analysis, events=())
    assert verdict(without, "cycles").sentence.startswith("No foot strikes were found")
    once = replace(analysis, events=analysis.events[:1])
    assert verdict(once, "cycles").sentence.startswith("No foot strikes twice")


def test_a_verdict_is_a_record(analysis):
    for found in quality_verdicts(analysis):
        assert QualityVerdict.from_dict(found.to_dict()) == found


def test_page_log_summary_and_api_have_the_same_residuals(analysis, result):
    found = residuals(analysis.loads)
    summary = json.loads((result / "summary.json").read_text(encoding="utf-8"))
    stored = summary["residuals"]
    assert stored["force_rms_n"] == pytest.approx(found.rms_force)
    assert stored["moment_peak_n_m"] == pytest.approx(found.peak_moment)
    assert stored["light"] == found.grade == verdict(analysis, "residuals").light
    assert stored["valid_frames"] == found.frames == analysis.loads.valid.sum()
    assert found.acceptable is (found.grade == "good")
    for file in ("report.html", "log.txt"):
        assert found.sentence[1:] in (result / file).read_text(encoding="utf-8")
    assert found.sentence in analysis.loads.notes


def test_page_log_summary_and_api_have_the_same_verdicts(analysis, result):
    """Every criterion is computed once: the texts, lights and numbers are the same everywhere."""
    found = quality_verdicts(analysis)
    summary = json.loads((result / "summary.json").read_text(encoding="utf-8"))
    page = unescape((result / "report.html").read_text(encoding="utf-8"))
    log = (result / "log.txt").read_text(encoding="utf-8")
    stored = [(v["light"], v["subject"], v["sentence"]) for v in summary["quality"]["verdicts"]]
    assert stored == [(v.light, v.subject, v.sentence) for v in found]
    assert summary["quality"]["light"] == overall_light(found)
    for one in found:
        assert f"{one.light:5} {one.sentence}" in log
        assert one.sentence in page


def test_numbers_of_verdicts_are_those_of_summary_and_records(analysis, result):
    summary = json.loads((result / "summary.json").read_text(encoding="utf-8"))
    motion, frames = analysis.motion, analysis.motion.frames
    fit = verdict(analysis, "fit").sentence
    assert summary["fit"]["rms_m"] == pytest.approx(motion.rms)
    assert f"{1000 * motion.rms:.1f} mm (root mean square) over {frames} frames" in fit
    worst = max(summary["fit"]["markers_rms_m"].items(), key=lambda item: item[1])
    assert f"worst is {worst[0]} with {1000 * worst[1]:.1f} mm" in fit
    weight = verdict(analysis, "body weight").sentence
    assert f"over {summary['residuals']['valid_frames']} of {frames} frames" in weight
    assert f"the model has {summary['model']['mass_kg']:.1f} kg" in weight
    cycles = verdict(analysis, "cycles").sentence
    for side in ("right", "left"):
        row = analysis.gait["stride duration", side]
        assert f"{len(row.values)} {side}" in cycles
        stored = [r for r in summary["gait"] if r["name"] == row.name and r["side"] == side]
        assert stored[0]["mean"] == pytest.approx(row.mean)
        assert stored[0]["cycles"] == len(row.values)
    assert summary["filter"]["cutoff_hz"] == analysis.cutoff == analysis.settings.cutoff
    assert summary["filter"]["force_peak_loss"] == pytest.approx(analysis.force_loss.share)
    # Work leaves out the same ends as all other numbers.
    inside = motion.time[~analysis.loads.edge]
    assert (analysis.work.start, analysis.work.end) == (inside[0], inside[-1])
    table = np.genfromtxt(result / "torques.csv", delimiter=",", skip_header=1)
    assert (table[:, -1] > 0).tolist() == analysis.loads.valid.tolist()


def test_markers_without_weight_do_not_decide_the_fit(analysis):
    motion = analysis.motion
    residual, weights = motion.residual.copy(), np.ones(len(motion.markers))
    residual[:, 0], weights[0] = 0.5, 0.0
    ignored = replace(analysis, motion=replace(motion, residual=residual, weights=weights))
    counted = np.sqrt(np.nanmean(residual[:, 1:] ** 2))
    assert ignored.motion.rms == pytest.approx(counted)
    (fit,) = [v for v in quality_verdicts(ignored) if v.subject == "fit"]
    assert fit.light == "good"
    assert f"worst is {motion.markers[0]} " not in fit.sentence
    assert f"Not counted, with weight zero: {motion.markers[0]}." in fit.sentence
    weights[0] = 1.0
    both = replace(analysis, motion=replace(motion, residual=residual, weights=weights))
    (fit,) = [v for v in quality_verdicts(both) if v.subject == "fit"]
    assert fit.light == "poor"


def test_a_recording_that_was_read_in_part_is_not_green(analysis):
    note = "the file is truncated: 114 of 238 frames are read"
    cut = replace(analysis, trial=replace(analysis.trial, notes=(*analysis.trial.notes, note)))
    (verdict,) = [v for v in quality_verdicts(cut) if v.subject == "recording"]
    assert verdict.light == "fair"
    assert verdict.sentence == "The file is truncated: 114 of 238 frames are read."


def test_a_corrected_vertical_axis_is_at_a_glance(analysis):
    turned = hd.capture.quality.correct_orientation(
        analysis.trial.rotate(np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]))
    )
    found = quality_verdicts(replace(analysis, trial=turned))
    (axes,) = [v for v in found if v.subject == "axes"]
    assert axes.light == "note"
    assert "is rotated so that" in axes.sentence
    assert "axes" not in {v.subject for v in quality_verdicts(analysis)}
