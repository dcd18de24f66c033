"""Compare optimizers on standard functions at equal evaluations, for the tables of the guide.

Example: python tools/search_table.py
"""

import sys
import time

import numpy as np

from homodyn.search import CMAES, GA, PSO
from homodyn.search.optimizers.benchmark_functions import BENCHMARK_FUNCTIONS

RUNS = 7
SIZES = (2, 10, 30, 50)
EVALUATIONS_PER_DIMENSION = 1000
MIN_VALUE = 1e-12
"""Value below which the minimum counts as found."""
PUBLISHED_MEANS = {
    "sphere": (4.14, 0.0035, 6.17e-8),
    "rosenbrock": (91.5, 32.2, 37.4),
    "rastrigin": (99.5, 86.2, 46.5),
}
"""Mean errors of 20 particles after 1000 iterations in 30 dimensions: the standard type, CPSO and
the optimized parameters of Meissner, Schmuker and Schneider (BMC Bioinformatics 7:125, 2006,
doi:10.1186/1471-2105-7-125, Table 4)."""
PUBLISHED_RUNS = 25


def best_value(settings, benchmark, size, evaluations, seed):
    """The best value after a number of evaluations."""
    population = settings.population
    iterations = evaluations // population
    search = settings.start(benchmark.space(size), seed=seed, iterations=iterations)
    best = np.inf
    for _ in range(iterations):
        values = benchmark.function(search.ask().values)
        best = min(best, float(values.min()))
        if best < MIN_VALUE:
            return 0.0
        search.tell(values)
    return best


def median(settings, name, size):
    """The median of several runs."""
    benchmark = BENCHMARK_FUNCTIONS[name]
    evaluations = EVALUATIONS_PER_DIMENSION * size
    runs = [best_value(settings, benchmark, size, evaluations, seed) for seed in range(RUNS)]
    return float(np.median(runs))


def mean(settings, name, evaluations):
    """The mean of several runs in 30 dimensions."""
    runs = [
        best_value(settings, BENCHMARK_FUNCTIONS[name], 30, evaluations, seed)
        for seed in range(PUBLISHED_RUNS)
    ]
    return float(np.mean(runs))


def print_comparison(published, names, population, evaluations):
    """Print a table of means and published means."""
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
    print_comparison(PUBLISHED_MEANS, ("standard type", "CPSO", "optimized"), 20, 20_000)
    print("| function | dimensions | evaluations | PSO | PSO, ring | GA | CMA-ES |")
    print("|---|---|---|---|---|---|---|")
    for name in BENCHMARK_FUNCTIONS:
        for size in SIZES:
            optimizers = (
                PSO(40),
                PSO(40, neighbors="ring"),
                GA(40),
                CMAES(4 + int(3 * np.log(size))),
            )
            cells = [f"{median(each, name, size):.2g}" for each in optimizers]
            print(
                f"| {name} | {size} | {EVALUATIONS_PER_DIMENSION * size} | {' | '.join(cells)} |",
                flush=True,
            )


if __name__ == "__main__":
    start = time.perf_counter()
    main()
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
