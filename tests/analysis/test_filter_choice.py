"""The cutoff follows the movement: 6 Hz for walking, residual analysis for runs."""

import numpy as np
import pytest

from homodyn.analysis import Settings, analyze, overall_light, quality_verdicts
from homodyn.analysis.filter_choice import choose_cutoff, filter_losses, has_running_steps
from homodyn.analysis.physiological_ranges import classify_movement
from homodyn.capture import Trial
from homodyn.errors import CaptureError
from homodyn.motion import Event
from support import strolls
from support.runner import Runner

RUNNER = Runner()


@pytest.fixture(scope="module")
def walk():
    return strolls.fitted(strolls.WALKER)


@pytest.fixture(scope="module")
def run():
    return strolls.fitted(RUNNER)


def test_running_is_seen_in_the_events(walk, run):
    assert has_running_steps(run, RUNNER.events())
    assert not has_running_steps(walk, strolls.WALKER.events())
    assert not has_running_steps(run, ())
    assert not has_running_steps(run, [Event(0.3, "Foot Strike", "Left")])


def test_walks_have_the_standard_cutoff_and_runs_have_their_own(walk, run):
    assert choose_cutoff(walk, strolls.WALKER.events(), "standard") == (6.0, ())
    cutoff, notes = choose_cutoff(run, RUNNER.events(), "standard")
    assert cutoff > 6.0
    assert "the person runs" in notes[0]
    assert "residual analysis" in notes[1]
    assert choose_cutoff(run, (), "auto")[0] == pytest.approx(cutoff)
    assert choose_cutoff(run, RUNNER.events(), 9.0) == (9.0, ())


def test_a_cutoff_beyond_the_frame_rate_is_refused(walk):
    with pytest.raises(CaptureError, match="100 frames per second show nothing above 50 Hz"):
        choose_cutoff(walk, (), 50.0)


def test_the_filter_takes_less_off_the_peak_of_a_run_with_the_chosen_cutoff():
    trial = RUNNER.recording()
    peaks = {}
    for cutoff in ("standard", 6.0, 3.0):
        settings = Settings(mass=strolls.MASS, height=strolls.HEIGHT, scale="none", cutoff=cutoff)
        found = analyze(trial, settings)
        peaks[cutoff] = found.force_loss
        # Nobody carries weight in flight, whatever the filter spreads into it.
        assert found.loads.valid.mean() > 0.75
    assert peaks["standard"].share < peaks[6.0].share < peaks[3.0].share
    assert peaks["standard"].share < 0.05
    assert peaks[3.0].notable


def test_a_run_has_flights_its_own_cutoff_and_no_false_alarm():
    motion = strolls.fitted(RUNNER)
    plates = strolls.plates(RUNNER.motion())
    trial = Trial("run", motion.markers, motion.measured, motion.rate, plates=plates)
    trial = trial.crop(0.0, 1.92)  # Ends in the last flight.
    settings = Settings(mass=strolls.MASS, height=strolls.HEIGHT, scale="none")
    found = analyze(trial, settings)
    assert classify_movement(found.gait, found.events) == "running"
    assert found.cutoff > 6.0
    for event in RUNNER.events():
        near = min(
            abs(event.time - other.time)
            for other in found.events
            if (event.label, event.context) == (other.label, other.context)
        )
        assert near < 0.005
    assert found.gait["cadence"].mean == pytest.approx(60.0 / (RUNNER.period / 2), rel=0.01)
    assert found.gait["velocity"].mean == pytest.approx(RUNNER.speed, rel=0.01)
    peak = max(plate.force[:, 2].max() for plate in plates)
    assert found.loads.ground_force[:, 2].max() == pytest.approx(peak, rel=0.1)
    verdicts = quality_verdicts(found)
    assert overall_light(verdicts) == "fair"
    (losses,) = [v for v in verdicts if v.subject == "filter"]
    assert "--cutoff with a frequency" in losses.sentence  # It was chosen already.


def test_a_motion_of_some_frames_has_no_loss(walk):
    short = walk.take(np.arange(10))
    assert filter_losses(short, strolls.recording(forces=False), 6.0) == (None, None)
