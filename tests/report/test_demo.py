"""The demonstration analyses the trial of the package and tells how close it came."""

import re

from homodyn.report.demo import write_demo


def test_the_demonstration_writes_what_it_tells(tmp_path):
    told: list[str] = []
    page = write_demo(tmp_path / "out", told.append)
    text = "\n".join(told)
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
    assert write_demo(tmp_path, lambda line: None) == first
