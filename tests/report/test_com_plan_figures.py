"""The figure of a plan shows its path, its supports and its margin."""

import io

import numpy as np
import pytest

from homodyn.balance import load_scene, plan_com
from homodyn.report.com_plan_figures import com_plan_figure


@pytest.fixture(scope="module")
def plan():
    return plan_com(load_scene("complex"), rounds=1)


def test_the_figure_has_two_views_of_the_path_and_the_margin(plan):
    figure = com_plan_figure(plan)
    top_view, side_view, margin = figure.axes
    path = np.vstack([line.get_xydata() for line in top_view.lines[: len(plan.durations)]])
    assert np.allclose(path, plan.check.com[:, :2])
    assert len(top_view.patches) == len(plan.scene.supports) + len(plan.scene.obstacles)
    assert any(
        np.allclose(line.get_ydata()[0], plan.scene.plan.start[2]) for line in side_view.lines
    )
    drawn = np.concatenate([line.get_ydata() for line in margin.lines[: len(plan.durations)]])
    assert drawn.min() == pytest.approx(plan.margin)
    assert "N m" in margin.get_ylabel()


def test_the_figure_can_be_written(plan):
    target = io.BytesIO()
    com_plan_figure(plan).savefig(target, format="png", dpi=40)
    assert target.getvalue().startswith(b"\x89PNG")
