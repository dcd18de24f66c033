"""The folder of a step of Bip."""

import json
from html import escape
from pathlib import Path

import pytest

import homodyn as hd
from homodyn.control import read_trajectory
from homodyn.control.robot_step import RobotStepResult, simulate_step
from homodyn.report.robot_step_folder import robot_step_figures, write_robot_step


@pytest.fixture(scope="module")
def step() -> RobotStepResult:
    return simulate_step(duration=0.1)


def test_the_folder_is_complete_and_not_replaced_unasked(
    step: RobotStepResult, tmp_path: Path
) -> None:
    folder = tmp_path / "step"
    files = write_robot_step(step, folder)
    assert {path.name for path in files} == {path.name for path in folder.iterdir()}
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["sentence"] == step.sentence
    assert summary["observer_supports"][0] == {"time_s": 0.0, "support": "suspension"}
    points = read_trajectory(folder / "OneStep.traj3")
    assert (points.positions == step.trajectory.positions).all()
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert escape(step.assumptions[0]) in page
    with pytest.raises(hd.FormatError):
        write_robot_step(step, folder)


def test_figures_have_their_panels(step: RobotStepResult) -> None:
    figures = robot_step_figures(step)
    assert [len(figure.panels) for figure in figures] == [2, 2, 4]
