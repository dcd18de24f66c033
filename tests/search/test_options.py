"""Options of searches: as a record, as keywords, and refusals."""

import pytest

from homodyn.errors import SearchError
from homodyn.search import SearchOptions, Study, minimize, run
from support.search_objectives import camel
from support.search_objectives import camel_job as job

BOUNDS = {"x": (-2, 2), "y": (-1, 1)}


def test_a_record_and_keywords_are_the_same(tmp_path):
    by_record = run(job(), camel, SearchOptions(database=tmp_path / "a.db", where="serial"))
    by_keywords = run(job(), camel, database=tmp_path / "b.db", where="serial")
    assert by_record.study.fingerprint() == by_keywords.study.fingerprint()
    assert Study.open(tmp_path / "a.db").name == "camel"


def test_keywords_override_the_record(tmp_path):
    options = SearchOptions(database=tmp_path / "a.db", stop_after=0.0)
    assert run(job(), camel, options).status == "stopped"
    assert run(job(), camel, options, stop_after=None).status == "finished"


def test_minimize_takes_options_and_fields_of_the_job(tmp_path):
    options = SearchOptions(database=tmp_path / "a.db", where="serial")
    result = minimize(camel, BOUNDS, options=options, iterations=3, name="mine", seed=4)
    assert result.generations == 3
    study = Study.open(tmp_path / "a.db")
    assert (study.name, study.job["seed"]) == ("mine", 4)
    assert study.job["run"]["where"] == "serial"


def test_unknown_fields_are_refused():
    with pytest.raises(SearchError, match="nonsense: is unknown"):
        minimize(camel, BOUNDS, nonsense=3)
    with pytest.raises(TypeError, match="nonsense"):
        run(job(), camel, nonsense=3)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [("workers", 0, "expected at least 1"), ("stop_after", -1.0, "expected 0 s or more")],
)
def test_values_out_of_range_are_refused(field, value, message):
    with pytest.raises(SearchError, match=message):
        SearchOptions(**{field: value})
