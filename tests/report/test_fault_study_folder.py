"""Tables of planted faults: counts of outcomes, and good recordings that were accused."""

import json

from homodyn.analysis import FaultCase, FaultOutcome
from homodyn.report import write_fault_study
from homodyn.report.fault_study_folder import (
    false_accusations,
    fault_markdown,
    fault_summary,
)

ROWS = (
    FaultCase("a.trc", "axes permuted", "up is x", FaultOutcome.CORRECTED, "rotated"),
    FaultCase("a.trc", "axes permuted", "up is -x", FaultOutcome.MISSED, "", "good"),
    FaultCase("a.trc", "axes permuted", "up is -y", FaultOutcome.MISSED, "", "fair"),
    FaultCase("a.trc", "axes permuted", "up is y", FaultOutcome.CORRECTED, "rotated"),
    FaultCase("a.trc", "wrong mass", "model +20 %", FaultOutcome.NAMED, "the <plates> carry"),
    FaultCase("a.trc", "good", "1", FaultOutcome.MISSED, ""),
    FaultCase("a.trc", "good", "2", FaultOutcome.NAMED, "wrongly said"),
    FaultCase("b.trc", "left out", "", FaultOutcome.REFUSED, "has errors"),
)


def test_counts_and_shares():
    assert fault_summary(ROWS)["faults"][0] == {
        "fault": "axes permuted",
        "corrected": 2,
        "refused": 0,
        "named": 0,
        "missed": 2,
        "missed_in_green": 1,
        "found_share": 0.5,
    }
    assert "| axes permuted | 4 | 2 | 0 | 0 | 2 | 1 | 50.0 % |" in fault_markdown(ROWS)
    assert "left out" not in fault_markdown(ROWS)


def test_false_accusations_are_listed():
    assert false_accusations(ROWS) == (ROWS[6],)
    assert "1 version of 2 good versions of 1 recording falsely accused." in fault_markdown(ROWS)


def test_the_folder(tmp_path):
    page = write_fault_study(ROWS, tmp_path / "out")
    text = page.read_text()
    assert "up is -x" in text
    assert "wrongly said" in text
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["left_out"] == [{"recording": "b.trc", "reason": "has errors"}]
    assert (tmp_path / "out" / "faults.md").is_file()
    assert "the <plates> carry" in (tmp_path / "out" / "faults.csv").read_text()
