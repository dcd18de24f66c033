"""``homodyn model``: output, errors and files of the commands on models."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import homodyn as hd
from homodyn.cli import app

BODIES = [entry.name for entry in hd.catalog.entries()]


def run(*words):
    return CliRunner().invoke(app, ["model", *map(str, words)])


def test_info_shows_every_body_and_coordinate():
    shown = run("info", "coman")
    assert shown.exit_code == 0
    data = json.loads(run("info", "coman", "--json").stdout)
    model = hd.catalog.coman()
    assert model.name in shown.stdout
    assert data["mass"] == pytest.approx(27.33174)
    assert [c["name"] for c in data["coordinates"]] == list(model.coordinate_names)
    assert [b["name"] for b in data["bodies"]] == list(model.body_names)


@pytest.mark.parametrize("name", BODIES)
def test_every_body_of_the_catalog_passes_the_check(name):
    checked = run("check", name)
    assert checked.exit_code == 0, checked.stdout
    assert "error" not in checked.stdout


def test_check_fails_for_a_wrong_model_and_names_the_error(tmp_path):
    path = tmp_path / "wrong.toml"
    hd.save(hd.catalog.winter_human(), path)
    text = re.sub(r"(?m)^mass = .*$", "mass = -1.0", path.read_text(), count=1)
    path.write_text(text)
    checked = run("check", path)
    assert checked.exit_code == 1
    assert "mass must be zero or more" in checked.stdout + checked.stderr


def test_strict_checks_fail_on_warnings(tmp_path):
    path = tmp_path / "odd.toml"
    hd.save(hd.catalog.winter_human().with_numbers({"vertex.position.z": 40.0}), path)
    assert run("check", path).exit_code == 0
    assert "warning" in run("check", path).stdout
    assert run("check", path, "--strict").exit_code == 1


def test_convert_lists_losses_and_replaces_files_only_with_overwrite(tmp_path):
    source, target = tmp_path / "a.toml", tmp_path / "b.urdf"
    hd.save(hd.catalog.coman(), source)
    done = run("convert", source, target)
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "lost" in done.stdout + done.stderr
    before = target.read_bytes()
    again = run("convert", source, target)
    assert again.exit_code == 1
    assert target.read_bytes() == before
    assert run("convert", source, target, "--overwrite").exit_code == 0
    assert hd.load(target).mass == pytest.approx(27.33174)


def test_an_impossible_conversion_leaves_no_file(tmp_path):
    source = tmp_path / "a.toml"
    hd.save(hd.catalog.coman(), source)
    blank = source.read_text().replace('"right_hip"', '"right hip"')
    source.write_text(blank)
    for name in ("b.osim", "b.docx"):
        target = tmp_path / name
        assert run("convert", source, target).exit_code == 1
        assert not target.exists()


def test_a_model_for_opensim_has_y_up(tmp_path):
    target = tmp_path / "b.osim"
    assert run("convert", "coman", target, "--y-up").exit_code == 0
    found, coman = hd.load(target), hd.catalog.coman()
    np.testing.assert_allclose(found.gravity, coman.gravity[[0, 2, 1]], atol=1e-15)
    q = coman.random(1)
    for name in coman.body_names:
        ours = hd.dynamics.position(coman, q, name)
        theirs = hd.dynamics.position(found, q, name)
        np.testing.assert_allclose(theirs, ours[[0, 2, 1]] * [1, 1, -1], atol=1e-14)


def test_draw_writes_a_figure_of_a_pose(tmp_path):
    model = hd.catalog.coman()
    pose = tmp_path / "pose.csv"
    q = model.random(seed=3)
    pose.write_text(",".join(model.coordinate_names) + "\n" + ",".join(map(str, q)) + "\n")
    first, second = tmp_path / "pose.png", tmp_path / "neutral.png"
    assert run("draw", "coman", "--pose", pose, "-o", first).exit_code == 0
    assert run("draw", "coman", "-o", second).exit_code == 0
    assert first.read_bytes().startswith(b"\x89PNG")
    assert first.read_bytes() != second.read_bytes()


@pytest.mark.parametrize(
    ("content", "pattern"),
    [
        (b"", "XML"),
        (b"<robot name='x'><link name='a'/>", "XML"),
        (b"\x00\x01\x02 not a model", "XML"),
        (b"<sdf/>", "robot|sdf"),
    ],
)
def test_a_broken_file_gives_one_sentence_with_its_name(tmp_path, content, pattern):
    path = tmp_path / "broken.urdf"
    path.write_bytes(content)
    for command in (["info", path], ["draw", path, "-o", tmp_path / "x.png"]):
        refused = run(*command)
        assert refused.exit_code == 1
        text = " ".join((refused.stdout + refused.stderr).split())
        assert "broken.urdf" in text.replace(" ", "")
        assert re.search(pattern, text), text
        assert "Traceback" not in text
    assert not (tmp_path / "x.png").exists()


def test_an_unknown_name_lists_the_catalog():
    refused = run("info", "no-such-model")
    assert refused.exit_code == 1
    assert "heiman" in refused.stdout + refused.stderr


def test_the_list_has_every_body_with_its_source():
    shown = run("list")
    assert shown.exit_code == 0
    for entry in hd.catalog.entries():
        assert entry.name in shown.stdout
    assert "source: Felis 2015" in " ".join(run("list", "heiman").stdout.split())


def test_a_file_with_a_catalog_name_takes_precedence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "coman").write_text("no model")
    assert run("info", "coman").exit_code == 1
    assert run("info", "catalog:coman").exit_code == 0


def test_draw_takes_one_pose_and_names_wrong_rows(tmp_path):
    pose, figure = tmp_path / "pose.csv", tmp_path / "body.png"
    pose.write_text("left_knee\n0.5\n")
    both = run("draw", "coman", "--pose", pose, "--default", "-o", figure)
    assert both.exit_code == 1
    missing = run("draw", "coman", "--pose", pose, "--row", "3", "-o", figure)
    assert missing.exit_code == 1
    assert "rows 0 to 0" in " ".join(missing.stderr.split())
    assert not figure.exists()
    assert run("draw", "coman", "--pose", pose, "--labels", "-o", figure).exit_code == 0


def test_check_prints_findings_as_json():
    data = json.loads(run("check", "bip", "--json").stdout)
    assert data["sound"] is True
    assert {"severity", "subject", "sentence"} == set(data["findings"][0])


def test_inertias_as_measured_are_accepted_on_request(tmp_path):
    path = tmp_path / "bar.urdf"
    path.write_text(
        """<robot name="bar"><link name="bar"><inertial><mass value="2"/>
        <inertia ixx="1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
    )
    assert run("info", path).exit_code == 1
    assert run("info", path, "--as-measured").exit_code == 0
    assert run("check", path).exit_code == 1
