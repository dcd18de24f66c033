"""Jumps of paths in series of states."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd


def only(model, name):
    return replace(model, muscles=tuple(m for m in model.muscles if m.name == name))


def bend(model, lower, upper, count):
    """States in which only the elbow moves."""
    states = np.tile(model.neutral(), (count, 1))
    states[:, 2] = np.linspace(lower, upper, count)
    return states


def test_a_conditional_point_off_the_line_makes_the_length_jump(wraps_model):
    model = only(wraps_model, "conditional")
    states = bend(model, 0.7, 1.1, 41)
    (jump,) = hd.muscle.find_path_jumps(model, states)
    assert jump.cause == "conditional point"
    assert jump.muscle == "conditional"
    assert states[jump.frame - 1, 2] < 0.9 <= states[jump.frame, 2] + 1e-12
    length = hd.muscle.lengths(model, states)[:, 0]
    assert jump.change_m == pytest.approx(length[jump.frame] - length[jump.frame - 1], abs=1e-3)


def test_engaging_a_wrap_object_is_no_jump(wraps_model):
    model = only(wraps_model, "cylinder")
    states = bend(model, -0.4, 2.3, 200)
    codes = hd.muscle.path_states(model, states)[:, 0]
    assert set(codes[:, 1]) == {0.0, 1.0}
    assert set(codes[:, 0]) == {3.0}
    assert hd.muscle.find_path_jumps(model, states) == ()


def test_a_path_over_the_other_side_is_a_jump(wraps_model):
    model = only(wraps_model, "cylinder_back")
    states = bend(model, -0.4, 2.3, 300)
    for jump in hd.muscle.find_path_jumps(model, states):
        assert jump.cause in ("wrap object", "side")
        length = hd.muscle.lengths(model, states[jump.frame - 1 : jump.frame + 1])[:, 0]
        assert abs(length[1] - length[0]) > 5e-4


def test_a_single_state_has_no_jump(wraps_model):
    assert hd.muscle.find_path_jumps(wraps_model, wraps_model.neutral()[None]) == ()
    with pytest.raises(hd.ModelError, match="shape"):
        hd.muscle.find_path_jumps(wraps_model, wraps_model.neutral())
