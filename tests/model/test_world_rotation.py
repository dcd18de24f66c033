"""A rotated world changes where things are, not what coordinates mean."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.dynamics import inverse_dynamics, position
from homodyn.errors import ModelError
from homodyn.model import Assembly, ContactShape, Frame, Marker, box, joints
from homodyn.model.functions import Linear
from homodyn.model.muscles import Muscle, PathPoint, PathWrap, PointLaw, WrapObject
from homodyn.model.world_rotation import rotate_world, y_up_rotation
from homodyn.spatial import Transform, rotation

ROTATION = rotation(np.array([0.6, 0.0, 0.8]), 0.7)


def leg():
    arm = box("leg", 2.0, (0.1, 0.2, 0.3), com=(0, 0.1, -0.2))
    model = Assembly("leg").add(arm, joints.euler("xyz"), at=(0.1, 0.2, 0.3)).model()
    points = (PathPoint("o", "world", (0.3, 0.1, 0.4)), PathPoint("i", "leg", (0, 0.05, -0.2)))
    placed = Transform(rotation(np.array([0.0, 1.0, 0.0]), 0.3), np.array([0.15, 0.2, 0.2]))
    return replace(
        model,
        markers=(Marker("post", "world", (1, 2, 3)), Marker("toe", "leg", (0, 0, -0.4))),
        frames=(Frame("table", "world", placed),),
        contacts=(ContactShape("stop", "world", "sphere", (0.5, 0, 0), 0.1),),
        wraps=(WrapObject("bar", "world", "cylinder", (0.05, 0.4), placed),),
        muscles=(Muscle("m", "Thelen2003Muscle", points, (PathWrap("bar"),)),),
    )


def test_everything_in_the_world_turns_and_torques_and_lengths_stay():
    model = leg()
    turned = rotate_world(model, ROTATION)
    q, v, a = np.random.default_rng(1).uniform(-1, 1, (3, model.nv))
    for name in ("leg", "toe", "post", "table", "stop"):
        expected = ROTATION @ position(model, q, name)
        np.testing.assert_allclose(position(turned, q, name), expected, atol=1e-14)
    tau = inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(inverse_dynamics(turned, q, v, a), tau, atol=1e-13)
    lengths = hd.muscle.lengths(model, q)
    np.testing.assert_allclose(hd.muscle.lengths(turned, q), lengths, atol=1e-14)
    assert rotate_world(model, np.eye(3)) is model


def test_the_vertical_is_found_or_refused():
    model = leg()
    turned = rotate_world(model, y_up_rotation(model))
    assert turned.gravity[1] == model.gravity[2]
    assert np.array_equal(y_up_rotation(turned), np.eye(3))
    with pytest.raises(ModelError, match="vertical axis"):
        y_up_rotation(replace(model, gravity=(1.0, 0.0, 0.0)))
    with pytest.raises(ModelError, match="has parameters"):
        rotate_world(model.with_parameters("leg.mass"), ROTATION)
    point = PathPoint("p", "world", laws=(PointLaw("x", "leg_rx", Linear()),))
    moving = replace(model, muscles=(replace(model.muscles[0], points=(point,) * 2),))
    with pytest.raises(ModelError, match="moves in the world"):
        rotate_world(moving, ROTATION)
