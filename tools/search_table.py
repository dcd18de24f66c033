"""Compare optimizers on standard functions at equal evaluations, as the tables of the guide.

Example: python tools/search_table.py
"""

import sys
import time

import numpy as np

from homodyn.search import CMAES, GA, PSO
from homodyn.search.benchmark_functions import BENCHMARK_FUNCTIONS

RUNS = 7
SIZES = (2, 10, 30, 50)
PER_SIZE = 1000
"""Evaluations for each dimension in the first table."""
LEAST = 1e-12
"""What counts as found."""
SMALL_BUDGET = {
    "sphere": (4.14, 0.0035, 6.17e-8),
    "rosenbrock": (91.5, 32.2, 37.4),
    "rastrigin": (99.5, 86.2, 46.5),
}
"""Mean errors of 20 particles after 1000 iterations in 30 dimensions: the standard type, CPSO and
the parameters that they optimise (Meissner, Schmuker and Schneider, BMC Bioinformatics 7:125, 2006,
doi:10.1186/1471-2105-7-125, Table 4)."""
PUBLISHED_RUNS = 25


def found(settings, known, size, evaluations, seed):
    """The least value after so many evaluations."""
    population = settings.population
    iterations = evaluations // population
    search = settings.start(known.space(size), seed=seed, iterations=iterations)
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
    known = BENCHMARK_FUNCTIONS[name]
    runs = [found(settings, known, size, PER_SIZE * size, seed) for seed in range(RUNS)]
    return float(np.median(runs))


def mean(settings, name, evaluations):
    """The mean of as many runs as were published, in 30 dimensions."""
    runs = [
        found(settings, BENCHMARK_FUNCTIONS[name], 30, evaluations, seed)
        for seed in range(PUBLISHED_RUNS)
    ]
    return float(np.mean(runs))


def compared(published, names, population, evaluations):
    """Print a table beside published means."""
    print(f"| function | PSO | PSO, ring | {' | '.join(names)} |")
    print("|---" * (3 + len(names)) + "|")
    for name, figures in published.items():
        ours = [
            mean(PSO(population, neighbors=neighbors), name, evaluations)
            for neighbors in ("all", "ring")
        ]
        cells = [f"{figure:.3g}" for figure in (*ours, *figures)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print()


def main() -> None:
    """Print all tables in Markdown."""
    compared(SMALL_BUDGET, ("standard type", "CPSO", "optimised"), 20, 20_000)
    print("| function | dimensions | evaluations | PSO | PSO, ring | GA | CMA-ES |")
    print("|---|---|---|---|---|---|---|")
    for name in BENCHMARK_FUNCTIONS:
        for size in SIZES:
            rivals = (
                PSO(40),
                PSO(40, neighbors="ring"),
                GA(40),
                CMAES(4 + int(3 * np.log(size))),
            )
            cells = [f"{median(rival, name, size):.2g}" for rival in rivals]
            print(f"| {name} | {size} | {PER_SIZE * size} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    start = time.perf_counter()
    main()
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
