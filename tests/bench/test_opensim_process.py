"""Scripts in separate processes, and the recordings that they read."""

import subprocess

import pytest

from homodyn.bench.opensim_process import (
    data_folder,
    missing_data_row,
    run_opensim_script,
    write_force_setup,
)


def test_the_environment_names_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMODYN_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.delenv("HOMODYN_DATA")
    assert data_folder().parts[-2:] == ("shared", "data")


def test_a_row_without_data_names_the_missing_file(tmp_path):
    row = missing_data_row("load", "ms", tmp_path / "arm.osim")
    assert row.ours is None
    assert row.passes is None
    assert f"{tmp_path / 'arm.osim'} does not exist" in row.note


def test_a_script_runs_elsewhere_with_absolute_paths_and_its_last_line_counts(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "script.py"
    script.write_text(
        "import json, os, sys\n"
        "print('a line of a library')\n"
        "print(json.dumps({'words': sys.argv[1:], 'folder': os.getcwd()}))\n"
    )
    found = run_opensim_script(script, tmp_path.relative_to(tmp_path) / "a.osim", 3, 6.0)
    assert found["words"] == [str(tmp_path / "a.osim"), "3", "6.0"]
    assert found["folder"] != str(tmp_path)


def test_a_script_that_fails_is_an_error(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("raise SystemExit(2)\n")
    with pytest.raises(subprocess.CalledProcessError):
        run_opensim_script(script)


def test_the_setup_of_forces_gets_the_absolute_path_of_its_data(tmp_path):
    setup, target = tmp_path / "setup.xml", tmp_path / "out.xml"
    setup.write_text("<a/><datafile>walk.mot</datafile><b/>")
    write_force_setup(setup, tmp_path / "forces.mot", target)
    assert f"<a/><datafile>{tmp_path / 'forces.mot'}</datafile><b/>" in target.read_text()
