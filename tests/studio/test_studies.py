"""Networks, studies and balance on the page: numbers that follow, figures that agree."""

from pathlib import Path

import numpy as np
import pytest

from homodyn import balance, network, search
from homodyn.errors import HomodynError
from homodyn.studio import StudioDocument
from homodyn.studio.balance_evaluation import (
    BalanceScene,
    evaluate_motion,
    evaluate_scene,
    path_trial,
)
from homodyn.studio.file_opening import from_catalog, open_path
from homodyn.studio.network_runs import (
    MAX_SAMPLES,
    LatestRunner,
    OpenNetwork,
    columns,
    run_network,
    scalars,
    slider_range,
)
from homodyn.studio.panels.balance import BalancePanel
from homodyn.studio.panels.network import NetworkPanel
from homodyn.studio.panels.search import SearchPanel
from homodyn.studio.study_progress import StudyDatabase, read_progress
from support.waiting import until

SPRING = """
k = 4
node "mass" { x = 1  v = 0  x' = "v"  v' = "-k * x"  both = "[x; v]" }
integrator { method = "runge-kutta" default-timestep = "0.01" }
"""
SCENES = Path(balance.__file__).parent / "scenes"


@pytest.fixture
def spring_file(tmp_path):
    path = tmp_path / "spring.cdn"
    path.write_text(SPRING)
    return path


def test_sliders_have_room_around_the_number_they_begin_with():
    for value in (0.0, 3.0, -2e-4, 12345.0):
        low, high, step = slider_range(value)
        assert low <= value <= high
        assert 100 < (high - low) / step < 20_000


def test_a_network_runs_again_with_other_numbers(spring_file):
    sheet = open_path(spring_file)
    assert isinstance(sheet, OpenNetwork)
    assert scalars(sheet.network)["k"] == 4.0
    found = run_network(sheet.network, {"k": 9.0}, 2.0, 0.01)
    np.testing.assert_allclose(found.record["mass.x"], np.cos(3 * found.record.t), atol=1e-6)
    assert list(columns(found.record, "mass.both")) == ["mass.both[0]", "mass.both[1]"]
    assert "more than" in run_network(sheet.network, {}, 1.0, 0.5 / MAX_SAMPLES).error
    assert "no variable" in run_network(sheet.network, {"kk": 1.0}, 1.0, 0.01).error


def test_the_newest_numbers_win(spring_file):
    heard = []
    follower = LatestRunner(network.load(spring_file).prepare(), heard.append)
    for k in range(1, 60):
        follower.ask({"k": float(k)}, 1.0, 0.01)
    until(lambda: not follower._busy, "all runs")
    assert 1 <= len(heard) < 59
    last = heard[-1].record
    np.testing.assert_allclose(last["mass.x"], np.cos(np.sqrt(59) * last.t), atol=1e-4)


def test_a_network_on_the_page_follows_its_sliders(studio, spring_file):
    studio.open(open_path(spring_file), "spring.cdn")
    panel = studio.layout.panel(NetworkPanel)
    until(lambda: panel.run_network is not None, "a run")
    studio.wait_until_drawn()
    assert panel.choices[0].value == "mass.x"
    assert panel.plots[0] is not None
    before = panel.run_network
    panel._slide("k", 1.0)
    until(lambda: panel.run_network is not before, "another run")
    assert panel.run_network.record["mass.x"][100] == pytest.approx(np.cos(1.0), abs=1e-4)
    panel.filter.value = "mass"
    panel._rebuild_sliders()
    assert set(panel.sliders) == {"mass.x", "mass.v"}


def sought(place, iterations):
    def bowl(values):
        return ((values - 0.3) ** 2).sum(axis=1) + 1.0

    bounds = {"x": (-1, 1), "y": (-1, 1)}
    return search.minimize(bowl, bounds, batch=True, iterations=iterations, database=place)


@pytest.fixture
def study(tmp_path):
    place = tmp_path / "bowl.db"
    return place, sought(place, 12)


def test_a_study_is_told_by_its_generations(study):
    place, result = study
    found = read_progress(place)
    assert found.overview.generations == 12
    assert found.objective == "value"
    assert found.so_far[-1] == pytest.approx(result.best.objectives["value"])
    assert (np.diff(found.so_far) <= 0).all()
    assert (found.best >= found.so_far).all()


def test_a_study_on_the_page_shows_its_progress(studio, study):
    place, _ = study
    studio.open(open_path(place), "bowl.db")
    studio.wait_until_drawn()
    panel = studio.layout.panel(SearchPanel)
    assert "generation 12 of 12" in panel.state.content
    assert panel.progress.value == 100.0
    assert panel.plot is not None
    with pytest.raises(HomodynError, match="there is no study"):
        studio.open(StudyDatabase(place.with_name("none.db")), "none.db")


def test_a_study_is_looked_at_again_while_it_grows(studio, study, monkeypatch):
    monkeypatch.setattr("homodyn.studio.panels.search.POLL_INTERVAL_S", 0.05)
    place, _ = study
    studio.open(open_path(place), "bowl.db")
    panel = studio.layout.panel(SearchPanel)
    sought(place, 15)
    until(lambda: "generation 15 of 15" in panel.state.content, "another look")


def test_balance_of_a_walk_is_that_of_the_toolkit(walk_document):
    result = evaluate_motion(walk_document, 0.7)
    motion = walk_document.actor.motion
    expected = balance.evaluate(motion, balance.detect_contacts(motion, friction=0.7))
    np.testing.assert_allclose(result.evaluation.wrench, expected.wrench)
    best_time = motion.time[int(np.nanargmax(expected.wrench))]
    corners = result.polygon(best_time)
    assert len(corners) >= 3
    middle = corners[:, :2].mean(axis=0)
    assert np.linalg.norm(middle - result.center(best_time)[:2]) < 0.3
    assert len(result.supports(best_time)) >= 3
    assert result.balanced(best_time)
    assert result.path.shape == (200, 2, 3)
    np.testing.assert_allclose(result.path[0, 0], result.center(motion.time[0]), atol=1e-9)


def test_a_body_without_motion_is_not_judged():
    with pytest.raises(HomodynError, match="no motion"):
        evaluate_motion(StudioDocument().with_actor(from_catalog("bip")), 0.7)


def test_a_scene_of_supports_opens_as_what_it_is_and_plays(studio):
    thing = open_path(SCENES / "car.toml")
    assert isinstance(thing, BalanceScene)
    balance = evaluate_scene(thing)
    trial = path_trial(thing, balance)
    np.testing.assert_allclose(trial.time, balance.time, atol=1e-9)
    studio.open(thing, "car.toml")
    studio.wait_until_drawn()
    panel = studio.layout.panel(BalancePanel)
    assert panel.balance.owner == "car"
    assert panel.plot is not None
    assert studio.session.document.trial.name == "car"
    assert not studio.session.view().unsaved


def test_a_judgement_goes_with_its_motion(studio):
    panel = studio.layout.panel(BalancePanel)
    panel.balance = evaluate_motion(studio.session.document, 0.7)
    studio.wait_until_drawn()
    assert "walk" in panel.state.content
    studio.session.change("close", lambda d: d.without("walk"))
    studio.wait_until_drawn()
    assert panel.balance is None
