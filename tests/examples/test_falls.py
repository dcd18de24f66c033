"""The example of falls does what it tells."""

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


def test_the_example_writes_what_it_tells(tmp_path, monkeypatch):
    monkeypatch.setattr(falls_, "PUSHES", np.linspace(0.2, 0.8, 3))
    monkeypatch.setattr(falls_, "DURATION", 0.4)
    told: list[str] = []
    picture = falls_.run(tmp_path / "out", told.append)
    text = "\n".join(told)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 20_000
    assert hd.load(tmp_path / "out" / "person.toml") == falls_.person()
    assert "carried with 745.6 N" in text
    drift = float(re.search(r"energy is kept to (\S+) of", text)[1])
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
