"""The example of wearable robots searches, counts and describes its best robot."""

import importlib.util
from pathlib import Path

SPEC = importlib.util.spec_from_file_location(
    "wearable_robots", Path(__file__).resolve().parents[2] / "examples" / "wearable_robots.py"
)
wearable_robots = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(wearable_robots)


def test_the_example_counts_what_it_simulated(monkeypatch, capsys):
    monkeypatch.setenv("HOMODYN_TIER", "interpreted")
    study = wearable_robots.prepare_study(topologies=(2,), duration=0.1, population=60)
    outcome, best = wearable_robots.main(study, iterations=3)
    assert outcome.candidates == 180
    assert 0 < outcome.evaluations < 180
    assert f"best of {outcome.evaluations} simulated: {best.group}" in capsys.readouterr().out
