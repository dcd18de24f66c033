"""The optimal-control problem of a reconstruction: phases, tables and splines."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.gait import contact_schedule, reconstruction
from homodyn.gait.reconstruction.problem import fit_splines

MASS = 70.0


@pytest.fixture(scope="module")
def walk():
    return hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=2, plates=2, variation=0.0, mass=MASS, plate_noise=0.0
    )


def rms(values):
    return np.sqrt((values**2).mean())


def test_curves_pass_through_the_recording_and_their_slopes_are_its_velocities(walk):
    motion = walk.truth.motion
    splines = fit_splines(motion)
    np.testing.assert_allclose(splines["q"](motion.time), motion.q, atol=1e-12)
    between = (motion.time[1:] + motion.time[:-1])[5:-5] / 2
    error = splines["q"].derivative()(between) - splines["v"](between)
    assert rms(error) < 1e-3 * rms(motion.v)
    # Chords from frame to frame, for comparison, have slopes with much larger errors.
    chords = np.diff(motion.q, axis=0)[5:-5] / np.diff(motion.time)[5:-5, None]
    assert rms(error) < rms(chords - splines["v"](motion.time[5:-6])) / 10


def test_phases_can_be_given(walk):
    schedule = [
        contact_schedule.FootContactPhase(
            0.45,
            0.6,
            contact_schedule.FootContact.FLAT,
            contact_schedule.FootContact.SWING,
        ),
        contact_schedule.FootContactPhase(
            0.6,
            0.65,
            contact_schedule.FootContact.FLAT,
            contact_schedule.FootContact.SWING,
        ),
    ]
    problem, found = reconstruction.reconstruction_problem(
        walk.truth.motion, phases=schedule, intervals=(4, 2), preset="step"
    )
    assert found == tuple(schedule)
    assert [phase.intervals for phase in problem.phases] == [4, 2]
    with pytest.raises(hd.HomodynError, match="3 numbers of intervals for 2 phases"):
        reconstruction.reconstruction_problem(
            walk.truth.motion, phases=schedule, intervals=(1, 2, 3)
        )
    gap = [schedule[0], replace(schedule[1], begin=0.61)]
    with pytest.raises(hd.CaptureError, match=r"begins at 0\.6100 s, but the one before"):
        reconstruction.reconstruction_problem(walk.truth.motion, phases=gap)
    with pytest.raises(hd.CaptureError, match="the motion from"):
        reconstruction.reconstruction_problem(
            walk.truth.motion, phases=[replace(schedule[1], end=99.0)]
        )
    with pytest.raises(hd.HomodynError, match=r"no preset 'felis2016'.*felis2015"):
        reconstruction.reconstruction_problem(
            walk.truth.motion, phases=schedule, preset="felis2016"
        )


def test_the_thesis_keeps_to_its_tables(walk):
    problem, _ = reconstruction.reconstruction_problem(
        walk.truth.motion, events=walk.truth.events, preset="felis2015"
    )
    bounds = problem.phases[0].bounds
    assert bounds["tau"]["AnkleRight_RY"] == (-100.0, 300.0)
    assert bounds["q"]["KneeLeft_RY"] == (-0.01, 1.67)
    effort = next(t for t in problem.phases[0].terms if t.name == "torque")
    at = walk.model.coordinate_index("AnkleRight_RY")
    assert effort.weight * effort.scale[at] == pytest.approx(1e-2 / 39.4**2)
    assert [phase.transition for phase in problem.phases] == [
        "continuous",
        "impact",
        "impact",
        "continuous",
    ]
