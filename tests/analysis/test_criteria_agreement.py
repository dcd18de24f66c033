"""Page, log, summary and API state the same criteria, on recordings of people."""

import html
import json
import re

import numpy as np
import pytest

from homodyn.analysis import Settings, analyze, overall_light, quality_verdicts
from homodyn.analysis.force_verdicts import residual_light
from homodyn.capture.kinetics import residuals
from homodyn.report import write_analysis

RECORDINGS = {
    "walking1": ("real_subject4", "walking1.trc", "manually_scaled.osim", "walking1_grf.mot"),
    "squats1": ("real_subject4", "squats1.trc", "manually_scaled.osim", "squats1_grf.mot"),
    "STS1": ("real_subject4", "STS1.trc", "manually_scaled.osim", "STS1_grf.mot"),
    "DJ1": ("real_subject4", "DJ1.trc", "manually_scaled.osim", "DJ1_grf.mot"),
    "gait10dof": ("gait10dof", "walk.trc", "subject01.osim", "walk_grf.mot"),
}
"""Folder, recording, model and forces."""
DURATION_S = 2.0
"""Length of the interval that is analyzed."""


@pytest.fixture(scope="module", params=RECORDINGS)
def stored(request, shared_data, tmp_path_factory):
    """An analysis with its page, log and summary."""
    folder, trial, model, forces = RECORDINGS[request.param]
    folder = shared_data / folder
    settings = Settings(
        model=str(folder / model), scale="none", forces=str(folder / forces), last=DURATION_S
    )
    analysis = analyze(folder / trial, settings)
    written = write_analysis(analysis, tmp_path_factory.mktemp("agreement") / request.param)
    page = (written / "report.html").read_text(encoding="utf-8")
    log = (written / "log.txt").read_text(encoding="utf-8")
    summary = json.loads((written / "summary.json").read_text(encoding="utf-8"))
    return analysis, html.unescape(re.sub(r"<[^>]+>", "", page)), log, summary


def test_each_verdict_is_the_same_everywhere(stored):
    analysis, page, log, summary = stored
    verdicts = quality_verdicts(analysis)
    assert summary["quality"]["light"] == overall_light(verdicts)
    assert [(v["light"], v["sentence"]) for v in summary["quality"]["verdicts"]] == [
        (v.light, v.sentence) for v in verdicts
    ]
    for verdict in verdicts:
        assert f"{verdict.light:5} {verdict.sentence}" in log
        assert verdict.sentence in page


def test_the_residuals_are_the_same_everywhere(stored):
    analysis, page, log, summary = stored
    found, entry = residuals(analysis.loads), summary["residuals"]
    (verdict,) = [v for v in quality_verdicts(analysis) if v.subject == "residuals"]
    assert verdict.light == residual_light(analysis.loads) == found.grade
    assert found.acceptable == (verdict.light == "good")
    assert found.frames == int(analysis.loads.valid.sum()) == entry["valid_frames"]
    numbers = {
        "force_rms_n": found.rms_force,
        "force_peak_n": found.peak_force,
        "moment_rms_n_m": found.rms_moment,
        "moment_peak_n_m": found.peak_moment,
    }
    assert {name: entry[name] for name in numbers} == pytest.approx(numbers)
    for text in (page, log):
        assert f"force peak {found.peak_force:.3g} N, rms {found.rms_force:.3g} N" in text
        assert f"over {found.frames} of {found.total_frames} frames" in text


def test_the_marker_error_is_the_same_everywhere(stored):
    analysis, page, log, summary = stored
    counted = analysis.motion.residual[:, analysis.motion.weights > 0]
    rms = np.sqrt(np.nanmean(counted**2))
    assert analysis.motion.rms == pytest.approx(rms)
    assert summary["fit"]["rms_m"] == pytest.approx(rms)
    for text in (page, log):
        assert f"The model follows the markers to {1000 * rms:.1f} mm" in text


def test_gait_measures_and_events_are_the_same_everywhere(stored):
    analysis, _, _, summary = stored
    assert [event["time_s"] for event in summary["events"]] == pytest.approx(
        [event.time for event in analysis.events]
    )
    table = [] if analysis.gait is None else analysis.gait.to_table()
    assert [(row["name"], row["side"], row["mean"]) for row in summary["gait"]] == [
        (row["name"], row["side"], pytest.approx(row["mean"])) for row in table
    ]
    for row in summary["gait"]:
        assert (row["sd"] is None) == (row["cycles"] < 2)
