"""Steps from objectives: the problem as the thesis states it, and what the stored ones show."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.catalog import mirror_map
from homodyn.catalog.heiman_tables import typical_torques
from homodyn.dynamics import row_names
from homodyn.errors import FormatError, HomodynError, NoSolution
from homodyn.gait.synthesis.problem import INTERVALS, STEP_PHASES, phase_name
from homodyn.gait.synthesis.stored_steps import (
    nearest_stored_step,
    read_stored_steps,
    write_stored_steps,
)
from homodyn.gait.synthesis.synthesize import first_mesh
from homodyn.optimal.verify.mesh_refinement import refine_intervals
from homodyn.optimal.verify.path_violations import find_path_violations
from homodyn.optimal.verify.resimulation import resimulate

CRITERIA = ("torque", "angular-momentum", "head", "time")


@pytest.fixture(scope="module")
def model():
    return hd.gait.walking_model()


@pytest.fixture(scope="module")
def steps():
    return {
        name: step for name, step in hd.gait.stored_steps().items() if step.objective is not None
    }


def printed_size(problem):
    """Unknowns, equations and inequalities as section 5.2 of the thesis counts them.

    A state at each node and two torques for each interval, with a stage of one interval for each
    touchdown; bounds of all unknowns from both sides; conditions at the nodes they stand for.
    """
    states, motors = 2 * problem.model.nv, len(typical_torques())
    touchdowns = sum(phase.transition == "impact" for phase in problem.phases)
    m = sum(phase.intervals for phase in problem.phases) + touchdowns
    unknowns = states * (m + 1) + 2 * motors * m + motors + len(problem.parameters)
    equal = unequal = 0
    for before, phase in zip([None, *problem.phases[:-1]], problem.phases, strict=True):
        nodes = {"start": 1, "inside": phase.intervals - 1, "end": 1}
        for condition in phase.constraints:
            rows = nodes[condition.when] * len(condition.labels)
            fixed = np.all(np.equal(condition.lower, condition.upper))
            equal, unequal = equal + fixed * rows, unequal + (not fixed) * rows
        if before is not None and before.transition == "impact":
            known = row_names(before.contacts)
            fresh = [r for r in phase.contacts.rows if r.name not in known]
            equal += sum(row.slide == (0.0, 0.0, 1.0) for row in fresh)
    links = sum(
        len(link.labels(problem.model) if callable(link.labels) else link.labels)
        for link in problem.boundary_constraints
    )
    equations = (states + motors) * m + 2 * motors * touchdowns // 2 + equal + links
    return unknowns, equations, 2 * unknowns + unequal


@pytest.mark.parametrize(("speed", "size"), [(None, (2381, 1887, 4885)), (1.5, (2380, 1887, 4883))])
def test_the_problem_has_the_size_that_the_thesis_prints(model, speed, size):
    problem = hd.gait.synthesis_problem(
        model, objective=hd.gait.WALKING_OBJECTIVES["mixed"], speed=speed, intervals=(10, 2, 2, 2)
    )
    assert printed_size(problem) == size


def test_weights_are_those_of_the_thesis():
    weights = {
        name: tuple(goal.weights.values()) for name, goal in hd.gait.WALKING_OBJECTIVES.items()
    }
    assert weights == {
        "torque": (1.0, 0, 0, 0),
        "angular-momentum": (0.01, 1.0, 0, 0),
        "head": (0.01, 0, 10.0, 0),
        "time": (0.01, 0, 0, 10.0),
        "mixed": (1.0, 1.0, 3.0, 0),
    }
    own = hd.gait.walking_objective("2*torque+head")
    assert (own.torque, own.head, own.time) == (2.0, 1.0, 0.0)
    with pytest.raises(HomodynError, match="no objective 'comfort'"):
        hd.gait.walking_objective("comfort")
    with pytest.raises(HomodynError, match="'x' is not a weight"):
        hd.gait.walking_objective("x*head")


def test_the_head_may_turn_to_both_sides(model):
    phase = hd.gait.synthesis_problem(model, objective=hd.gait.WALKING_OBJECTIVES["head"]).phases[0]
    assert phase.bounds["q"]["Neck_RX"] == (-0.16, 0.16)


def test_stored_steps_end_as_the_mirror_image_of_their_start(model, steps):
    image = mirror_map(model)
    for name, step in steps.items():
        first, last = step.phases[0], step.phases[-1]
        position, speed = image.position(last.q[-1]), image.velocity(last.v[-1])
        np.testing.assert_allclose(position[1:], first.q[0, 1:], atol=1e-5, err_msg=name)
        np.testing.assert_allclose(speed, first.v[0], atol=1e-4, err_msg=name)


def test_step_length_is_speed_times_duration(model, steps):
    for step in steps.values():
        length, gone = step.parameters["length"], step.speed * step.duration
        # The foot that stands drifts by as much on its mesh.
        assert length == pytest.approx(gone, abs=3e-4)
        toes = [
            hd.dynamics.position(model, step.phases[0].q[0], f"Hallux{side}")[0]
            for side in ("Right", "Left")
        ]
        assert toes[0] - toes[1] == pytest.approx(length, abs=1e-4)


def test_each_criterion_is_least_for_the_step_made_for_it(model, steps):
    free = [step for name, step in steps.items() if name.endswith("free")]
    table = hd.gait.cross_evaluation(model, free)
    assert len(free) == 5
    assert table.best == {name: f"{name} free" for name in CRITERIA}
    assert table.diagonal
    assert "angular-momentum" in str(table)
    values = {
        name: dict(zip(CRITERIA, row, strict=True))
        for name, row in zip(table.steps, table.values, strict=True)
    }
    # Each is better at its own than the step of least torque by more than three orders.
    assert values["angular-momentum free"]["angular-momentum"] < (
        1e-3 * values["torque free"]["angular-momentum"]
    )
    assert values["head free"]["head"] < 1e-3 * values["torque free"]["head"]


def test_speeds_are_those_asked_for(steps):
    for speed in (1.5, 2.0, 2.5):
        assert steps[f"mixed {speed:g}"].speed == pytest.approx(speed, abs=1e-4)


def test_feet_push_at_the_nodes_and_between_them(model, steps):
    weight = model.mass * 9.81
    for name, step in steps.items():
        for side in ("Right", "Left"):
            assert hd.gait.ground_forces(step, side)[1][:, 2].min() > -1e-3 * weight
        assert min(hd.gait.min_normal_forces(model, step).values()) > -0.04 * weight, name


def test_stored_steps_hold_between_their_nodes(model, steps):
    for name, step in steps.items():
        speed = None if name.endswith("free") else step.speed
        problem = hd.gait.synthesis_problem(
            model, objective=step.objective, speed=speed, intervals=step.intervals
        )
        built = step.warm_start(problem).transcribe(step.transcription)
        parameters = {n: step.parameters[n] for n in problem.parameters}
        ran = resimulate(built, step.phases, parameters)
        assert max(again.defect.max_error for again in ran) < 0.02, name
        missed = find_path_violations(model, ran, parameters)
        assert all(lapse.tolerance_ratio <= 1.0 for lapse in missed), (name, missed[0])


def test_criteria_are_the_integrals_that_the_solver_sees(model, steps):
    step = steps["mixed free"]
    count = [len(phase.time) - 1 for phase in step.phases]
    every = hd.gait.WalkingObjective("all", 1.0, 1.0, 1.0, 1.0)
    problem = hd.gait.synthesis_problem(model, objective=every, intervals=count)
    built = step.warm_start(problem).transcribe(step.transcription)
    total = dict.fromkeys(CRITERIA, 0.0)
    for block in built.blocks:
        costs, _ = block.evaluate(built.guess)
        for name, values in zip(block.terms, costs.T, strict=True):
            total[name] += float(values.sum())
    found = hd.gait.step_criteria(model, step)
    for name in CRITERIA:
        assert found[name] == pytest.approx(total[name], rel=1e-3)


def test_similarity_has_the_parts_of_the_thesis(steps):
    walk, step = hd.gait.stored_steps()["walk"], steps["mixed free"]
    assert hd.gait.step_similarity(step, step).distance == 0
    near = hd.gait.step_similarity(step, walk)
    assert near.duration == pytest.approx((step.duration - walk.duration) ** 2)
    assert near.distance == near.posture + near.duration
    later = replace(
        walk,
        phases=tuple(
            replace(
                p, time=1.5 * p.time, control_time=1.5 * p.control_time, v=p.v / 1.5, a=p.a / 2.25
            )
            for p in walk.phases
        ),
    )
    assert hd.gait.step_similarity(walk, later).posture == pytest.approx(0, abs=1e-6)
    # Table 6.5: a neutral step of 0.660 s explains the parts of all rows.
    printed = {0.484: 0.0309, 0.389: 0.0732, 0.265: 0.1562, 0.200: 0.2116, 0.504: 0.0244}
    for lasting, squared in printed.items():
        assert (0.660 - lasting) ** 2 == pytest.approx(squared, abs=3e-4)


def test_a_stride_is_a_step_and_its_mirror_image(model, steps):
    step = steps["mixed free"]
    motion = hd.gait.stride_motion(model, step)
    events = hd.gait.stride_events(step)
    assert motion.time[-1] == pytest.approx(2 * step.duration)
    assert motion.q[-1, 0] - motion.q[0, 0] == pytest.approx(
        2 * step.parameters["length"], abs=1e-3
    )
    np.testing.assert_allclose(motion.q[-1, 1:], motion.q[0, 1:], atol=1e-3)
    assert [e.context for e in events] == ["Left", "Right", "Right", "Left"]
    share = hd.gait.elevation_angles(motion, events=events).planarity("right")
    assert share is not None


def test_stored_steps_survive_writing_and_reading(tmp_path, steps):
    step = steps["mixed free"]
    write_stored_steps(tmp_path / "steps.npz", {step.name: step})
    again = read_stored_steps(tmp_path / "steps.npz")[step.name]
    assert again.objective == step.objective
    np.testing.assert_allclose(again.phases[0].q, step.phases[0].q, atol=1e-6)
    assert again.phases[0].name == phase_name(0) == "1 right flat"
    assert again.phases[2].force_names == row_names(STEP_PHASES[2].contacts)
    (tmp_path / "broken.npz").write_bytes(b"no steps")
    with pytest.raises(FormatError, match="stored steps cannot be read"):
        read_stored_steps(tmp_path / "broken.npz")


def test_the_search_begins_at_the_nearest_stored_step():
    assert nearest_stored_step(hd.gait.WALKING_OBJECTIVES["head"], None).name == "head free"
    assert nearest_stored_step(hd.gait.WALKING_OBJECTIVES["mixed"], 2.1).name == "mixed 2"
    assert nearest_stored_step(hd.gait.walking_objective("torque+head"), 2.4).name == "mixed 2.5"


def test_a_step_is_found_at_a_speed_nobody_stored(model):
    heard = []
    found = hd.gait.synthesize_step(
        model,
        speed=1.45,
        objective="time",
        options=hd.gait.SynthesisOptions(progress=heard.append),
    )
    assert found.solution.status.success, found.solution.explain()
    assert found.step.speed == pytest.approx(1.45, abs=1e-6)
    assert found.step.parameters["length"] == pytest.approx(1.45 * found.step.duration, abs=3e-4)
    assert min(hd.gait.min_normal_forces(model, found.step).values()) > -0.04 * model.mass * 9.81
    assert [stage.status is None for stage in heard] == [True, False] * len(found.stages)
    assert "time at 1.45 m/s" in heard[0].name
    assert "1.450 m/s" in found.sentence


def test_meshes_grow_where_intervals_miss_the_next_node():
    class Defect:
        def __init__(self, worst):
            self.phase, self.max_error = "any", worst

    class Errors:
        integration_defects = tuple(map(Defect, (0.014, 0.112, 1.0, 0.0)))
        path_violations = ()

    scheme = hd.optimal.TRANSCRIPTIONS["midpoint"]
    assert refine_intervals((10, 4, 3, 3), Errors(), 0.02, scheme) == (10, 9, 9, 3)


def test_a_search_begins_on_the_mesh_that_its_start_needs(model, steps):
    step = steps["time free"]
    own = step.intervals
    assert first_mesh(model, step, 0.02) == own
    mesh = first_mesh(model, step, 1e-5)
    assert all(n >= m for n, m in zip(mesh, own, strict=True))
    assert sum(mesh) > sum(own)
    # A walk that was reconstructed says nothing about the step that is nearest to it.
    assert first_mesh(model, hd.gait.stored_steps()["walk"], 0.02) == INTERVALS


def test_a_speed_that_bounds_rule_out_is_refused_at_once():
    with pytest.raises(NoSolution, match=r"no step at 6 m/s.*1.14 m long and last 0.2 to"):
        hd.gait.synthesize_step(speed=6.0)
    with pytest.raises(HomodynError, match="positive number of m/s"):
        hd.gait.synthesize_step(speed=float("nan"))


def test_an_initial_step_with_nan_is_refused_by_location(steps):
    step = steps["mixed free"]
    spoilt = step.phases[1].q.copy()
    spoilt[1, 9] = np.nan
    phases = list(step.phases)
    phases[1] = replace(phases[1], q=spoilt)
    with pytest.raises(HomodynError, match=r"2 right forefoot', guess of q is nan for 'KneeRight"):
        hd.gait.synthesize_step(start=replace(step, phases=tuple(phases)))
    with pytest.raises(HomodynError, match="no stored step 'jog'; accepted: walk"):
        hd.gait.synthesize_step(start="jog")


def test_another_model_is_refused_with_a_remedy():
    with pytest.raises(HomodynError, match=r"has no coordinate Pelvis_TX.*hd.catalog.heiman"):
        hd.gait.synthesis_problem(
            hd.catalog.human36(), objective=hd.gait.WALKING_OBJECTIVES["mixed"]
        )
