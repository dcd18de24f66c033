"""Compare optimisers on standard functions at equal evaluations, as the tables of the guide.

Example: python tools/search_table.py
"""

import sys
import time

import numpy as np

from homodyn.search import CMAES, GA, PSO
from homodyn.search.functions import KNOWN

RUNS = 7
SIZES = (2, 10, 30, 50)
PER_SIZE = 1000
"""Evaluations for each dimension in the first table."""
LEAST = 1e-12
"""What counts as found."""
PUBLISHED = {
    "sphere": ("0.0", "0.0"),
    "rosenbrock": ("8.16", "12.7"),
    "rastrigin": ("140", "145"),
    "ackley": ("17.7", "17.6"),
}
"""Means of Bratton and Kennedy 2007: constricted PSO with 50 particles, all or ring neighbours, 30
dimensions, 300 000 evaluations, first candidates in a corner; quoted without the paper at hand."""


def found(settings, known, size, evaluations, seed, *, corner=False):
    """The least value after so many evaluations."""
    population = settings.population
    iterations = evaluations // population
    search = settings.start(known.space(size, corner=corner), seed=seed, iterations=iterations)
    best = np.inf
    for _ in range(iterations):
        values = known.function(search.ask().values)
        best = min(best, float(values.min()))
        if best < LEAST:
            return 0.0
        search.tell(values)
    return best


def median(settings, name, size):
    """The median of several runs."""
    known = KNOWN[name]
    runs = [found(settings, known, size, PER_SIZE * size, seed) for seed in range(RUNS)]
    return float(np.median(runs))


def main() -> None:
    """Print both tables in Markdown."""
    print("| function | dimensions | evaluations | PSO | PSO, ring | GA | CMA-ES |")
    print("|---|---|---|---|---|---|---|")
    for name in KNOWN:
        for size in SIZES:
            rivals = (
                PSO(40),
                PSO(40, neighbours="ring"),
                GA(40),
                CMAES(4 + int(3 * np.log(size))),
            )
            cells = [f"{median(rival, name, size):.2g}" for rival in rivals]
            print(f"| {name} | {size} | {PER_SIZE * size} | {' | '.join(cells)} |", flush=True)
    print()
    print("| function | PSO | published | PSO, ring | published |")
    print("|---|---|---|---|---|")
    for name, published in PUBLISHED.items():
        cells = []
        for neighbours, figure in zip(("all", "ring"), published, strict=True):
            settings = PSO.constricted(50, max_velocity=1.0, neighbours=neighbours)
            runs = [
                found(settings, KNOWN[name], 30, 300_000, seed, corner=True) for seed in range(RUNS)
            ]
            cells += [f"{np.mean(runs):.3g}", figure]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    start = time.perf_counter()
    main()
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
