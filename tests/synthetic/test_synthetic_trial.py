import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import CaptureError, ModelError, NoSolution
from homodyn.synthetic import walking_trial


def test_a_trial_holds_what_a_laboratory_records(synthetic):
    trial, steps = synthetic.trial, synthetic.walk.steps
    assert trial.rate == 100
    assert set(trial.markers) == {marker.name for marker in hd.catalog.heiman().markers}
    assert len(trial.plates) == 3
    assert len(trial.analog.names) == 8
    assert trial.frames * 10 == len(trial.analog.values) == len(trial.plates[0].force)
    assert trial.duration == pytest.approx(4.5 * steps.period, abs=0.011)
    assert {event.label for event in trial.events} == {"Foot Strike", "Foot Off"}
    assert {event.context for event in trial.events} == {"Left", "Right"}
    assert all(0 <= event.time <= trial.duration for event in trial.events)
    assert 0.005 < 1 - trial.seen.mean() < 0.02


def test_speed_and_steps_are_as_asked(synthetic):
    events = [e for e in synthetic.trial.events if e.label == "Foot Strike"]
    times = np.array([event.time for event in events])
    np.testing.assert_allclose(np.diff(times), 60 / synthetic.walk.steps.cadence)
    pelvis = synthetic.truth.motion.q[:, 0]
    speed = np.polyfit(synthetic.truth.motion.time, pelvis, 1)[0]
    assert speed == pytest.approx(1.2, abs=0.01)


def test_noise_has_the_size_that_was_asked_for(synthetic):
    error = (synthetic.trial.positions - synthetic.truth.markers)[synthetic.trial.seen]
    assert error.std() == pytest.approx(0.001, rel=0.05)
    assert abs(error.mean()) < 1e-4


def test_true_markers_are_those_of_the_true_model(synthetic):
    placed = hd.dynamics.marker_positions(synthetic.model, synthetic.truth.motion.q)
    np.testing.assert_array_equal(placed, synthetic.truth.markers)


def test_plates_read_what_the_feet_do(synthetic):
    truth = synthetic.truth
    total = sum(plate.force[::10] for plate in synthetic.trial.plates)
    feet = sum(foot.force for foot in truth.loads.feet)
    period, stance = synthetic.walk.steps.period, synthetic.walk.steps.stance
    # Between the strikes on the first and the third plate both feet are on plates.
    first = (
        min(np.flatnonzero(plate.force[:, 2] > 50)[0] for plate in synthetic.trial.plates) / 1000
    )
    time = truth.motion.time
    within = (time > first + (stance - 0.5 + 0.02) * period) & (time < first + 1.0 * period)
    assert within.sum() > 50
    assert np.abs((total - feet)[within]).max() < 8
    for plate in synthetic.trial.plates:
        loaded = plate.force[:, 2] > 50
        low, high = plate.corners.min(0), plate.corners.max(0)
        assert (plate.point[loaded, :2] > low[:2]).all()
        assert (plate.point[loaded, :2] < high[:2]).all()
        assert np.abs(plate.torque[loaded, :2]).max() == 0
    assert np.abs(truth.loads.residual_force).max() < 1e-8
    assert np.abs(truth.loads.residual_moment).max() < 1e-8


def test_emg_follows_its_drive(synthetic):
    emg, drive = synthetic.trial.analog, synthetic.truth.drive
    for name in ("Soleus", "Vastus Lateralis", "Gluteus Maximus"):
        strong = drive.channel(name) > 0.5
        weak = drive.channel(name) < 0.05
        signal = emg.channel(name)
        assert signal[strong].std() > 5 * signal[weak].std()
    spectrum = np.abs(np.fft.rfft(emg.values, axis=0)) ** 2
    frequency = np.fft.rfftfreq(len(emg.values), 1 / emg.rate)
    inside = (frequency > 18) & (frequency < 455)
    assert (spectrum[inside].sum(0) / spectrum.sum(0)).min() > 0.95


def test_standing_weighs_the_person(synthetic):
    static = synthetic.static
    assert static.plates[0].force[:, 2].mean() == pytest.approx(70 * 9.81, rel=1e-3)
    assert np.isfinite(static.positions).all()
    assert static.positions[..., 2].min() > 0


def test_a_seed_gives_the_same_bits_and_another_seed_others():
    first, again = walking_trial(seed=5, strides=2), walking_trial(seed=5, strides=2)
    assert first.trial.positions.tobytes() == again.trial.positions.tobytes()
    assert first.trial.analog.values.tobytes() == again.trial.analog.values.tobytes()
    assert first.truth.loads.tau.tobytes() == again.truth.loads.tau.tobytes()
    for one, other in zip(first.trial.plates, again.trial.plates, strict=True):
        assert one.force.tobytes() == other.force.tobytes()
    another = walking_trial(seed=6, strides=2)
    assert another.trial.frames != first.trial.frames or not np.array_equal(
        another.truth.markers, first.truth.markers
    )


def test_gaps_and_swaps_can_be_stated():
    synthetic = walking_trial(
        strides=2, noise=0, plates=1, shared_plate=True, swaps=1, gaps=[("LASI", 0.5, 0.7)], seed=1
    )
    trial = synthetic.trial
    hidden = ~trial.seen
    assert hidden.sum() == 20
    assert hidden[:, trial.markers.index("LASI")].sum() == 20
    (swap,) = synthetic.truth.swaps
    wrong = np.abs(np.nan_to_num(trial.positions - synthetic.truth.markers)).max((1, 2)) > 1e-6
    frames = np.flatnonzero(wrong)
    assert (frames[0], frames[-1] + 1) == (swap.first, swap.last)
    assert len(trial.plates) == 2
    assert synthetic.truth.clean_strikes == tuple(
        f"Plate 1: {side}"
        for side in ("Right", "Left")
        if synthetic.truth.clean_strikes[0].endswith(side)
    )
    shared = trial.plates[1].force[:, 2] > 50
    assert shared.sum() > trial.plates[0].force[:, 2].__gt__(50).sum() * 1.4


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"speed": -1.0},
            r"speed -1 m/s is out of range for legs of 0\.\d+ m: 0\.\d+ to 1\.\d+ m/s",
        ),
        ({"speed": 3.0}, r"0\.\d+ to 1\.\d+ m/s is accepted"),
        ({"speed": float("nan")}, r"speed nan m/s"),
        ({"step_length": 2.0}, r"step_length 2 m is out of range for legs"),
        ({"cadence": 20.0}, r"cadence 20 steps/min"),
        ({"step_length": 0.7, "cadence": 110.0}, r"at most one"),
        ({"noise": -0.1}, r"noise must be zero or a positive number"),
        ({"gaps": 0.9}, r"share of all positions"),
        ({"gaps": [("NOSE", 0, 1)]}, r"NOSE"),
        ({"plate_rate": 950.0}, r"whole multiple"),
        ({"rate": 0.0}, r"rate must be a positive"),
        ({"plates": 40}, r"use a longer duration or fewer plates"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(arguments, sentence):
    with pytest.raises(CaptureError, match=sentence):
        walking_trial(**arguments)


def test_steps_that_would_drag_the_feet_are_refused():
    with pytest.raises(
        NoSolution, match=r"would penetrate the ground or slip .* choose one nearer to 0\.\d+ m"
    ):
        walking_trial(speed=0.85, step_length=0.77, strides=2, plates=1)


def test_other_bodies_are_refused():
    with pytest.raises(ModelError, match="cannot walk here"):
        walking_trial(model=hd.catalog.human36())


def test_a_limping_body_is_in_balance_too():
    """Legs of two lengths: the trial is of the model that was handed in, and still exact."""
    uneven = hd.catalog.heiman(height=1.75, mass=70, overrides={"ShankLeftLength": 0.435})
    synthetic = walking_trial(model=uneven, strides=2, plates=1)
    assert synthetic.model == uneven
    assert np.abs(synthetic.truth.loads.residual_moment).max() < 1e-8
    sole = hd.dynamics.position(uneven, synthetic.truth.motion.q, "HalluxLeft")[:, 2]
    assert sole.min() > -0.005


@pytest.mark.parametrize(
    "person",
    [
        {"speed": 1.0},
        {"speed": 1.5},
        {"height": 1.62, "mass": 56.0, "sex": "female", "speed": 1.2},
        {"height": 1.9, "mass": 92.0, "speed": 1.4},
    ],
)
def test_other_people_and_speeds_walk_as_well(person):
    try:
        synthetic = walking_trial(strides=2, plates=1, seed=2, **person)
    except NoSolution as failure:
        pytest.fail(str(failure))
    assert np.abs(synthetic.truth.loads.residual_force).max() < 1e-8
    for foot in synthetic.truth.loads.feet:
        loaded = foot.force[:, 2] > 5
        assert (np.linalg.norm(foot.force[loaded, :2], axis=1) / foot.force[loaded, 2]).max() < 0.6
    knee = synthetic.truth.motion.q[:, synthetic.model.coordinate_index("KneeLeft_RY")]
    assert knee.min() > 0.01
