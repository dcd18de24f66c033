"""The example of falls writes and reports what it simulates."""

import importlib.util
import re
from pathlib import Path

import numpy as np

import homodyn as hd

SPEC = importlib.util.spec_from_file_location(
    "falls", Path(__file__).resolve().parents[2] / "examples" / "falls.py"
)
falls_ = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(falls_)


def test_the_example_writes_a_figure_and_reports_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(falls_, "PUSHES", np.linspace(0.2, 0.8, 3))
    monkeypatch.setattr(falls_, "DURATION", 0.4)
    lines: list[str] = []
    figure = falls_.run(tmp_path / "out", lines.append)
    text = "\n".join(lines)
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert figure.stat().st_size > 20_000
    assert hd.load(tmp_path / "out" / "person.toml") == falls_.person()
    assert "a vertical force of 745.6 N" in text
    drift = float(re.search(r"relative energy error (\S+),", text)[1])
    assert drift < 1e-5


def test_pushed_people_fall_the_faster_the_harder_the_push(monkeypatch):
    monkeypatch.setattr(falls_, "DURATION", 0.3)
    person = falls_.person()
    falls = falls_.simulate(person, np.array([0.2, 0.8]))
    heights = hd.dynamics.center_of_mass(person, falls.q)[..., 2]
    assert (np.diff(heights[20:], axis=0) < 0).all()
    assert heights[-1, 1] < heights[-1, 0] < heights[0, 0]
    still = hd.dynamics.velocity(person, falls.q[-1], falls.v[-1], "HalluxLeft")
    np.testing.assert_allclose(still, 0, atol=1e-6)
