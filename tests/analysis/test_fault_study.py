"""Planted faults are found, and good recordings are not accused."""

import pytest

import homodyn as hd
from homodyn.analysis import StudySize, ValidationCase, study_faults
from homodyn.report.fault_study_folder import false_accusations, fault_markdown, fault_summary

PERSON = "real_subject4"


@pytest.fixture(scope="module")
def checked(shared_data, tmp_path_factory):
    """The faults that the checks of a recording find."""
    folder = shared_data / PERSON
    case = ValidationCase(
        str(folder / "walking1.trc"),
        expert=str(folder / "manually_scaled.osim"),
        static=str(folder / "static1.trc"),
        forces=str(folder / "walking1_grf.mot"),
    )
    size = StudySize(exchanges=4, random_frames=2, harmless=2, persons=0, analyses=0)
    folder = tmp_path_factory.mktemp("study") / "finished"
    lines = []
    rows = study_faults([case], shared_data, size, finished=folder, progress=lines.append)
    assert lines == ["1 of 1: real_subject4/walking1.trc"]
    again = []
    assert study_faults([case], shared_data, size, finished=folder, progress=again.append) == rows
    assert again == ["1 of 1 were finished before"]
    return rows


def test_faults_of_axes_labels_and_units_are_found(checked):
    shares = {row["fault"]: row["found_share"] for row in fault_summary(checked)["faults"]}
    # Two markers of one wrist or of one cluster may be exchanged without a trace.
    assert shares.pop("labels exchanged in all frames") >= 0.8
    # So may two of one cluster whose distances differ by less than those under moving skin.
    assert shares.pop("labels exchanged after a gap") >= 0.7
    assert shares == dict.fromkeys(
        [
            "axes permuted",
            "rotated laboratory frame",
            "labels exchanged in a part",
            "wrong unit of markers",
            "frames missing",
            "frames repeated",
            "markers in other axes than plates",
        ],
        1.0,
    )


def test_good_versions_are_not_accused(checked):
    assert false_accusations(checked) == ()
    assert sum(row.kind == "good" for row in checked) == 2
    assert "0 versions of 2 good versions of 1 recording falsely accused." in fault_markdown(
        checked
    )


def test_corrections_restore_the_recording(checked):
    rotated = [row for row in checked if row.kind in ("axes permuted", "rotated laboratory frame")]
    assert {row.outcome for row in rotated} == {"corrected"}
    assert all("is rotated so that" in row.reason for row in rotated)


def test_a_recording_with_errors_of_its_own_is_left_out(tmp_path):
    model = hd.catalog.heiman(height=1.75, mass=70)
    points = hd.dynamics.marker_positions(model, model.neutral())
    labels = tuple(marker.name for marker in model.markers)
    trial = hd.capture.Trial("big", labels, 1000.0 * points[None].repeat(9, 0), rate=100.0)
    hd.capture.write(trial, tmp_path / "big.trc")
    size = StudySize(exchanges=1, random_frames=0, harmless=0, persons=0, analyses=0)
    (row,) = study_faults([ValidationCase(str(tmp_path / "big.trc"))], tmp_path, size)
    assert row.kind == "left out"
    assert "the recording itself has an error" in row.reason
    assert fault_summary([row])["left_out"] == [{"recording": "big.trc", "reason": row.reason}]
