"""Many trials on one page, from the files of their results."""

import csv
import json
import shutil

import numpy as np

from homodyn.analysis.result_files import find_results
from homodyn.report.overview import write_overview
from support.pages import read


def test_every_complete_result_is_on_the_page(result, tmp_path):
    for name in ("first", "second <b>"):
        shutil.copytree(result, tmp_path / name)
    half = tmp_path / "half"
    half.mkdir()
    (half / "summary.json").write_text('{"fingerprint": "')
    written = write_overview(tmp_path)
    text = written.read_text(encoding="utf-8")
    reader = read(text)
    assert reader.faults == []
    assert "second <b>" not in text
    assert {"first/report.html", "second <b>/report.html"} == set(reader.references)
    assert [found.name for found in find_results(tmp_path)] == ["first", "second <b>"]
    assert not list(tmp_path.glob(".overview*"))


def test_measures_of_all_trials_are_in_one_table(result, tmp_path):
    shutil.copytree(result, tmp_path / "walk")
    write_overview(tmp_path)
    with open(tmp_path / "gait.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    summary = json.loads((result / "summary.json").read_text(encoding="utf-8"))
    speed = next(row for row in summary["gait"] if row["name"] == "velocity")
    found = next(row for row in rows if row["measure"] == "velocity")
    np.testing.assert_allclose(float(found["mean"]), speed["mean"], rtol=1e-5)
    assert {row["trial"] for row in rows} == {"walk"}


def test_no_overview_is_written_without_results(tmp_path):
    assert write_overview(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
