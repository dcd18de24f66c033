import numpy as np
import pytest

from homodyn.errors import SearchError
from homodyn.report.search_figures import (
    MAX_SUBSPACES,
    convergence,
    migration_curves,
    parallel_coordinates,
    save_figures,
    visit_map,
)
from homodyn.search import MMPSO, PSO, Job, Objective, Pool, SearchParameter, Study, run
from homodyn.search.jobs import ExecutionSettings


def evaluate(parameters, structure):
    wrong = sum(group != "b" for group in structure.values())
    return 5 * parameters["x"] ** 2 + wrong, parameters["x"] ** 2 + parameters.get("y", 1) + wrong


@pytest.fixture(scope="module")
def study():
    job = Job(
        [SearchParameter("x", -2, 2, "m"), SearchParameter("y", 0.01, 1, scale="log")],
        [Objective("reach", until="< 2"), Objective("cost", unit="J")],
        name="forms",
        pools=[Pool(f"p{k}", {"a": ("x",), "b": ("x", "y"), "c": ()}) for k in range(5)],
        optimizer=MMPSO(20, explore="0.1 * sigmoid((N / 2 - k) / 3)"),
        iterations=20,
        run=ExecutionSettings(where="serial"),
    )
    # x belongs to some groups only: where it does not, it is no parameter.
    return run(job, lambda p, structure: evaluate({"x": 1.0, **p}, structure)).study


def test_convergence_has_a_panel_for_each_stage(study):
    plots = convergence(study).axes
    assert [plot.get_ylabel() for plot in plots] == ["reach", "cost (J)"]
    for plot in plots:
        best = next(line for line in plot.lines if line.get_label() == "best so far")
        drawn = best.get_ydata()
        drawn = drawn[np.isfinite(drawn)]
        assert (np.diff(drawn) <= 0).all()


def test_the_best_is_drawn_over_all_parameters(study):
    plot = parallel_coordinates(study, 10).axes[0]
    assert [label.get_text() for label in plot.get_xticklabels()] == ["x (m)", "y"]
    best = study.best()
    red = next(line for line in plot.lines if line.get_linewidth() == 2.0)
    np.testing.assert_allclose(red.get_ydata()[0], (best.values[0, 0] + 2) / 4)
    # Ten leaders, the best of all, and an axis for each of two parameters.
    assert len(plot.lines) == 13


def test_visits_add_up(study):
    figure = visit_map(study)
    table = np.nan_to_num(figure.axes[0].images[0].get_array().filled(0))
    assert table.sum() == 400
    assert len(table) == MAX_SUBSPACES + 1
    assert figure.axes[0].get_yticklabels()[-1].get_text().endswith("others")


def test_migration_curves_are_those_of_the_job(study):
    job = Job.model_validate(study.job)
    plot = migration_curves(job).axes[0]
    np.testing.assert_array_equal(plot.lines[0].get_ydata(), job.optimizer.probabilities(20)[:, 0])


def test_a_study_without_pools_has_two_figures(tmp_path):
    job = Job([SearchParameter("x", -2, 2)], [Objective("f")], optimizer=PSO(4), iterations=2)
    done = run(job, lambda p: p["x"], where="serial")
    paths = save_figures(done.study, tmp_path / "figures")
    assert [path.name for path in paths] == ["convergence.png", "parameters.png"]
    assert all(path.read_bytes()[:4] == b"\x89PNG" for path in paths)


def test_an_empty_study_is_refused():
    job = Job([SearchParameter("x", -2, 2)], [Objective("f")])
    study = Study.create(None, name="empty", job=job.text)
    for draw in (convergence, parallel_coordinates, visit_map):
        with pytest.raises(SearchError, match="has no"):
            draw(study)
