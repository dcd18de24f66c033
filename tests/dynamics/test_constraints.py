"""Sets of constraints: names, union, equality, and messages for invalid ones."""

import numpy as np
import pytest

from homodyn.dynamics import ConstraintSet, Hinge, PointContact, RollingSphere, Weld
from homodyn.dynamics.constraint_rows import constraint_bias, constraint_jacobian
from homodyn.dynamics.constraints import Stabilization, row_names
from homodyn.errors import ModelError


def test_union_keeps_names_and_counts_equal_rows_once():
    heel = RollingSphere("heel_left")
    both = PointContact("hallux_left", directions="z") + heel + PointContact("hallux_left")
    assert row_names(both) == (
        "hallux_left z",
        "heel_left rolling x",
        "heel_left rolling y",
        "heel_left height",
        "hallux_left x",
        "hallux_left y",
    )
    assert both + both == both
    assert hash(both + heel) == hash(both)
    assert len(heel + RollingSphere("heel_left", exact=False)) == 5


def test_sets_of_equal_content_are_equal_and_arrays_count_as_numbers():
    plain = ConstraintSet((PointContact("foot", (0, 0, -1)),))
    array = ConstraintSet((PointContact("foot", np.array([0.0, 0.0, -1.0])),))
    other = ConstraintSet((PointContact("foot", (0, 0, -1.5)),))
    assert plain == array
    assert hash(plain) == hash(array)
    assert plain != other


def test_errors_state_what_is_accepted(person, kit):
    q, v, _ = kit.states(person, 1, 13)
    with pytest.raises(ModelError, match=r"'toe'.*pelvis"):
        constraint_jacobian(person, q, PointContact("toe"))
    with pytest.raises(ModelError, match="letters out of 'xyz'"):
        PointContact("foot_left", directions="xq")
    with pytest.raises(ModelError, match="unit vector"):
        Hinge("foot_left", axis=(1.0, 1.0, 0.0))
    with pytest.raises(ModelError, match=r"shape \(3,\)"):
        PointContact("foot_left", (0.0, 1.0))
    with pytest.raises(ModelError, match="are fixed to the same body"):
        constraint_jacobian(person, q, Weld("sole_left", "foot_left"))
    loose = ConstraintSet((PointContact("foot_left"),)).with_stabilization(
        Stabilization(100.0, 20.0)
    )
    with pytest.raises(
        ModelError, match=r"'foot_left x' on 'foot_left' cannot be stabilized.*anchor_constraints"
    ):
        constraint_bias(person, q, v, loose)
