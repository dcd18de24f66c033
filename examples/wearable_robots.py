"""Search for robots of two topologies that carry a walking person, with a small budget.

All accepted candidates of a topology are simulated together. ``python examples/wearable_robots.py``
takes under a minute; a whole search is ``homodyn codesign search wearable -o robots``.
"""

from dataclasses import replace

import homodyn as hd
from homodyn.codesign.design_solution import solve_design
from homodyn.codesign.search_outcome import search_outcome
from homodyn.search import MMPSO


def prepare_study(topologies=(2, 5), duration=2.0, population=40):
    """A short study of some topologies, with springs on passive joints."""
    study = hd.codesign.load_design_study("wearable", topologies=topologies, name="example")
    task = replace(study.task, duration=duration)
    return replace(study, task=task, optimizer=MMPSO(population=population))


def main(study=None, iterations=20):
    """Search, and describe the best robot.

    Returns:
        Outcomes of all candidates, and the best robot.
    """
    study = prepare_study() if study is None else study
    found = study.search(1, iterations=iterations)
    outcome = search_outcome(study, found.study)
    print(outcome.headline())
    best = solve_design(study, found.best.parameters, found.best.structure)
    print(f"best of {outcome.evaluations} simulated: {best.group} {best.sentence}")
    print(f"{best.robot_mass:.1f} kg, bars {best.bars[0]:.2f} to {best.bars[1]:.2f} m")
    if best.cuffs is not None:
        print(f"mean force on all cuffs {best.cuffs.mean_sum:.0f} N")
    return outcome, best


if __name__ == "__main__":
    main()
