"""Stored steps: periodic, accurate between their nodes, scaled to other bodies, and in files."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.catalog import mirror_map
from homodyn.dynamics.constraints import row_names
from homodyn.errors import FormatError
from homodyn.gait import synthesis
from homodyn.gait.synthesis.problem import STEP_PHASES, hip_height, phase_name
from homodyn.gait.synthesis.step_library import (
    STORED_HIP_HEIGHT_M,
    STORED_MASS_KG,
    nearest_stored_step,
    read_stored_steps,
    write_stored_steps,
)
from homodyn.optimal.verify.path_violations import find_path_violations
from homodyn.optimal.verify.resimulation import resimulate


def test_stored_steps_end_as_the_mirror_image_of_their_start(model, steps):
    image = mirror_map(model)
    for name, step in steps.items():
        first, last = step.phases[0], step.phases[-1]
        position, speed = image.position(last.q[-1]), image.velocity(last.v[-1])
        np.testing.assert_allclose(position[1:], first.q[0, 1:], atol=1e-5, err_msg=name)
        np.testing.assert_allclose(speed, first.v[0], atol=1e-4, err_msg=name)


def test_step_length_is_speed_times_duration(model, steps):
    for step in steps.values():
        length, travel = step.parameters["length"], step.speed * step.duration
        # The foot that stands drifts by as much on its mesh.
        assert length == pytest.approx(travel, abs=3e-4)
        toes = [
            hd.dynamics.position(model, step.phases[0].q[0], f"Hallux{side}")[0]
            for side in ("Right", "Left")
        ]
        assert toes[0] - toes[1] == pytest.approx(length, abs=1e-4)


def test_speeds_are_those_requested(steps):
    for speed in (1.5, 2.0, 2.5):
        assert steps[f"mixed {speed:g}"].speed == pytest.approx(speed, abs=1e-4)


def test_stored_steps_are_accurate_between_their_nodes(model, steps):
    for name, step in steps.items():
        speed = None if name.endswith("free") else step.speed
        problem = synthesis.synthesis_problem(
            model, objective=step.objective, speed=speed, intervals=step.intervals
        )
        built = step.warm_start(problem).transcribe(step.transcription)
        parameters = {n: step.parameters[n] for n in problem.parameters}
        resimulations = resimulate(built, step.phases, parameters)
        assert max(r.defect.max_error for r in resimulations) < 0.02, name
        violations = find_path_violations(model, resimulations, parameters)
        assert all(v.tolerance_ratio <= 1.0 for v in violations), (name, violations[0])


def test_stored_steps_survive_writing_and_reading(tmp_path, steps):
    step = steps["mixed free"]
    write_stored_steps(tmp_path / "steps.npz", {step.name: step})
    again = read_stored_steps(tmp_path / "steps.npz")[step.name]
    assert again.objective == step.objective
    assert again.friction == step.friction == 0.8
    np.testing.assert_allclose(again.phases[0].q, step.phases[0].q, atol=1e-6)
    assert again.phases[0].name == phase_name(0) == "1 right flat"
    assert again.phases[2].force_names == row_names(STEP_PHASES[2].contacts)
    (tmp_path / "broken.npz").write_bytes(b"no steps")
    with pytest.raises(FormatError, match="stored steps cannot be read"):
        read_stored_steps(tmp_path / "broken.npz")


def test_the_search_begins_at_the_nearest_stored_step():
    assert nearest_stored_step(synthesis.WALKING_OBJECTIVES["head"], None).name == "head free"
    assert nearest_stored_step(synthesis.WALKING_OBJECTIVES["mixed"], 2.1).name == "mixed 2"
    assert nearest_stored_step(synthesis.walking_objective("torque+head"), 2.4).name == "mixed 2.5"


def test_stored_steps_are_those_of_the_walking_model(model):
    assert hip_height(model) == pytest.approx(STORED_HIP_HEIGHT_M, abs=1e-6)
    assert float(model.mass) == pytest.approx(STORED_MASS_KG)
    step = hd.gait.stored_steps()["mixed free"]
    assert step.scale_to(model) is step


def test_a_scaled_step_has_the_same_froude_number_and_angles():
    small = hd.catalog.heiman(height=1.5, mass=45, sex="female")
    step = hd.gait.stored_steps()["mixed free"]
    scaled = step.scale_to(small)
    length = hip_height(small) / STORED_HIP_HEIGHT_M
    assert scaled.speed**2 / hip_height(small) == pytest.approx(step.speed**2 / STORED_HIP_HEIGHT_M)
    assert scaled.parameters["length"] == pytest.approx(length * step.parameters["length"])
    assert scaled.duration == pytest.approx(np.sqrt(length) * step.duration)
    before, after = step.phases[1], scaled.phases[1]
    np.testing.assert_array_equal(after.q[:, 6:], before.q[:, 6:])
    np.testing.assert_allclose(after.q[:, :3], length * before.q[:, :3])
    # Velocities are the rates of the scaled positions.
    time = after.time[-1] - after.time[0]
    ratio = time / (before.time[-1] - before.time[0])
    np.testing.assert_allclose(after.v[:, 3:] * ratio, before.v[:, 3:])
    np.testing.assert_allclose(after.v[:, :3] * ratio, length * before.v[:, :3])
    mass = float(small.mass) / STORED_MASS_KG
    np.testing.assert_allclose(after.force, mass * before.force)
    np.testing.assert_allclose(after.tau[:, 6:], mass * length * before.tau[:, 6:])


def test_a_scaled_step_nearly_balances_the_body_that_it_is_scaled_to():
    """The guess of another person violates the equations of motion less after scaling."""
    small = hd.catalog.heiman(height=1.5, mass=45, sex="female")
    step = hd.gait.stored_steps()["mixed free"]
    problem = synthesis.synthesis_problem(small, objective=step.objective, intervals=step.intervals)

    def violation(guess):
        program = guess.transcribe(step.transcription).program
        rows = program.evaluate(guess.transcribe(step.transcription).guess)[1]
        excess = np.maximum(program.lower - rows, rows - program.upper) * program.row_scale
        return float(np.abs(np.maximum(excess, 0.0)).sum())

    unscaled = replace(step, hip_height=hip_height(small), mass=float(small.mass))
    assert violation(step.warm_start(problem)) < 0.5 * violation(unscaled.warm_start(problem))


def test_speeds_are_compared_after_scaling():
    mixed = synthesis.WALKING_OBJECTIVES["mixed"]
    small = hd.catalog.heiman(height=1.3, mass=30)
    # 2.2 m/s is between 2.0 and 2.5 m/s for an adult, but beyond both for a child.
    assert nearest_stored_step(mixed, 2.2).name == "mixed 2"
    assert nearest_stored_step(mixed, 2.2, small).name == "mixed 2.5"
