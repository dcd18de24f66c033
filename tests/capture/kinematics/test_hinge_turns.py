"""Full revolutions of hinges are removed and nothing else changes."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.kinematics.hinge_turns import (
    unlimited_hinges,
    unwind_poses,
    unwind_trajectory,
)
from homodyn.dynamics import marker_positions
from homodyn.model import Model
from support.movements import swaying
from support.trees import coupled_tree

UNLIMITED = np.inf


@pytest.fixture(scope="module")
def person() -> Model:
    return hd.catalog.heiman()


def hinges_of(model: Model) -> np.ndarray:
    bounds = np.full(model.nv, UNLIMITED)
    return unlimited_hinges(model, -bounds, bounds)


def test_hinges_with_limits_are_left_out(person: Model) -> None:
    bounds = np.full(person.nv, UNLIMITED)
    knee = person.coordinate_index("KneeRight_RY")
    assert knee in hinges_of(person)
    bounds[knee] = 1.0
    assert knee not in unlimited_hinges(person, -bounds, bounds)


def test_hinges_that_drive_other_coordinates_are_left_out() -> None:
    model = coupled_tree()
    drivers = {
        model.coordinate_index(c.of) for c in model.couplers if c.of in model.coordinate_names
    }
    assert drivers
    assert not drivers & set(hinges_of(model).tolist())


def test_wound_poses_and_trajectories_come_back(person: Model) -> None:
    q = swaying(person, 12)
    hinges = hinges_of(person)
    turns = np.random.default_rng(3).integers(-25, 26, (12, len(hinges)))
    wound = q.copy()
    wound[:, hinges] += 2 * np.pi * turns
    near = person.neutral()
    for unwind in (unwind_poses, unwind_trajectory):
        found = unwind(person, wound, hinges, near)
        np.testing.assert_allclose(found, q, atol=1e-12)
        np.testing.assert_allclose(
            marker_positions(person, found), marker_positions(person, wound), atol=1e-11
        )


def test_a_trajectory_that_crosses_half_a_turn_stays_continuous(person: Model) -> None:
    q = np.tile(person.neutral(), (20, 1))
    knee = person.coordinate_index("KneeRight_RY")
    q[:, knee] = np.linspace(2.5, 4.0, 20)
    wrapped = q.copy()
    wrapped[:, knee] = np.mod(q[:, knee] + np.pi, 2 * np.pi) - np.pi
    found = unwind_trajectory(person, wrapped, np.array([knee]), person.neutral())
    assert np.abs(np.diff(found[:, knee])).max() < 0.1
