"""``homodyn codesign``: topologies, drawings and checks of designs."""

import json

from typer.testing import CliRunner

from homodyn.cli import app

DESIGN = """
topology = 1
actuated = [1, 3]
attachments = {{ torso = 0.185, thigh = 0.65, shank = 0.63 }}
joints = {{ 4 = [{x}, 0.95], 6 = [-0.15, 0.55] }}
"""


def run(*words):
    return CliRunner().invoke(app, ["codesign", *map(str, words)])


def test_topologies_as_text_and_json():
    listed = run("topologies")
    assert listed.exit_code == 0
    assert "10 topologies, 126 actuator pairs" in listed.stdout
    found = json.loads(run("topologies", "--json").stdout)
    assert found["pairs"] == 126
    assert [len(one["pairs"]) for one in found["topologies"]] == [
        *(9, 12, 12, 12, 15, 12, 15, 12, 12, 15)
    ]
    assert found["topologies"][1]["joints"]["1"] == ["torso", "A"]
    odd = run("topologies", "--links", 5, "--json")
    assert odd.exit_code == 1
    assert "5 robot links" in json.loads(odd.stdout)["error"]


def test_a_drawing_is_written(tmp_path):
    path = tmp_path / "ten.png"
    assert run("draw", "-o", path).exit_code == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 20_000


def test_designs_are_accepted_or_rejected_with_a_reason(tmp_path):
    file = tmp_path / "design.toml"
    file.write_text(DESIGN.format(x=-0.2))
    good = run("check", file)
    assert good.exit_code == 0, good.output
    assert "accepted" in good.stdout
    file.write_text(DESIGN.format(x=-0.9))
    bad = run("check", file)
    assert bad.exit_code == 1
    assert "exceeds 0.7 m" in bad.stdout
    summary = json.loads(run("check", file, "--json").stdout)
    assert summary["verdict"] == "bar_too_long"
    assert "rejected" in summary["error"]
    missing = run("check", tmp_path / "none.toml")
    assert missing.exit_code == 1


def test_a_search_writes_its_folder_and_reports_again(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMODYN_TIER", "interpreted")
    study = tmp_path / "short.toml"
    study.write_text(
        'name = "short"\ntopologies = [1]\nduration = 0.1\nstep = 0.002\npopulation = 40\n'
        "iterations = 2\n"
    )
    folder = tmp_path / "robots"
    done = run("search", study, "-o", folder, "--json", "--quiet")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["search"]["candidates"] == 80
    assert sum(found["search"]["outcomes"].values()) == 80
    assert found["search"]["evaluations"] < 80
    assert (folder / "study.db").is_file()
    again = run("report", study, folder, "-o", tmp_path / "page", "--json")
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["group"] == found["group"]
    assert (tmp_path / "page" / "report.html").is_file() == bool(found["files"])
    missing = run("report", study, tmp_path / "nowhere", "-o", tmp_path / "none")
    assert missing.exit_code == 1
    assert "there is no search here" in missing.output
