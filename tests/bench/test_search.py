"""The search benchmark measures the overhead of every generation but the first."""

import numpy as np
import pytest

from homodyn.bench import search as bench


def test_both_objectives_are_the_first_parameter():
    values = np.random.default_rng(1).uniform(-1, 1, (4, len(bench.BOUNDS)))
    rows = [dict(zip(bench.BOUNDS, row, strict=True)) for row in values]
    np.testing.assert_array_equal(bench.free_batch(values), [bench.free(row) for row in rows])


@pytest.mark.parametrize("batch", [True, False])
def test_the_overhead_in_this_process_is_compared_with_its_limit(batch, monkeypatch):
    monkeypatch.setattr(bench, "POPULATION_SIZE", 20)
    row = bench._overhead("here", 1e9, 2, batch)
    assert row.name == "overhead per candidate, here"
    assert (row.unit, row.peer) == ("us", 1e9)
    assert row.ours >= 0
