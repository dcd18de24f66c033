"""Drawings of models: positions on the page, and complete files."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.patches import Polygon

import homodyn as hd
from homodyn.errors import FormatError
from homodyn.model import Assembly, joints, rod
from homodyn.motion.anatomical_axes import Axes
from homodyn.report import (
    draw_model,
    save_figure,
)


@pytest.fixture(scope="module")
def person():
    return hd.catalog.heiman()


@pytest.mark.parametrize(
    ("gravity", "forward", "left", "up"),
    [
        ((0, 0, -9.81), (1, 0, 0), (0, 1, 0), (0, 0, 1)),
        ((0, -9.81, 0), (1, 0, 0), (0, 0, -1), (0, 1, 0)),
        ((-1.6, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)),
        ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)),
    ],
)
def test_up_is_against_gravity(person, gravity, forward, left, up):
    axes = Axes.of(replace(person, gravity=np.array(gravity, dtype=float)))
    for found, expected in ((axes.forward, forward), (axes.left, left), (axes.up, up)):
        np.testing.assert_allclose(found, expected, atol=1e-15)


def test_a_model_with_y_up_stands_on_the_same_line():
    def leg(down, gravity, across):
        assembly = Assembly("leg").add(
            rod("thigh", 5.0, (0, 0, 0), tuple(0.4 * x for x in down)),
            joints.revolute(across),
            at=tuple(-0.8 * x for x in down),
        )
        return replace(assembly.model(), gravity=np.array(gravity, dtype=float))

    def heights(model):
        first, *_ = draw_model(model).axes
        return first.get_ylim()

    z_up = leg((0, 0, -1), (0, 0, -9.81), "y")
    y_up = leg((0, -1, 0), (0, -9.81, 0), "z")
    np.testing.assert_allclose(heights(y_up), heights(z_up))


def test_both_views_show_every_capsule_inside_of_their_frame(person):
    figure = draw_model(person)
    front, side = figure.axes
    assert [plot.get_title() for plot in (front, side)] == ["front", "right side"]
    assert front.get_ylim() == side.get_ylim()
    for plot in (front, side):
        outlines = [patch for patch in plot.patches if isinstance(patch, Polygon)]
        assert len(outlines) >= len(person.capsules)
        (left, right), (bottom, top) = plot.get_xlim(), plot.get_ylim()
        for outline in outlines:
            x, y = outline.get_xy().T
            assert left <= x.min() <= x.max() <= right
            assert bottom <= y.min() <= y.max() <= top


def test_views_have_one_scale(person):
    figure = draw_model(person)
    figure.canvas.draw()
    scales = []
    for plot in figure.axes:
        box = plot.get_window_extent()
        scales += [box.width / np.ptp(plot.get_xlim()), box.height / np.ptp(plot.get_ylim())]
    np.testing.assert_allclose(scales, scales[0], rtol=1e-3)


def test_labels_name_every_marker_and_do_not_overlap(person):
    assert not draw_model(person).axes[0].texts
    front, side = draw_model(person, labels=True).axes
    assert {text.get_text() for text in front.texts} == {m.name for m in person.markers}
    assert 0 < len(side.texts) < len(front.texts)
    for column in ("left", "right"):
        heights = sorted(t.get_position()[1] for t in front.texts if t.get_ha() == column)
        assert np.diff(heights).min() > 0.015 * np.ptp(front.get_ylim())


@pytest.mark.parametrize("name", [entry.name for entry in hd.catalog.entries()])
def test_every_body_of_the_catalog_can_be_drawn_in_any_pose(name, tmp_path):
    model = hd.catalog.build(name)
    path = tmp_path / "body.png"
    save_figure(draw_model(model, model.random(seed=1)), path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_same_drawing_is_the_same_file(person, tmp_path):
    for suffix in (".png", ".svg"):
        first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
        save_figure(draw_model(person), first)
        save_figure(draw_model(person), second)
        if suffix == ".png":
            assert first.read_bytes() == second.read_bytes()
        assert first.stat().st_size > 1000


def test_a_failed_save_leaves_no_file(person, tmp_path):
    with pytest.raises(FormatError, match=r"\.png, \.svg, \.pdf"):
        save_figure(draw_model(person), tmp_path / "body.bmp")
    with pytest.raises(FormatError, match="cannot be written"):
        save_figure(draw_model(person), tmp_path / "no" / "body.png")
    assert list(tmp_path.iterdir()) == []
