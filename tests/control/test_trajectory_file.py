"""V39: files of trajectories, and what the interpolation passes."""

from pathlib import Path

import numpy as np
import pytest

from homodyn.control import ContactCode, TrajectoryPoints, read_trajectory, write_trajectory
from homodyn.errors import FormatError, ModelError

POINTS = TrajectoryPoints(
    np.random.default_rng(1).normal(size=(5, 21)), np.array([0.0, 0.8, 2.0]), (3, 1)
)


def test_v39_files_return_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "OneStep.traj3"
    write_trajectory(path, POINTS)
    found = read_trajectory(path)
    np.testing.assert_array_equal(found.positions, POINTS.positions)
    np.testing.assert_array_equal(found.times, POINTS.times)
    assert found.contacts == (ContactCode.DOUBLE, ContactCode.RIGHT)


def test_v39_stable_points_are_at_rest_and_intermediate_ones_are_passed() -> None:
    q, v, a = POINTS.interpolate([0.0, 0.8, 2.0])
    np.testing.assert_allclose(q, POINTS.positions[::2], atol=1e-12)
    np.testing.assert_allclose(v, 0, atol=1e-12)
    np.testing.assert_allclose(a, 0, atol=1e-10)
    np.testing.assert_allclose(
        POINTS.interpolate([0.4, 1.4])[0], POINTS.positions[1::2], atol=1e-12
    )


def test_velocities_and_accelerations_are_derivatives() -> None:
    t, h = np.linspace(-0.1, 2.1, 57), 1e-5
    before, now, after = (POINTS.interpolate(t + s * h) for s in (-1, 0, 1))
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), now[1], atol=1e-6)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), now[2], atol=2e-3)


def test_v39_the_number_of_positions_is_odd() -> None:
    with pytest.raises(ModelError, match="odd number of positions"):
        TrajectoryPoints(np.zeros((4, 2)), np.array([0.0, 1.0]), (1,))
    with pytest.raises(ModelError, match="increase"):
        TrajectoryPoints(np.zeros((3, 2)), np.array([1.0, 1.0]), (1,))
    with pytest.raises(ModelError, match=r"contact codes are 1 \(right\)"):
        TrajectoryPoints(np.zeros((3, 2)), np.array([0.0, 1.0]), (9,))


def test_the_contact_is_that_of_the_interval() -> None:
    assert [POINTS.contact(t).value for t in (0.0, 0.79, 0.8, 5.0)] == [3, 3, 1, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("Temps et contacts", "Temps"), "block 'Temps et contacts' is missing"),
        (("5\n", "7\n"), "Nombre de points is one number"),
        (("0.8", "later"), "line 6: numbers are needed"),
        (("\n3\n", "\n3.5\n"), "whole numbers"),
        (("\n3\n", "\n3\n3\n"), "as many numbers"),
    ],
)
def test_damaged_files_say_where(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = tmp_path / "bad.traj3"
    write_trajectory(path, POINTS)
    path.write_text(path.read_text().replace(*change, 1))
    with pytest.raises(FormatError, match=message):
        read_trajectory(path)
    with pytest.raises(FormatError, match="cannot be read"):
        read_trajectory(tmp_path / "none.traj3")
