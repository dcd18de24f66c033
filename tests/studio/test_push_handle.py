"""The push handle acts like a spring while it is dragged."""

import numpy as np
import pytest

from homodyn import catalog
from homodyn.model import Assembly, joints, sphere
from homodyn.studio.push_handle import PushHandle


def test_a_dragged_handle_is_a_spring_and_otherwise_follows_its_segment(studio):
    model = catalog.heiman()
    handle = PushHandle(studio)
    handle.attach(model, model.neutral(), "HandRight")
    handle.stiffness = 400.0
    assert handle.spring(model) is None
    start = np.array(handle.node.position)
    target = start + np.array([0.1, 0.0, 0.2])
    handle.node.position = target
    handle.dragging = True
    handle.follow(model, model.neutral())
    spring = handle.spring(model)
    assert (spring.segment, spring.stiffness) == ("HandRight", 400.0)
    np.testing.assert_allclose(spring.position, target, atol=1e-9)
    handle.dragging = False
    handle.follow(model, model.neutral())
    np.testing.assert_allclose(handle.node.position, start, atol=1e-3)
    handle.detach()
    assert handle.node is None
    assert handle.spring(model) is None


def test_a_handle_is_larger_than_a_thick_segment(studio):
    handle = PushHandle(studio)
    for radius, size in ((0.3, 1.6 * 0.3), (0.05, 0.25)):
        model = (
            Assembly("ball")
            .add(sphere("ball", mass=2.0, radius=radius), joints.free())
            .contact("skin", "ball", "sphere", radius=radius)
            .model()
        )
        handle.attach(model, model.neutral(), "ball")
        assert handle.node.scale == pytest.approx(size)
    handle.detach()
