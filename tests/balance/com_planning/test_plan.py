"""Timing-free plans of the shipped scenes, evaluation by the margins of the balance package."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.balance import (
    SupportPhase,
    evaluate,
    load_scene,
    plan_com,
    scene_phases,
    scene_stances,
    scene_wrench,
    support_polygon,
    wrench_margins,
    wrench_set,
)
from homodyn.balance.com_planning import MarginKind, MarginObjective, PlanWeights, wrench_sets
from homodyn.balance.wrenches import transition_difficulty
from homodyn.errors import ModelError, NoSolution

ORIGIN = (0.0, 0.0, 0.0)
THESIS = {"biped": 25.86, "complex": 20.0, "car": 19.4}
"""N m: the smallest margins that Qiu (2012) prints."""


@pytest.fixture(scope="module")
def plans():
    return {name: plan_com(load_scene(name)) for name in THESIS}


@pytest.fixture(scope="module")
def climb():
    return plan_com(load_scene("quadruped"))


def dense_margins(plan, count=301):
    """Smallest M_s3 about the origin and M_s1 of each phase, by `wrench_margins`."""
    smallest = []
    for phase in plan.phases:
        need = plan.required_wrench(np.linspace(phase.start, phase.end, count))
        found = wrench_margins(phase.wrenches, need.force, need.moment, com=need.com, about=ORIGIN)
        smallest.append((found.wrench.min(), found.force.min()))
    return np.array(smallest)


@pytest.mark.parametrize("name", sorted(THESIS))
def test_plans_keep_everything_on_a_dense_grid_with_more_margin_than_printed(plans, name):
    plan = plans[name]
    scene, request = plan.scene, plan.scene.plan
    smallest = dense_margins(plan)[:, 0].min()
    assert smallest >= THESIS[name]
    assert smallest == pytest.approx(plan.margin, rel=0.01)
    time = np.linspace(0, plan.duration, 4001)
    com = plan.spline.at(time)
    assert np.allclose(com[[0, -1]], [request.start, request.finish], atol=1e-9)
    assert np.abs(plan.spline.at(0.0, 1)).max() < 1e-9
    if request.finish_at_rest:
        assert np.abs(plan.spline.at(plan.duration, 1)).max() < 1e-9
    assert (plan.durations >= [step.min_duration for step in scene.steps]).all()
    for phase in plan.phases:
        here = com[(time >= phase.start) & (time <= phase.end)]
        for support in phase.stance.supports:
            assert np.linalg.norm(here - support.middle, axis=1).max() <= request.reach + 1e-5
    if request.upper is not None:
        assert (com[:, 2] <= request.upper.height(com[:, 0]) + 1e-5).all()
        assert (com[:, 2] >= request.lower.height(com[:, 0]) - 1e-5).all()


@pytest.mark.parametrize("name", sorted(THESIS))
def test_no_plan_has_more_margin_than_consecutive_stances_overlap(plans, name):
    assert plans[name].margin <= plans[name].difficulty.index


def test_walking_keeps_the_zmp_in_the_supports_with_a_margin_of_the_printed_order(plans):
    """Qiu (2012), section 5.4.4: 3.54 s and 25.86 N m; where its steps were is lost."""
    plan = plans["biped"]
    assert 3.0 < plan.duration < 7.5
    assert 25.86 <= plan.margin < 60
    assert plan.seconds < 180
    for phase in plan.phases:
        need = plan.required_wrench(np.linspace(phase.start, phase.end, 201))
        up = need.force[:, 2]
        zmp = np.c_[-need.moment[:, 1] / up, need.moment[:, 0] / up]
        assert (support_polygon(phase.stance).slack(zmp) > 0).all()
    # The extra weight on vertical speed: knees bend little.
    assert np.ptp(plan.check.com[:, 2]) < 0.15


def test_walking_is_planned_up_a_ramp_of_fifteen_degrees_too(plans):
    plan = plan_com(load_scene("ramp"))
    normal = plan.sets[0].stance.supports[0].normal
    assert np.degrees(np.arccos(normal[2])) == pytest.approx(15, abs=1e-6)
    assert dense_margins(plan)[:, 0].min() >= 25.86
    assert plan.margin < plans["biped"].margin
    assert (plan.durations >= [step.min_duration for step in plan.scene.steps]).all()
    assert plan.check.com[-1, 2] - plan.check.com[0, 2] == pytest.approx(
        1.5 * np.sin(np.pi / 12), abs=1e-5
    )


def test_knots_and_control_points_are_those_of_the_thesis(plans):
    counts = {n: (len(p.spline.knots), len(p.spline.points)) for n, p in plans.items()}
    assert counts == {"biped": (18, 13), "complex": (18, 12), "car": (17, 11)}


def test_the_car_plan_hurries_on_one_foot_and_takes_longer_than_the_recording(plans):
    plan = plans["car"]
    assert np.allclose(plan.durations[[1, 3]], [0.4, 0.5], atol=1e-4)
    assert plan.check.com[:, 2].min() > 0.15
    assert plan.duration > 3.06
    assert plan.difficulty.index == pytest.approx(32.63, abs=0.01)
    assert "left foot at the sill" in plan.sentence
    assert plan.rows()[1]["min_duration_s"] == 0.4


def test_a_plan_is_evaluated_like_a_path_of_a_scene(plans):
    plan = plans["car"]
    again = replace(plan.scene, path=plan.path)
    time = np.linspace(0, plan.duration, 200)
    evaluation = evaluate(scene_wrench(again, time), scene_phases(again), about=ORIGIN)
    assert evaluation.wrench.min() >= plan.margin - 0.01


def test_climbing_between_walls_falls_on_two_feet_and_recovers_on_four(climb):
    scene = climb.scene
    weight = -scene.mass * scene.gravity[None]
    at = np.array([[0.0, 0.0, 1.0]])
    force = MarginObjective(MarginKind.FORCE)
    four, two = (force.facets(climb.sets[k]) for k in (0, 1))
    assert force.distances(four, at, weight).min() == pytest.approx(429.8, abs=0.1)
    assert force.distances(two, at, weight).min() == pytest.approx(-126.6, abs=0.1)
    assert np.allclose(climb.durations[1::2], 0.3, atol=1e-4)
    # The best of the five printed trials, at the instants that were looked at there.
    assert dense_margins(climb)[:, 1].min() >= 280.55
    assert climb.objective.margin.unit == "N"
    falling = climb.check.acceleration[np.isin(climb.check.phase, [1, 3, 5, 7]), 2]
    assert falling.max() < -3


def test_a_margin_that_counts_more_is_larger_and_takes_longer(climb):
    """Qiu (2012), Table 5.1: a larger w1 gives a larger margin and a longer climb."""
    light = plan_com(
        climb.scene, sets=climb.sets, weights=PlanWeights(margin=0.01, height=0.0), rounds=1
    )
    assert 0 < light.margin < climb.margin - 20
    assert light.duration < climb.duration - 0.3
    assert np.allclose(light.durations[1::2], 0.3, atol=1e-4)


def test_sets_of_translated_stances_are_shared_and_right(climb):
    assert climb.sets[2].polytope is climb.sets[6].polytope
    assert climb.sets[1].polytope is climb.sets[7].polytope
    separate = wrench_set(scene_stances(climb.scene)[7])
    rng = np.random.default_rng(0)
    force, moment = rng.normal(size=(200, 3)) * 600, rng.normal(size=(200, 3)) * 900
    assert (separate.contains(force, moment) == climb.sets[7].contains(force, moment)).all()
    assert separate.contains(force, moment).any()


def test_more_weight_on_time_makes_a_plan_shorter_and_weaker(plans):
    quick = plan_com(plans["biped"].scene, weights=PlanWeights(time=30.0), rounds=2)
    assert quick.duration < plans["biped"].duration - 0.3
    assert 0 < quick.margin < plans["biped"].margin


def test_margins_about_the_center_of_mass_can_be_planned_too(plans):
    plan = plan_com(plans["car"].scene, about=None, rounds=2, sets=plans["car"].sets)
    need = plan.required_wrench(plan.check.time)
    smallest = min(
        wrench_margins(
            p.wrenches, need.force[mine], need.moment[mine], com=need.com[mine]
        ).wrench.min()
        for k, p in enumerate(plan.phases)
        for mine in [plan.check.phase == k]
    )
    assert smallest == pytest.approx(plan.margin, abs=1e-6)
    assert smallest > 15


def test_the_printed_spline_of_the_car_keeps_19_newton_metres_at_its_samples():
    scene = load_scene("car")
    assert transition_difficulty(wrench_sets(scene), about=ORIGIN).index == pytest.approx(
        32.63, abs=0.01
    )
    smallest = []
    for phase in scene_phases(scene):
        time = phase.start + np.arange(1, 4) / 3 * (phase.end - phase.start)
        need = scene_wrench(scene, time)
        found = wrench_margins(phase.wrenches, need.force, need.moment, com=need.com, about=ORIGIN)
        smallest.append(found.wrench.min())
    assert min(smallest) == pytest.approx(19.4, abs=0.1)


def test_the_printed_spline_of_the_complex_scene_dips_and_leaves_its_corridor():
    scene = load_scene("complex")
    path, plan = scene.path, scene.plan
    time = np.linspace(*path.instants[[0, -1]], 1001)
    need = scene_wrench(scene, time)
    evaluation = evaluate(need, scene_phases(scene), about=ORIGIN)
    assert evaluation.wrench.min() == pytest.approx(11.98, abs=0.02)
    assert evaluation.time[evaluation.worst] == pytest.approx(1.258, abs=0.005)
    assert evaluation.phase[evaluation.worst] == 3
    com = path.at(time)
    assert (com[:, 2] - plan.upper.height(com[:, 0])).max() == pytest.approx(0.0094, abs=2e-4)
    assert (plan.lower.height(com[:, 0]) - com[:, 2]).max() == pytest.approx(0.0495, abs=2e-4)
    ends = []
    for k in (1, 3, 5):
        phase = scene_phases(scene)[k]
        at = scene_wrench(scene, np.array([phase.start, phase.end]))
        ends += list(
            wrench_margins(phase.wrenches, at.force, at.moment, com=at.com, about=ORIGIN).wrench
        )
    assert np.allclose(ends, [31.33, 24.14, 31.31, 31.25, 31.32, 31.45], atol=0.02)
    assert np.allclose(np.diff(path.instants)[[1, 3, 5]], [0.4, 0.8, 0.8], atol=1e-9)
    assert np.abs(path.at(time[[0, -1]], 1)).max() < 1e-9


def test_the_corridor_has_the_printed_heights():
    plan = load_scene("complex").plan
    at = np.array([0.0, 0.6])
    assert np.allclose(plan.upper.height(at), [0.938, 0.876], atol=5e-4)
    assert np.allclose(plan.lower.height(at), [0.918, 0.856], atol=5e-4)


def test_more_margin_than_the_overlap_is_refused_before_any_search(plans):
    with pytest.raises(NoSolution, match=r"from phase '3' to '4' .*32\.63 N m"):
        plan_com(plans["car"].scene, min_margin=40.0, sets=plans["car"].sets)


def test_a_change_between_stances_that_share_no_wrench_is_refused_before_any_search(plans):
    """Qiu (2012), proposition 1: accelerations are continuous, so such a change needs a jump."""
    sets = list(plans["car"].sets)
    # A load of 5 kN that only the third stance could carry.
    away = sets[2].polytope.image(np.eye(6), np.r_[0, 0, 0, 0, 0, 5000.0])
    sets[2] = replace(sets[2], polytope=away)
    assert not transition_difficulty(sets, about=ORIGIN).feasible
    with pytest.raises(NoSolution, match=r"from phase '[23]' to '[34]' is impossible"):
        plan_com(plans["car"].scene, sets=sets)


def test_a_start_out_of_reach_or_corridor_is_refused(plans):
    car, over = plans["car"].scene, plans["complex"].scene
    with pytest.raises(NoSolution, match=r"the start is 0\.9\d+ m from a support of phase '1'"):
        plan_com(replace(car, plan=replace(car.plan, reach=0.5)), sets=plans["car"].sets)
    high = replace(over.plan, finish=np.array([0.6, 0.65, 0.9]))
    with pytest.raises(NoSolution, match=r"the finish is 0\.02\d+ m above the corridor"):
        plan_com(replace(over, plan=high), sets=plans["complex"].sets)


def test_a_body_too_heavy_for_its_supports_is_refused_with_the_phase(plans):
    heavy = replace(plans["car"].scene, mass=130.0)
    with pytest.raises(NoSolution, match=r"balance is violated by .* N m at .* in phase '\d'"):
        plan_com(heavy, rounds=1, sets=plans["car"].sets)


def test_unknown_margins_and_methods_are_refused(plans):
    scene = plans["car"].scene
    with pytest.raises(ModelError, match="no margin 'moment'; accepted: force, wrench"):
        plan_com(scene, margin="moment")
    with pytest.raises(ModelError, match="'timing-free' or 'keyframes'"):
        plan_com(scene, "fast", sets=plans["car"].sets)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="no plan request"):
        plan_com(replace(scene, plan=None))


def test_phases_of_a_plan_follow_each_other(plans):
    plan = plans["biped"]
    assert all(isinstance(phase, SupportPhase) for phase in plan.phases)
    assert plan.phases[-1].end == pytest.approx(plan.duration)


def test_supports_weaker_than_the_weight_are_refused_before_any_search():
    scene = replace(load_scene("biped"), limit=500.0)
    weight = scene.mass * 9.81
    assert weight > 500
    with pytest.raises(
        NoSolution, match=rf"carry at most 500 N, less than the weight of {weight:.4g}"
    ):
        plan_com(scene)


def test_stances_too_far_apart_for_the_reach_are_refused_before_any_search():
    scene = load_scene("biped")
    away = np.array([20.0, 0, 0])
    request = replace(scene.plan, reach=1.2)
    last = set(scene.steps[-1].supports) - set(scene.steps[0].supports)
    far = {
        name: replace(each, corners=each.corners + away) if name in last else each
        for name, each in scene.supports.items()
    }
    finish = request.finish + away
    jump = replace(scene, supports=far, plan=replace(request, finish=finish), path=None)
    with pytest.raises(NoSolution, match=r"more than twice the reach of 1\.2 m"):
        plan_com(jump)
