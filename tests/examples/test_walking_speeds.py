"""The example on walking speeds does what it says."""

import csv
import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "walking_speeds.py"


def test_the_speeds_come_back_from_the_recordings(tmp_path):
    spec = importlib.util.spec_from_file_location("walking_speeds", SCRIPT)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    page = example.main(str(tmp_path / "out"))
    assert page.is_file()
    with open(page.parent / "gait.csv", encoding="utf-8", newline="") as stream:
        found = {
            row["trial"]: float(row["mean"])
            for row in csv.DictReader(stream)
            if (row["measure"], row["side"]) == ("velocity", "both")
        }
    assert found == pytest.approx(example.SPEEDS, rel=0.02)
