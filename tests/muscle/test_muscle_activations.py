"""The record of muscle activations."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle.muscle_activations import shortage_sentence
from support import muscled_leg


@pytest.fixture(scope="module")
def result():
    loads = muscled_leg.loads(muscled_leg.swing(muscled_leg.build()))
    return hd.muscle.static_optimization(loads.motion, loads)


def test_columns_have_names_and_units(result):
    assert result["vastus"].unit == ""
    assert result["vastus force"].unit == "N"
    assert result["knee reserve"].unit == "N m"
    np.testing.assert_array_equal(result["vastus fiber length"].values, result.fiber_lengths[:, 2])
    assert len(result.columns()) == 3 * 6 + 2


def test_contributions_add_up_to_the_torque(result):
    parts = result.contributions("knee")
    assert set(parts) == {"vastus", "rectus", "hamstring", "biceps_short"}
    total = sum(parts.values()) + result.reserves[:, 1]
    np.testing.assert_allclose(total, result.loads.torque("knee"), atol=1e-8)
    with pytest.raises(hd.HomodynError, match="no coordinate 'ankle'"):
        result.contributions("ankle")


def test_peaks_are_those_of_valid_frames(result):
    edge = np.zeros(len(result.status), dtype=bool)
    edge[0] = True
    reserves = result.reserves.copy()
    reserves[0] = 100.0
    loads = replace(result.loads, edge=edge)
    status = hd.muscle.static_optimization(loads.motion, loads).status
    marked = replace(result, loads=loads, status=status, reserves=reserves)
    assert marked.peak_reserves.max() < 1.0
    assert not marked.valid[0]
    np.testing.assert_allclose(marked.peak_torques, np.abs(loads.tau[1:]).max(axis=0))


def test_a_reserve_of_a_coordinate_without_torque_has_no_percentage(result):
    assert "% of its largest torque" in result.sentence
    tau = result.loads.tau.copy()
    tau[:, result.loads.motion.model.coordinate_index("knee")] = 1e-17
    reserves = 0.0 * result.reserves
    reserves[4, result.coordinates.index("knee")] = 1.5
    found = replace(result, loads=replace(result.loads, tau=tau), reserves=reserves)
    assert found.sentence.endswith("1.5 N m at knee, whose torque is zero")


def test_a_missing_muscle_is_named(result):
    assert result.muscle("rectus") == 3
    with pytest.raises(hd.HomodynError, match="no muscle 'soleus'"):
        result.muscle("soleus")


def test_the_shortage_names_coordinates_and_full_muscles(result):
    activations, reserves = result.activations.copy(), result.reserves.copy()
    activations[3, 2], reserves[3] = 1.0, [0.0, -40.0]
    short = replace(result, activations=activations, reserves=reserves, strengths=np.zeros(2))
    text = shortage_sentence(short, 3)
    assert text == (
        "in frame 3 (0.030 s) the muscles are not strong enough for knee (-40.0 N m); fully "
        "active: vastus"
    )
    assert short.saturated == ("vastus",)


def test_it_prints_and_converts(result):
    assert "6 muscles, 60 frames (60 solved)" in result.headline()
    restored = type(result).from_dict(result.to_dict())
    np.testing.assert_array_equal(restored.activations, result.activations)
