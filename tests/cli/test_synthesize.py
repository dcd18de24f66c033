"""``homodyn synthesize``: what it refuses, and a step from start to page."""

import json
import re
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from homodyn import capture, gait
from homodyn.cli import app


def run(*words):
    return CliRunner().invoke(app, ["synthesize", *map(str, words)])


def test_a_speed_and_a_free_one_exclude_each_other(tmp_path):
    result = run("--free", "--speed", 1.5, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "exclude each other" in result.output


def test_words_that_mean_nothing_are_refused(tmp_path):
    assert "no objective 'comfort'" in run("--objective", "comfort", "-o", tmp_path / "a").output
    assert "expected a speed in m/s" in run("--speed", "fast", "-o", tmp_path / "b").output
    assert "exists already" in run("-o", tmp_path).output
    slippery = run("--friction", -1, "-o", tmp_path / "c").output
    assert "friction is a number of 0 or more, got -1.0" in slippery


def test_a_speed_that_no_one_walks_at_names_the_reason(tmp_path):
    result = run("--speed", 6, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "no step at 6 m/s" in result.output
    assert not (tmp_path / "out").exists()


@pytest.fixture
def coarse(monkeypatch):
    """A mesh so coarse, and so few iterations, that a search takes seconds."""
    search = gait.synthesis.synthesize_step

    def coarse_search(*args, options, **others):
        coarse = replace(options, intervals=(2, 1, 1, 1), defect_tolerance=None, max_iterations=20)
        return search(*args, options=coarse, **others)

    monkeypatch.setattr(gait.synthesis, "synthesize_step", coarse_search)


def test_a_step_at_a_speed_is_found_and_shown(tmp_path):
    result = run("--speed", 1.5, "--objective", "time", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert re.search(r"^time at 1.5 m/s(, \d+ intervals)?: solved", result.output, re.M)
    assert "1.500 m/s" in result.output
    assert (tmp_path / "out" / "index.html").exists()


def test_a_recorded_walk_is_the_reference(tmp_path):
    from homodyn.gait.synthesis import stride_motion

    model = gait.walking_model()
    walk = stride_motion(model, gait.stored_steps()["mixed free"], steps=6)
    table = capture.Table(model.coordinate_names, walk.time, walk.q)
    capture.write_table(table, tmp_path / "walk.mot")
    result = run("--stored", "--reference", tmp_path / "walk.mot", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["reference"]["name"] == "walk"
    near = {row["name"]: row["distance_from_walk"] for row in summary["steps"]}
    assert min(near, key=near.get) == "mixed free"
    absent = run("--stored", "--reference", tmp_path / "none.mot", "-o", tmp_path / "b")
    assert absent.exit_code == 1
    assert "there is no such file" in absent.output


def test_walking_on_ice_ends_and_names_friction(tmp_path, coarse):
    result = run("--speed", 2, "--friction", 0.01, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "friction" in result.output
    assert "\nviolated constraints, worst first:\n" in result.output
    assert "Error: no solution: mixed 2 (" in result.output
    assert (tmp_path / "out" / "summary.json").exists()
