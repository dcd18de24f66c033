"""Summaries of studies."""

import json

from homodyn.search import run
from homodyn.search.studies import StudySummary
from homodyn.search.studies.summary import duration, summarize
from support.search_objectives import camel_job as job
from support.search_objectives import troubled


def test_a_summary_has_progress_best_candidate_and_time(tmp_path):
    study = run(job(iterations=3), troubled, database=tmp_path / "a.db").study
    text = str(summarize(study))
    assert "camel: pso, generation 3 of 3, 30 candidates" in text
    assert "failed" in text
    assert "best: f -" in text
    assert (duration(30), duration(600), duration(9000)) == ("30 s", "10 min", "2 h 30 min")


def test_a_summary_is_a_record(tmp_path):
    summary = summarize(run(job(iterations=3), troubled, database=tmp_path / "a.db").study)
    assert summary.statuses["ok"] + summary.statuses["failed"] <= summary.candidates == 30
    assert len(repr(summary).splitlines()) <= 10
    restored = StudySummary.from_dict(json.loads(json.dumps(summary.to_dict())))
    assert restored.summary() == summary.summary()
    assert restored.best == summary.best
