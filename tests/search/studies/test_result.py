"""Results of searches as records: plain data, tables and plots."""

import json

import numpy as np
import pytest

from homodyn.errors import SearchError
from homodyn.search import SearchProgress, SearchResult, SearchStatus, minimize, run
from support.search_objectives import camel, troubled
from support.search_objectives import camel_job as job


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return run(job(), troubled, database=tmp_path_factory.mktemp("study") / "a.db")


def test_a_result_survives_plain_data_without_its_study(result):
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    restored = SearchResult.from_dict(data)
    assert restored.status is SearchStatus.FINISHED
    assert restored.best == result.best
    assert restored.database == result.study.place
    assert (restored.evaluations, restored.failed) == (80, result.failed)
    with pytest.raises(SearchError, match=r"Study\.open"):
        _ = restored.study


def test_a_result_prints_briefly(result):
    lines = repr(result).splitlines()
    assert lines[0].startswith("SearchResult: finished after 8 generations and 80 candidates, ")
    assert len(lines) <= 10
    assert f"{result.failed} of them failed" in lines[0]


def test_the_table_has_all_candidates(result):
    pytest.importorskip("pandas")
    table = result.to_pandas()
    assert len(table) == 80
    assert (table["status"] != "ok").sum() == result.failed
    best = table.loc[table["f"].idxmin()]
    assert best["x"] == result.best.parameters["x"]


def test_the_plot_shows_best_and_mean_of_every_generation(result):
    axes = result.plot()
    best, mean = (line.get_ydata() for line in axes.get_lines())
    assert len(best) == 8
    assert min(best) == result.best.objectives["f"]
    assert (np.asarray(best) <= np.asarray(mean)).all()
    assert axes.get_ylabel() == "f"


def test_maximized_objectives_are_plotted_as_measured():
    found = minimize(
        lambda p: -camel(p),
        {"x": (-2, 2), "y": (-1, 1)},
        objectives=[{"name": "height", "maximize": True}],
        iterations=5,
        where="serial",
    )
    best = found.plot().get_lines()[0].get_ydata()
    assert max(best) == found.best.objectives["height"] > 0


def test_progress_is_a_record():
    reports = []
    minimize(camel, {"x": (-2, 2), "y": (-1, 1)}, iterations=2, progress=reports.append)
    # Reports within the first generation depend on the time that it takes; the last one does not.
    last = reports[-1]
    restored = SearchProgress.from_dict(json.loads(json.dumps(last.to_dict())))
    assert restored.best == last.best
    assert (
        restored.headline() == f"SearchProgress: generation 2 of 2, best value {restored.best:.6g}"
    )
