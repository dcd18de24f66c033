"""The folder of a validation: the same numbers in page, tables and summary."""

import csv
import json

import pytest

from homodyn.analysis.validation import Deviation, ValidationRow
from homodyn.errors import FormatError
from homodyn.report import write_validation
from homodyn.report.validation_folder import COLUMNS, validation_cells

ROWS = (
    ValidationRow(
        "anna/walk.trc",
        "scaled",
        reference="ik.mot",
        marker_rms=0.0123,
        angles=(
            Deviation("pelvis_tilt", -2.0, 3.0),
            Deviation("knee_angle_r", 4.0, 4.0),
            Deviation("hip_rotation_r", 20.0, 0.0),
        ),
        expert_angles=(Deviation("pelvis_tilt", 6.0, 6.5), Deviation("hip_flexion_r", -4.0, 4.0)),
        pelvis_convention=5.0,
        centers={"hip": 0.012, "ankle": 0.0064},
        torques=(Deviation("knee_angle_r", 1.0, 7.0),),
        residual_force=31.4,
        residual_moment=12.0,
        light="fair",
        reason="Residuals are large.",
    ),
    ValidationRow("ben/<walk>.c3d", "catalog", reason="the file is empty"),
)


def test_cells_have_one_text_per_heading():
    full, empty = (validation_cells(row) for row in ROWS)
    assert len(full) == len(empty) == len(COLUMNS)
    assert full[2:7] == ["12.3", "3.0", "4.0", "5.0", "6.0"]
    assert full[7:12] == ["1.0", "1.0", "12", "–", "6"]
    assert full[12:] == ["2.9", "7.0", "31", "12", "fair"]
    assert empty[2:] == ["–"] * 14 + ["no result"]


def test_the_folder_has_page_tables_and_summary(tmp_path):
    page = write_validation(ROWS, tmp_path / "out")
    html = page.read_text(encoding="utf-8")
    assert "12.3" in html
    assert "&lt;walk&gt;" in html
    assert "the file is empty" in html
    with open(tmp_path / "out" / "recordings.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["verdict"] for row in rows] == ["fair", "no result"]
    with open(tmp_path / "out" / "deviations.csv", encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert [line["coordinate"] for line in lines if line["quantity"] == "torque"] == [
        "knee_angle_r"
    ]
    assert [line["quantity"] for line in lines].count("angle") == 3
    assert len(lines) == 6
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["recordings"][0]["angles"][0] == {
        "coordinate": "pelvis_tilt",
        "bias": -2.0,
        "rms": 3.0,
    }
    assert summary["recordings"][1]["light"] is None
    table = (tmp_path / "out" / "table.md").read_text(encoding="utf-8")
    assert "| anna/walk.trc | scaled | 12.3 |" in table
    assert "- ben/<walk>.c3d (catalog): the file is empty" in table
    with pytest.raises(FormatError, match="--overwrite"):
        write_validation(ROWS, tmp_path / "out")
    write_validation(ROWS[:1], tmp_path / "out", overwrite=True)
