"""The gains that the example of standing finds satisfy statics."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import homodyn as hd

SPEC = importlib.util.spec_from_file_location(
    "standing", Path(__file__).resolve().parents[2] / "examples" / "standing.py"
)
standing = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(standing)


def test_the_best_body_stands_stably():
    result = standing.search(population=40, iterations=25)
    best = result.best
    assert best.objectives["upright"] == pytest.approx(standing.DURATION)
    # Springs must beat gravity in every direction: their stiffness, less what gravity takes, is
    # positive definite.
    small = 1e-6
    torques = hd.dynamics.inverse_dynamics(standing.BODY, small * np.eye(2), *np.zeros((2, 2)))
    springs = np.diag([best.parameters["ankle stiffness"], best.parameters["hip stiffness"]])
    assert np.linalg.eigvalsh(springs + torques / small).min() > 0
    rows = result.study.candidates(0)
    assert (rows.stage == 0).any(), "some must fall at first"
    assert best.objectives["effort"] < 0.9 * rows.results[rows.stage == 1, 1].min()


def test_a_candidate_has_the_same_results_alone_and_in_a_population():
    gains = np.array([[1300.0, 390.0, 2900.0, 77.0], [100.0, 10.0, 100.0, 10.0]])
    together, alone = (
        standing.evaluate(gains),
        [standing.evaluate(gains[k : k + 1]) for k in (0, 1)],
    )
    for figure in (0, 1):
        np.testing.assert_array_equal(
            together[figure], np.concatenate([each[figure] for each in alone])
        )
    assert together[0][0] == pytest.approx(standing.DURATION)
    assert together[0][1] < 0.9 * standing.DURATION
