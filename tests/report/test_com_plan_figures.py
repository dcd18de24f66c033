"""The picture of a plan shows its path, its supports and its margin."""

import io

import numpy as np
import pytest

from homodyn.balance import load_scene, plan_com
from homodyn.report.com_plan_figures import com_plan_figure


@pytest.fixture(scope="module")
def plan():
    return plan_com(load_scene("complex"), rounds=1)


def test_the_picture_has_the_path_from_two_sides_and_the_margin(plan):
    figure = com_plan_figure(plan)
    above, beside, margin = figure.axes
    path = np.vstack([line.get_xydata() for line in above.lines[: len(plan.durations)]])
    assert np.allclose(path, plan.check.com[:, :2])
    assert len(above.patches) == len(plan.scene.supports) + len(plan.scene.boxes)
    assert any(np.allclose(line.get_ydata()[0], plan.scene.plan.start[2]) for line in beside.lines)
    drawn = np.concatenate([line.get_ydata() for line in margin.lines[: len(plan.durations)]])
    assert drawn.min() == pytest.approx(plan.margin)
    assert "N m" in margin.get_ylabel()


def test_the_picture_can_be_written(plan):
    target = io.BytesIO()
    com_plan_figure(plan).savefig(target, format="png", dpi=40)
    assert target.getvalue().startswith(b"\x89PNG")
