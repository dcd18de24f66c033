"""Paths through key frames: positions are kept, balance holds everywhere after insertion."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.balance import load_scene, plan_com, wrench_margins
from homodyn.balance.com_planning import KeyFrames, PlanWeights, wrench_sets
from homodyn.errors import ModelError, NoSolution


@pytest.fixture(scope="module")
def scene():
    found = load_scene("complex")
    # The printed path leaves the corridor, and its key frames with it.
    return replace(found, plan=replace(found.plan, upper=None, lower=None))


@pytest.fixture(scope="module")
def sets(scene):
    return wrench_sets(scene)


@pytest.mark.parametrize("min_margin", [0.0, 15.0])
def test_instants_are_inserted_until_every_frame_is_in_balance(scene, sets, min_margin):
    rough = PlanWeights(velocity=1.0, jerk=0.0)
    plan = plan_com(scene, "keyframes", min_margin=min_margin, weights=rough, sets=sets)
    assert plan.inserted
    changes = scene.path.instants
    assert np.allclose(plan.spline.at(changes), scene.path.at(changes), atol=1e-6)
    assert np.abs(plan.spline.at(changes[[0, -1]], 1)).max() < 1e-6
    for phase in plan.phases:
        need = plan.required_wrench(np.linspace(phase.start, phase.end, 157))
        found = wrench_margins(
            phase.wrenches, need.force, need.moment, com=need.com, about=(0, 0, 0)
        )
        assert found.wrench.min() > min_margin - 0.05


def test_smooth_paths_need_no_insertion_and_have_enough_control_points(scene, sets):
    plan = plan_com(scene, "keyframes", sets=sets)
    assert plan.inserted == ()
    assert plan.spline.degree == 5
    assert len(plan.spline.points) >= 16
    assert plan.margin > 10


def test_the_path_is_the_smoothest_of_those_that_pass(scene, sets):
    plan = plan_com(scene, "keyframes", sets=sets, weights=PlanWeights(velocity=0.0, jerk=1.0))
    time = np.linspace(0, plan.duration, 3001)
    rough = np.trapezoid((plan.spline.at(time, 3) ** 2).sum(axis=1), time)
    printed = np.trapezoid((scene.path.at(time, 3) ** 2).sum(axis=1), time)
    assert rough < printed


def test_a_place_where_nothing_balances_is_refused_with_its_phase(scene, sets):
    time = scene.path.instants
    places = scene.path.at(time).copy()
    places[2] += [3.0, 0.0, 0.0]
    with pytest.raises(NoSolution, match=r"key frame of 0\.721 s, in phase '[23]'"):
        plan_com(scene, "keyframes", keyframes=KeyFrames(time, places), min_margin=5.0, sets=sets)


def test_key_frames_too_far_apart_for_their_time_are_refused(scene, sets):
    time = scene.path.instants
    with pytest.raises(NoSolution, match=r"phase '\d' cannot be satisfied|violated by"):
        plan_com(scene, "keyframes", min_margin=60.0, sets=sets)
    with pytest.raises(ModelError, match="end at 2 s and the phases at"):
        plan_com(
            scene,
            "keyframes",
            keyframes=KeyFrames(np.array([0.0, 2.0]), scene.path.at(time[:2])),
            sets=sets,
        )


def test_phases_without_durations_are_refused():
    with pytest.raises(ModelError, match="needs the duration of every phase"):
        plan_com(load_scene("biped"), "keyframes")


def test_frames_that_do_not_increase_are_refused():
    with pytest.raises(ModelError, match="increase from 0 s"):
        KeyFrames(np.array([0.0, 1.0, 1.0]), np.zeros((3, 3)))
