"""Activations and excitations outside of 0 to 1."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle.activation_levels import (
    LEVEL_TOLERANCE,
    check_activations,
    check_excitations,
    check_levels,
)
from support import muscled_leg


@pytest.mark.parametrize("level", [np.nan, 1.1, -0.2, np.inf])
def test_the_first_level_out_of_range_is_named(level):
    levels = np.full((2, 3, 2), 0.5)
    levels[1, 2, 1] = level
    with pytest.raises(hd.ModelError, match=f"excitation of muscle 'b' in frame 5 is {level:g};"):
        check_levels(levels, ("a", "b"), "excitation")
    with pytest.raises(hd.ModelError, match=f"activation of muscle 'b' is {level:g};"):
        check_levels(levels[1, 2], ("a", "b"), "activation")


def test_levels_from_0_to_1_pass_and_rounding_where_it_is_accepted():
    check_levels([[0.0, 1.0]], ("a", "b"), "activation")
    rounding = [0.0, 1.0 + LEVEL_TOLERANCE / 2]
    check_levels(rounding, ("a", "b"), "activation", LEVEL_TOLERANCE)
    with pytest.raises(hd.ModelError):
        check_levels(rounding, ("a", "b"), "activation")


def test_levels_of_a_model_are_named_by_its_muscles():
    leg = muscled_leg.build()
    levels = np.full((4, 6), 0.1)
    levels[3, 2] = np.nan
    with pytest.raises(hd.ModelError, match="activation of muscle 'vastus' in frame 3 is nan"):
        check_activations(leg, levels)
    with pytest.raises(hd.ModelError, match="excitation of muscle 'vastus' in frame 3 is nan"):
        check_excitations(leg, levels)
