"""The demonstration analyzes the bundled trial and reports its errors."""

import re

from homodyn.report.demo import write_demo


def test_the_demonstration_writes_a_report_and_logs_its_errors(tmp_path):
    lines: list[str] = []
    stages: list[str] = []
    result = write_demo(tmp_path / "out", lines.append, stage=stages.append)
    page = result.page
    text = "\n".join(lines)
    assert stages[0] == "reading"
    assert stages[-1] == "writing"
    assert dict(result.errors)["joint angles"] in text
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    for name in ("motion.mot", "torques.sto", "gait.csv", "summary.json", "model.toml"):
        assert (page.parent / name).stat().st_size > 0
    angles = float(re.search(r"joint angles: rms error (\S+) deg", text)[1])
    lengths = float(re.search(r"segment lengths: rms error (\S+) mm", text)[1])
    assert angles < 2.0
    assert lengths < 10.0
    assert "0 missed, 0 spurious" in text
    assert str(page) in text


def test_a_second_demonstration_replaces_the_first(tmp_path):
    first = write_demo(tmp_path, lambda line: None)
    assert write_demo(tmp_path, lambda line: None).page == first.page
