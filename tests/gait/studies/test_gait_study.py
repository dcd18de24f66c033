"""Gait studies: objectives against recorded simulations, broken and fallen candidates, searches."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import HomodynError
from homodyn.gait.studies import load_study
from homodyn.gait.studies.gait_solution import completed_stages, solve_gait
from homodyn.search import PSO, Objective
from homodyn.simulate import SimulationStatus

ALL = (
    *("time", "speed", "speed_match", "speed_std", "assist_time", "flight_time", "torque"),
    *("squared_torque", "power", "cost_of_transport", "positive_cost_of_transport"),
    *("signed_cost_of_transport", "dimensionless_cost_of_transport", "limit_violation"),
    "pitch_std",
)


@pytest.fixture(scope="module")
def study():
    """A short study with every objective."""
    short = load_study("human", duration=0.6)
    objectives = tuple(
        Objective(name, maximize=hd.gait.studies.GAIT_OBJECTIVES[name].maximize) for name in ALL
    )
    return hd.gait.Study(
        "all", short.model, short.controller, objectives, speed=1.3, duration=0.6, iterations=3
    )


@pytest.fixture(scope="module")
def candidates(study):
    rng = np.random.default_rng(5)
    low = np.array([one.lower for one in study.space.parameters])
    high = np.array([one.upper for one in study.space.parameters])
    return low + rng.uniform(size=(40, len(low))) * (high - low)


def test_objectives_are_those_of_the_recorded_simulation(study, candidates):
    found = study.evaluate(candidates)
    alive = np.flatnonzero(found.end_time > 0.59)
    k = int(alive[0])
    names = study.space.names
    result = study.replay(dict(zip(names, candidates[k], strict=True)))
    window = result.time[:-1] + study.dt / 2 > 0.3
    v = (result.v[1:] + result.v[:-1]) / 2
    motors = list(study.context.motors)
    torque = result.torques[:-1][window][:, motors]
    power = torque * v[window][:, motors]
    speed = v[window][:, 0]
    pitch = result.q[:-1][window][:, 2]
    weight = study.model.mass * 9.81
    expected = {
        "time": 1.0,
        "speed": speed.mean(),
        "speed_match": min(speed.mean(), 1.3) / max(speed.mean(), 1.3),
        "speed_std": speed.std(),
        "assist_time": study.dt * (np.abs(pitch) > np.deg2rad(5)).sum(),
        "flight_time": study.dt * (result.total_force[:-1][window][:, 2] <= 0).sum(),
        "torque": np.abs(torque).sum(axis=1).mean(),
        "squared_torque": np.square(torque).sum(axis=1).mean(),
        "power": np.abs(power).sum(axis=1).mean(),
        "cost_of_transport": np.abs(power).sum(axis=1).mean() / speed.mean(),
        "signed_cost_of_transport": power.sum(axis=1).mean() / speed.mean(),
        "positive_cost_of_transport": np.maximum(power, 0).sum(axis=1).mean() / speed.mean(),
        "dimensionless_cost_of_transport": np.abs(power).sum(axis=1).mean() / speed.mean() / weight,
        "pitch_std": pitch.std(),
    }
    for name, value in expected.items():
        assert found.objectives[name][k] == pytest.approx(value, rel=2e-3, abs=2e-3), name


def test_candidates_that_break_have_no_value(study, candidates):
    """A broken simulation is planted: a target that is not finite in one candidate."""
    broken = candidates[:8].copy()
    broken[3, study.space.names.index("hip target y1")] = np.inf
    found = study.evaluate(broken)
    assert found.broken[3]
    assert np.isnan(found.objectives["torque"][3])
    assert (
        not found.broken[[0, 1, 2]].any()
        or np.isnan(found.objectives["torque"][found.broken]).all()
    )


def test_candidates_that_fall_early_have_the_worst_value(study, candidates):
    found = study.evaluate(candidates)
    fell = (found.end_time < 0.3) & ~found.broken
    for name in ("speed_match", "torque"):
        worst = hd.gait.studies.GAIT_OBJECTIVES[name].worst
        assert (found.objectives[name][fell] == worst).all()


def test_a_search_improves_and_is_reproducible():
    short = load_study("human", duration=0.5, population=12, iterations=4)
    first, again = (short.search(3) for _ in "ab")
    assert first.study.fingerprint() == again.study.fingerprint()
    assert first.evaluations == 48
    solution = solve_gait(short, first.best.parameters)
    assert solution.objectives == pytest.approx(first.best.objectives)
    assert solution.stage == completed_stages(short, first.best.objectives)
    assert solution.result.status in (SimulationStatus.FINISHED, SimulationStatus.ENDED)
    assert "last objective" in solution.sentence


def test_a_search_starts_from_an_earlier_one(tmp_path):
    short = load_study("human", duration=0.4, population=6, iterations=2)
    earlier = short.search(1, database=tmp_path / "first.db")
    later = short.search(2, seeding=[tmp_path / "first.db"])
    table = later.study.to_pandas()
    name = short.space.names[0]
    assert np.isclose(table[name].iloc[:6], earlier.best.parameters[name]).any()


def test_wrong_studies_are_refused(study):
    with pytest.raises(HomodynError, match="better when smaller"):
        hd.gait.Study(
            "x", study.model, study.controller, (Objective("torque", maximize=True),), speed=1.0
        )
    with pytest.raises(HomodynError, match="gait objective 'grace'"):
        hd.gait.Study("x", study.model, study.controller, (Objective("grace"),), speed=1.0)
    with pytest.raises(HomodynError, match="speed of study 'x' must be positive"):
        hd.gait.Study("x", study.model, study.controller, (Objective("torque"),), speed=0)
    with pytest.raises(HomodynError, match="missing 'ankle"):
        study.replay({})


def test_optimizer_of_the_study_is_the_published_one():
    human = load_study("human")
    assert human.optimizer == PSO.with_constriction(120)
    assert human.iterations == 500
