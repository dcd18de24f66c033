"""Search for a gait like that of people with a small budget, and look at one of a long search.

The search begins at normative angles, so its first candidates walk already. ``python
examples/human_gait.py`` takes less than a minute; human_gait.json has the parameters of 350
generations (docs/gait-studies.md).
"""

import json
from pathlib import Path

import homodyn as hd
from homodyn.gait.studies.gait_solution import GaitSolution, solve_gait

FOUND = Path(__file__).with_suffix(".json")
GENERATIONS, DURATION_S = 12, 4.0


def search(generations: int = GENERATIONS, duration: float = DURATION_S) -> GaitSolution:
    """The best gait of a short search."""
    study = hd.gait.studies.load_study("human-normative", duration=duration)
    found = study.search(1, iterations=generations)
    assert found.best is not None
    return solve_gait(study, found.best.parameters)


def load_found(duration: float = 10.0) -> GaitSolution:
    """The gait of the long search, simulated again."""
    study = hd.gait.studies.load_study("human-normative", duration=duration)
    return solve_gait(study, json.loads(FOUND.read_text(encoding="utf-8")))


if __name__ == "__main__":
    for title, gait in (("short search", search()), ("long search", load_found())):
        print(f"{title}: {gait.sentence}")
        print(gait.comparison)
