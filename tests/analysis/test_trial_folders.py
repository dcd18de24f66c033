"""Folders stand for the trials in them; the static trial is recognized by its name."""

import pytest

from homodyn.analysis.trial_folders import select_trials
from homodyn.errors import FormatError


def files(folder, *names):
    for name in names:
        (folder / name).write_bytes(b"")
    return folder


def test_a_folder_is_all_its_recordings_without_the_static_one(tmp_path):
    files(tmp_path, "walk2.c3d", "walk1.C3D", "run.trc", "Static01.c3d", "notes.txt")
    found = select_trials([tmp_path])
    assert [name.rsplit("/", 1)[-1] for name in found.trials] == [
        "run.trc",
        "walk1.C3D",
        "walk2.c3d",
    ]
    assert found.static == str(tmp_path / "Static01.c3d")
    assert "Static01" in found.notes[0]


def test_a_named_static_trial_is_not_analyzed(tmp_path):
    files(tmp_path, "walk.c3d", "quiet.c3d")
    found = select_trials([tmp_path], tmp_path / "quiet.c3d")
    assert found.trials == (str(tmp_path / "walk.c3d"),)
    assert found.static == str(tmp_path / "quiet.c3d")


def test_the_same_trial_in_two_formats_counts_once(tmp_path):
    found = select_trials([files(tmp_path, "walk.trc", "walk.c3d")])
    assert found.trials == (str(tmp_path / "walk.c3d"),)
    assert found.static is None


def test_files_stay_as_they_are_given(tmp_path):
    assert select_trials(["static.c3d", "walk.c3d"]).trials == ("static.c3d", "walk.c3d")


def test_several_static_trials_must_be_named(tmp_path):
    with pytest.raises(FormatError, match="--static"):
        select_trials([files(tmp_path, "walk.c3d", "static1.c3d", "t-pose.c3d")])


@pytest.mark.parametrize("names", [(), ("notes.txt",), ("static.c3d",)])
def test_a_folder_without_trials_is_refused(tmp_path, names):
    with pytest.raises(FormatError, match=r"no \.c3d or \.trc files"):
        select_trials([files(tmp_path, *names)])
