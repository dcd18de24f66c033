"""``homodyn validate``: a folder of recordings in, a page and tables out."""

import json

import pytest
from typer.testing import CliRunner

import homodyn as hd
from homodyn.cli import app
from support import strolls


def run(*words):
    return CliRunner().invoke(app, ["validate", *map(str, words)], prog_name="homodyn")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    (folder / "anna").mkdir()
    (folder / "ben").mkdir()
    hd.capture.write(strolls.standing().crop(0.0, 0.2), folder / "anna" / "stand.trc")
    (folder / "ben" / "broken.trc").write_text("nothing")
    return folder


def test_rows_are_printed_and_written(data, tmp_path):
    out = tmp_path / "out"
    result = run(data, "-o", out, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["recordings"]
    assert [(row["recording"], row["model"]) for row in found] == [
        ("anna/stand.trc", "catalog"),
        ("ben/broken.trc", "catalog"),
    ]
    assert found[0]["marker_rms"] < 0.01
    assert "70 kg is assumed" in " ".join(found[0]["notes"])
    assert found[1]["light"] is None
    assert (out / "report.html").is_file()
    again = run(data, "-o", out)
    assert again.exit_code == 1
    assert "--overwrite" in again.output


def test_nothing_but_failures_is_a_failure(data, tmp_path):
    result = run(data, "--only", "ben", "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "no result" in result.output
    as_json = run(data, "--only", "ben", "-o", tmp_path / "other", "--json")
    assert json.loads(as_json.stdout)["error"] == "no recording gave a result"
    refused = run(data, "--only", "carla", "-o", tmp_path / "third")
    assert "the path of no recording contains carla" in " ".join(refused.output.split())


def test_a_list_of_cases(data, tmp_path):
    cases = tmp_path / "cases.toml"
    cases.write_text('[[case]]\nrecording = "ben/broken.trc"\n')
    result = run(data, "--cases", cases, "-o", tmp_path / "out", "--json")
    assert [row["recording"] for row in json.loads(result.stdout)["recordings"]] == [
        "ben/broken.trc"
    ]
