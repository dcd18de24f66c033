"""Which files of a data folder belong to which recording."""

import pytest

from homodyn.analysis.validation_cases import ValidationCase, find_cases, read_cases
from homodyn.errors import FormatError


def storage(*names):
    return (
        "table\nversion=1\nnRows=2\n"
        f"nColumns={len(names) + 1}\ninDegrees=yes\nendheader\n"
        + "\t".join(("time", *names))
        + "\n"
        + "".join("\t".join([str(t), *["0"] * len(names)]) + "\n" for t in (0.0, 0.1))
    )


ANGLES = storage("pelvis_tilt", "hip_flexion_r", "knee_angle_r", "ankle_angle_r")
TORQUES = storage("pelvis_tilt_moment", "hip_flexion_r_moment", "knee_angle_r_moment")
FORCES = storage(*(f"ground_force_{k}{a}" for k in "vp" for a in "xyz"))


@pytest.fixture
def data(tmp_path):
    files = {
        "generic/unscaled_generic.osim": "",
        "anna/static1.trc": "",
        "anna/walk1.trc": "",
        "anna/walk2.trc": "",
        "anna/anna_scaled.osim": "",
        "anna/walk1_ik.mot": ANGLES,
        "anna/walk1_id.sto": TORQUES,
        "anna/walk1_grf.mot": FORCES,
        "anna/walk1_loads.xml": "<ExternalLoads/>",
        "anna/tasks.xml": "<IKTaskSet/>",
        "anna/markers.xml": "<MarkerSet/>",
        "anna/scale.xml": "<ScaleTool><MarkerSet/></ScaleTool>",
        "ben/walk.c3d": "",
        "ben/one.mot": ANGLES,
        "ben/two.mot": ANGLES,
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    return tmp_path


def test_files_are_found_by_content_and_by_the_name_of_the_recording(data):
    first, second, ben = find_cases(data)
    anna = data / "anna"
    assert first == ValidationCase(
        str(anna / "walk1.trc"),
        model=str(data / "generic" / "unscaled_generic.osim"),
        expert=str(anna / "anna_scaled.osim"),
        static=str(anna / "static1.trc"),
        calibrate_from=(str(anna / "walk1.trc"), str(anna / "walk2.trc")),
        forces=str(anna / "walk1_grf.mot"),
        external_loads=str(anna / "walk1_loads.xml"),
        markerset=str(anna / "markers.xml"),
        tasks=str(anna / "tasks.xml"),
        angles=str(anna / "walk1_ik.mot"),
        torques=str(anna / "walk1_id.sto"),
    )
    assert second.recording == str(anna / "walk2.trc")
    assert (second.angles, second.forces, second.external_loads) == (None, None, None)
    assert second.tasks == first.tasks
    assert second.calibrate_from == first.calibrate_from
    assert ben.calibrate_from == ()
    assert ben.angles is None
    assert "one.mot, two.mot" in ben.notes[0]


def test_folders_without_recordings_are_refused(tmp_path):
    with pytest.raises(FormatError, match=r"\.c3d or \.trc"):
        find_cases(tmp_path)
    with pytest.raises(FormatError, match="no such folder"):
        find_cases(tmp_path / "none")


def test_a_manifest_lists_cases(tmp_path):
    manifest = tmp_path / "cases.toml"
    manifest.write_text(
        '[[case]]\nrecording = "a/walk.trc"\nexpert = "a/m.osim"\nmass = 71\n'
        'calibrate_from = ["a/one.trc", "a/two.trc"]\n'
    )
    (case,) = read_cases(manifest, tmp_path)
    assert case.recording == str(tmp_path / "a/walk.trc")
    assert case.expert == str(tmp_path / "a/m.osim")
    assert case.mass == 71
    assert case.calibrate_from == (str(tmp_path / "a/one.trc"), str(tmp_path / "a/two.trc"))


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("", r"\[\[case\]\]"),
        ('[[case]]\nmodel = "a.osim"\n', "recording is missing"),
        ('[[case]]\nrecording = "a.trc"\nexprt = "b"\n', "expert"),
        ('[[case]]\nrecording = "a.trc"\nmass = "70"\n', "a number"),
        ("[[case]]\nrecording = 3\n", "a text"),
        ('[[case]]\nrecording = "a.trc"\ncalibrate_from = "b.trc"\n', "a list of texts"),
    ],
)
def test_a_wrong_manifest_is_refused_with_what_is_accepted(tmp_path, text, remedy):
    manifest = tmp_path / "cases.toml"
    manifest.write_text(text)
    with pytest.raises(FormatError, match=remedy):
        read_cases(manifest, tmp_path)
