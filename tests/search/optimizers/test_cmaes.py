"""CMA-ES: restarts."""

import numpy as np

from homodyn.search import Space
from homodyn.search.optimizers import CMAES


def test_a_converged_strategy_starts_anew():
    """A constant basin stops the strategy; restarts go on from other points."""
    space = Space({"x": (-1.0, 1.0), "y": (-1.0, 1.0)})

    def run(restarts):
        search = CMAES(8, step=0.05, restarts=restarts).start(space, seed=1)
        centers = []
        for _ in range(150):
            values = search.ask().values
            centers.append(values.mean(axis=0))
            search.tell(np.zeros(len(values)))
        return search.restarts, np.array(centers)

    count, centers = run(3)
    assert 1 <= count <= 3
    assert np.abs(np.diff(centers, axis=0)).max() > 0.1
    assert run(None)[0] == 0
    assert run(3)[1].tobytes() == centers.tobytes()
