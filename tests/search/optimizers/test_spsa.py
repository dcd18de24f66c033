"""Simultaneous perturbation stochastic approximation."""

import pytest

from homodyn.errors import SearchError
from homodyn.search import SPSA, Job, SearchParameter


def test_stages_are_refused():
    with pytest.raises(SearchError, match="a single objective value, not stages"):
        Job(
            [SearchParameter("x", 0, 1)],
            [{"name": "f", "until": "< 0"}, {"name": "g"}],
            optimizer=SPSA(10),
        )
