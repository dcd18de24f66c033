"""Steps and strides as motions: exact forces, continuous movements, gait measures."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.gait import synthesis
from homodyn.gait.synthesis.problem import STEP_PHASES
from homodyn.gait.synthesis.step_motion import step_motion
from homodyn.motion import Side
from support.equations import motion_residual


def test_a_stride_is_a_step_and_its_mirror_image(model, steps):
    step = steps["mixed free"]
    motion = synthesis.stride_motion(model, step)
    events = synthesis.stride_events(step)
    assert motion.time[-1] == pytest.approx(2 * step.duration)
    assert motion.q[-1, 0] - motion.q[0, 0] == pytest.approx(
        2 * step.parameters["length"], abs=1e-3
    )
    np.testing.assert_allclose(motion.q[-1, 1:], motion.q[0, 1:], atol=1e-3)
    assert [e.context for e in events] == ["Left", "Right", "Right", "Left"]
    share = hd.gait.elevation_angles(motion, events=events).planarity("right")
    assert share is not None


def test_a_step_obeys_the_equations_of_motion_at_its_collocation_points(model, steps):
    step = steps["mixed free"]
    motion = step_motion(model, step)
    controls = np.concatenate([phase.control_time for phase in step.phases])
    rows = np.searchsorted(motion.time, controls - 1e-9)
    residual = np.abs(motion_residual(motion))[rows]
    # Steps are stored in single precision.
    assert residual.max() < 2e-4 * np.abs(motion.tau).max()
    assert motion.tau[:, 6:].any()


def test_forces_and_impacts_of_a_stride_carry_the_weight(model, steps):
    step = steps["mixed free"]
    stride = synthesis.stride_motion(model, step, steps=2, rate=2000.0)
    up = sum(force.force[:, 2] for force in stride.contact_forces)
    # Over a period the vertical momentum does not change: forces and impulses balance gravity.
    impulse = 2 * sum(
        phase.impulse[k]
        for phase, contacts in zip(step.phases, STEP_PHASES, strict=True)
        for k, row in enumerate(contacts.contacts.rows)
        if len(phase.impulse) and row.slide == (0.0, 0.0, 1.0)
    )
    total = np.trapezoid(up, stride.time) + impulse
    assert impulse > 1.0  # N s
    assert total == pytest.approx(model.mass * 9.81 * stride.duration, rel=2e-3)


def test_the_left_foot_repeats_what_the_right_foot_does(model, steps):
    step = steps["mixed free"]
    # Whole frames per step: forces may jump at nodes, where interpolation would differ.
    count = 1001
    stride = synthesis.stride_motion(model, step, steps=2, rate=(count + 1e-6) / step.duration)
    sides = {force.side: force.force[:, 2] for force in stride.contact_forces}
    assert set(sides) == set(Side)
    assert len(stride.time) == 2 * count + 1
    inside = np.flatnonzero((stride.time > 0.02) & (stride.time < 0.38))
    right = sides[Side.RIGHT][inside]
    left = sides[Side.LEFT][inside + count]
    np.testing.assert_allclose(left, right, atol=2.0)
    assert np.ptp(right) > 100.0


def test_centers_of_pressure_are_under_the_feet(model, steps):
    stride = synthesis.stride_motion(model, steps["mixed free"], steps=3)
    for force in stride.contact_forces:
        loaded = force.force[:, 2] > 20.0
        heel, toe = (
            hd.dynamics.position(model, stride.q, f"{point}{force.side.title}")[loaded, 0]
            for point in ("Heel", "Hallux")
        )
        point = force.point[loaded]
        assert (point[:, 0] > heel - 0.06).all()
        assert (point[:, 0] < toe + 0.02).all()
        assert np.abs(point[:, 2]).max() < 0.01  # on the ground


def test_a_stride_has_the_measures_of_its_step(model, steps):
    step = steps["mixed 2"]
    found = hd.gait.measures(synthesis.stride_motion(model, step, steps=5))
    assert found["velocity"].mean == pytest.approx(2.0, rel=2e-3)
    assert found["step duration", "left"].mean == pytest.approx(step.duration, rel=1e-6)
    assert found["step length", "right"].mean == pytest.approx(step.parameters["length"], rel=0.02)


def test_mirrored_steps_have_equal_lengths(model, steps):
    step = steps["mixed free"]
    assert 0.2 < (100 * step.duration) % 1 < 0.9  # not a whole number of frames
    found = hd.gait.measures(synthesis.stride_motion(model, step, steps=5))
    right, left = (found["step length", side].mean for side in ("right", "left"))
    assert right == pytest.approx(left, abs=1e-4)  # m
