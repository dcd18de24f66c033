"""``homodyn balance``: scenes by name or file, and motions with their model."""

import csv
import re

from typer.testing import CliRunner

from homodyn.cli import app


def run(*words):
    return CliRunner().invoke(app, ["balance", *map(str, words)])


def test_a_scene_with_a_path_is_evaluated_and_drawn(tmp_path):
    shown = run("complex", "-o", tmp_path / "out")
    assert shown.exit_code == 0, shown.output
    assert "Smallest margin at 1.258 s, on left 1: 10.0 N m" in " ".join(shown.stdout.split())
    for name in ("margins.png", "polygons.png", "polytopes.png", "path.png"):
        assert (tmp_path / "out" / name).read_bytes()[:4] == b"\x89PNG"
    rows = list(csv.DictReader((tmp_path / "out" / "phases.csv").open()))
    assert [row["supports"] for row in rows][3] == "left 1"
    assert float(rows[3]["wrench_Nm"]) < 10.1
    frames = list(csv.DictReader((tmp_path / "out" / "margins.csv").open()))
    assert len(frames) == 401
    assert (tmp_path / "out" / "summary.txt").read_text().startswith("Smallest margin at 1.258 s")


def test_a_scene_without_a_path_gets_one_planned(tmp_path):
    shown = run("biped", "-o", tmp_path / "out")
    assert shown.exit_code == 0, shown.output
    text = " ".join(shown.stdout.split())
    assert "9 phases in 6.08 s" in text
    assert "No path has a margin above 84.37 N m" in text
    rows = csv.DictReader((tmp_path / "out" / "phases.csv").open())
    smallest = min(float(row["wrench_Nm"]) for row in rows)
    stated = re.search(r"smallest margin at [\d.]+ s on [\w ]+: ([\d.]+) N m", text)
    assert abs(smallest - float(stated[1])) < 0.1
    for name in ("plan.png", "margins.png", "path.png", "polytopes.png"):
        assert (tmp_path / "out" / name).read_bytes()[:4] == b"\x89PNG"


def test_without_a_plan_the_margin_between_stances_is_printed(tmp_path):
    shown = run("biped", "--no-plan", "-o", tmp_path / "out")
    assert shown.exit_code == 0, shown.output
    assert "no motion has a margin above 84.37 N m" in " ".join(shown.stdout.split())
    assert (tmp_path / "out" / "polygons.png").exists()


def test_a_motion_is_evaluated_with_its_model_and_plates(tmp_path, shared_data):
    folder = shared_data / "gait10dof"
    shown = run(
        folder / "ref_ik.mot",
        "--model",
        folder / "subject01.osim",
        "--plates",
        folder / "walk_grf.mot",
        "--degrees",
        "--friction",
        1.0,
        "-o",
        tmp_path / "out",
    )
    assert shown.exit_code == 0, shown.output
    assert "tips" in shown.stdout
    text = " ".join(shown.stdout.split())
    assert "exert the wrench measured by the plates in 99 % of 151 frames" in text
    assert "double support 100 %" in (tmp_path / "out" / "summary.txt").read_text()
    rows = list(csv.DictReader((tmp_path / "out" / "phases.csv").open()))
    assert len(rows) == 9
    assert {row["supports"] for row in rows} == {"left", "right", "right + left"}


def test_a_motion_without_its_model_is_refused_in_one_line(tmp_path):
    (tmp_path / "motion.mot").write_text("")
    shown = run(tmp_path / "motion.mot", "-o", tmp_path / "out")
    assert shown.exit_code == 1
    assert "needs a model, and there is no model.toml in the same folder; give --model" in " ".join(
        shown.stderr.split()
    )
    assert not (tmp_path / "out").exists()


def test_an_unknown_scene_is_refused_in_one_line(tmp_path):
    shown = run("lorry", "-o", tmp_path / "out")
    assert shown.exit_code == 1
    assert "biped, car, complex, quadruped, ramp" in " ".join(shown.stderr.split())
    assert not (tmp_path / "out").exists()


def test_an_existing_result_is_replaced_on_request_only(tmp_path):
    out = tmp_path / "out"
    first = run("biped", "--no-plan", "-o", out)
    assert first.exit_code == 0, first.output
    (out / "margins.png").write_text("of another scene")
    refused = run("biped", "--no-plan", "-o", out)
    assert refused.exit_code == 1
    assert "replace it with --overwrite" in " ".join(refused.stderr.split())
    assert (out / "margins.png").exists()
    again = run("biped", "--no-plan", "-o", out, "--overwrite")
    assert again.exit_code == 0, again.output
    assert sorted(path.name for path in out.iterdir()) == [
        "phases.csv",
        "polygons.png",
        "polytopes.png",
        "summary.txt",
    ]


def test_a_folder_with_other_content_is_never_replaced(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    refused = run("biped", "--no-plan", "-o", tmp_path, "--overwrite")
    assert refused.exit_code == 1
    assert "does not contain a result of this kind" in " ".join(refused.stderr.split())
    assert (tmp_path / "notes.txt").read_text() == "mine"
