"""A walking trial made from the laws of motion, with everything a laboratory would record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from homodyn.capture import Trial
from homodyn.dynamics import center_of_mass, marker_positions
from homodyn.errors import CaptureError
from homodyn.model import Model
from homodyn.synthetic.emg_signals import emg_signals
from homodyn.synthetic.force_plates import (
    PlateLayout,
    place_plates,
    plate_readings,
    static_readings,
)
from homodyn.synthetic.ground_truth import (
    GroundTruth,
    true_drive,
    true_events,
    true_loads,
    true_markers,
    true_motion,
)
from homodyn.synthetic.marker_artifacts import (
    add_noise,
    apply_artifacts,
    gaps_from_list,
    random_gaps,
    random_swaps,
)
from homodyn.synthetic.pace import choose_pace, plan_footsteps
from homodyn.synthetic.steady_walk import SteadyWalk, plan_walk
from homodyn.synthetic.subject import check_walking_model, random_subject

LEAD_IN_STRIDES = 0.25
"""Strides that are recorded before the first strike of the right foot, and after the last."""
STATIC_DURATION_S = 2.0
"""Length of the standing trial (s)."""

Gaps = float | Sequence[tuple[str, float, float]]


@dataclass(frozen=True, eq=False)
class SyntheticTrial:
    """A made recording and the truth about it."""

    trial: Trial
    """The walk as cameras, plates and electrodes saw it."""
    static: Trial
    """The same person standing still, arms a little away from the body."""
    truth: GroundTruth
    walk: SteadyWalk
    """The walk in continuous time."""

    @property
    def model(self) -> Model:
        """The body that walked, with its own lengths and its own marker places."""
        return self.truth.model

    @property
    def summary(self) -> str:
        """What was made, in a few lines."""
        steps, trial = self.walk.steps, self.trial
        seen = 100 * trial.seen.mean() if trial.markers else 100.0
        return "\n".join(
            [
                f"walk: {steps.speed:.2f} m/s, steps of {steps.step_length:.3f} m, "
                f"{steps.cadence:.0f} steps/min, stance {100 * steps.stance:.0f} %",
                f"trial: {trial.duration:.2f} s, {trial.frames} frames at {trial.rate:g} Hz, "
                f"{len(trial.markers)} markers of which {seen:.1f} % seen, "
                f"{len(trial.plates)} plates and {len(trial.analog.names)} EMG channels at "
                f"{trial.analog.rate:g} Hz, {len(trial.events)} events",
                f"body: {self.model.mass:g} kg, {len(self.truth.gaps)} gaps, "
                f"{len(self.truth.swaps)} exchanged labels; {', '.join(self.truth.clean_strikes)}",
                f"balance: zero moment point within {1e3 * self.walk.zmp_error:.1f} mm of its plan "
                f"after {self.walk.iterations} rounds",
            ]
        )


def walking_trial(
    *,
    model: Model | None = None,
    height: float = 1.75,
    mass: float = 70.0,
    sex: str = "male",
    variation: float = 1.0,
    speed: float = 1.2,
    step_length: float | None = None,
    cadence: float | None = None,
    strides: int = 4,
    duration: float | None = None,
    rate: float = 100.0,
    plate_rate: float = 1000.0,
    noise: float = 0.001,
    gaps: Gaps = 0.01,
    swaps: int = 0,
    plates: int = 3,
    shared_plate: bool = False,
    plate_noise: float = 1.0,
    seed: int = 0,
) -> SyntheticTrial:
    """A recording of steady straight walking, the same to the bit for the same arguments.

    The person is ``model``, a HeiMan, or one of ``height`` (m), ``mass`` (kg) and ``sex`` whose
    segment lengths and markers differ from the tables by chance, ``variation`` times 3 % and
    5 mm. ``speed`` is in m/s; of ``step_length`` (m) and ``cadence`` (steps/min) at most one may
    be given, else steps are as long as people take them at that speed. ``duration`` (s) is that
    of ``strides`` and half a stride more when not given.

    ``rate`` of the markers and ``plate_rate`` of plates and EMG are in Hz. ``noise`` is the
    standard deviation of the markers along each axis (m), ``plate_noise`` that of the forces (N).
    ``gaps`` is the share of positions that are hidden, or a list of marker, first and last
    instant (s); ``swaps`` counts exchanges of left and right labels. ``plates`` lie under as many
    footfalls, one each; ``both`` adds one under two.
    """
    numbers = {"rate": rate, "plate_rate": plate_rate, "height": height, "mass": mass}
    _check_positive(
        {**numbers, "strides": strides, **({} if duration is None else {"duration": duration})}
    )
    _check_not_negative(
        {"noise": noise, "plate_noise": plate_noise, "swaps": swaps, "plates": plates}
    )
    if isinstance(gaps, int | float) and not 0 <= gaps < 0.5:
        raise CaptureError(f"gaps hide a share of all positions, from 0 to 0.5; got {gaps}")
    ratio = round(plate_rate / rate)
    if ratio < 1 or abs(ratio * rate - plate_rate) > 1e-9 * plate_rate:
        raise CaptureError(
            f"plate_rate must be a whole multiple of rate ({rate:g} Hz); got {plate_rate:g} Hz"
        )
    rng = np.random.default_rng(seed)
    if model is None:
        model = random_subject(height=height, mass=mass, sex=sex, rng=rng, variation=variation)
    check_walking_model(model)
    pace = choose_pace(model, speed=speed, step_length=step_length, cadence=cadence)
    steps = plan_footsteps(pace)
    duration = (strides + 2 * LEAD_IN_STRIDES) * steps.period if duration is None else duration
    first = _first_footfall(steps.period, steps.stance, duration, plates + 2 * shared_plate)
    # The middle of the first plate's footfall is put at the origin of the laboratory.
    steps = replace(steps, origin=-first * steps.step_length)
    walk = plan_walk(model, steps, style=pace.style, swing_scale=pace.swing_scale)
    layout = place_plates(steps, walk.feet, count=plates, shared_plate=shared_plate, first=first)

    start = -LEAD_IN_STRIDES * steps.period
    frames = int(np.floor(duration * rate + 1e-9)) + 1
    time = np.arange(frames) / rate
    fine = np.arange(frames * ratio) / plate_rate
    motion = true_motion(walk, time, start + time)
    drive = true_drive(walk, start + fine, plate_rate)
    names = tuple(marker.name for marker in model.markers)
    exact = true_markers(motion)
    if isinstance(gaps, int | float):
        hidden = random_gaps(names, frames, rate, float(gaps), rng)
    else:
        hidden = gaps_from_list(names, rate, gaps)
    exchanged = random_swaps(names, frames, rate, swaps, rng)
    events = true_events(walk, start, float(time[-1]))
    trial = Trial(
        "walk",
        names,
        apply_artifacts(names, add_noise(exact, noise, rng), gaps=hidden, swaps=exchanged),
        rate,
        plates=plate_readings(
            layout,
            steps,
            walk.ground_wrenches(start + fine),
            start + fine,
            rate=plate_rate,
            noise=plate_noise,
            rng=rng,
        ),
        analog=emg_signals(drive.values, plate_rate, rng),
        events=events,
    )
    clean_strikes = [
        f"Plate {landing.plate + 1}: {landing.side}"
        for landing in layout.stances
        if sum(other.plate == landing.plate for other in layout.stances) == 1
    ]
    truth = GroundTruth(
        motion,
        true_loads(walk, motion, start + time),
        exact,
        events,
        drive,
        hidden,
        exchanged,
        tuple(clean_strikes),
    )
    return SyntheticTrial(trial, _static_trial(model, layout, rate, ratio, noise, rng), truth, walk)


def _static_trial(
    model: Model,
    layout: PlateLayout,
    rate: float,
    ratio: int,
    noise: float,
    rng: np.random.Generator,
) -> Trial:
    """The person standing still on the first plate, arms away from the body."""
    arms = {"ShoulderRight_RX": -0.4, "ShoulderLeft_RX": 0.4}
    arms |= {"ElbowRight_RY": -0.2, "ElbowLeft_RY": -0.2}
    q = model.pose(arms)
    if len(layout.centers):
        q[model.coordinate_index("Pelvis_TX")] = layout.centers[0, 0]
    frames = max(2, round(STATIC_DURATION_S * rate))
    markers = np.asarray(marker_positions(model, q))
    com = np.asarray(center_of_mass(model, q)) * [1.0, 1.0, 0.0]
    weight = -float(model.mass) * float(model.gravity[2])
    return Trial(
        "static",
        tuple(marker.name for marker in model.markers),
        add_noise(np.tile(markers, (frames, 1, 1)), noise, rng),
        rate,
        plates=static_readings(layout, weight, com, samples=frames * ratio, rate=ratio * rate),
    )


def _first_footfall(period: float, stance: float, duration: float, count: int) -> int:
    """The number of the first footfall that has a plate, so that all of them are in the middle."""
    last = int(np.floor(2 * (duration / period - LEAD_IN_STRIDES - stance)))
    if last + 1 < count or last < 0:
        raise CaptureError(
            f"{duration:.2f} s hold {max(0, last + 1)} whole footfalls of {period:.2f} s strides; "
            f"{count} are needed for the plates: walk longer or lay fewer plates"
        )
    return max(0, (last + 1 - count) // 2)


def _check_positive(values: dict[str, float]) -> None:
    for name, value in values.items():
        if not (np.isfinite(value) and value > 0):
            raise CaptureError(f"{name} must be a positive number; got {value}")


def _check_not_negative(values: dict[str, float]) -> None:
    for name, value in values.items():
        if not (np.isfinite(value) and value >= 0):
            raise CaptureError(f"{name} must be zero or a positive number; got {value}")
