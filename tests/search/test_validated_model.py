"""Objects that describe a search: brief to print, plain data and back."""

import pytest

from homodyn.errors import SearchError
from homodyn.search import MMPSO, Job, Pool, SearchParameter, Space
from homodyn.search.optimizers import SearchSetup
from support.search_objectives import camel_job

SPACE = Space(
    [SearchParameter(f"x{k}", 0, 1, "m") for k in range(50)],
    [Pool("form", {"one": ("x1",), "two": ()})],
)


def test_they_print_in_ten_lines_without_defaults():
    for item in (SPACE, camel_job(), SearchSetup(SPACE)):
        assert len(repr(item).splitlines()) <= 10
        assert max(map(len, repr(item).splitlines())) <= 100
    assert "scale" not in repr(SPACE.parameters[0])
    assert repr(MMPSO(30)).splitlines() == ["MMPSO", "  population  30"]


def test_they_become_plain_data_and_back():
    assert Space.from_dict(SPACE.to_dict()) == SPACE
    job = camel_job(optimizer=MMPSO(30), iterations=7)
    assert Job.from_dict(job.to_dict()) == job
    setup = SearchSetup.from_dict(SearchSetup(SPACE, seed=3).to_dict())
    assert (setup.space, setup.seed) == (SPACE, 3)


def test_wrong_data_is_refused_with_all_errors():
    with pytest.raises(SearchError) as caught:
        SearchParameter.from_dict({"name": "x", "lower": "low", "top": 1})
    assert len(caught.value.reasons) == 3
