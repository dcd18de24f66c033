"""A walking trial generated from the laws of motion, with all signals of a gait laboratory."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import numpy as np

from homodyn.capture import Trial
from homodyn.dynamics import center_of_mass, marker_positions
from homodyn.errors import CaptureError
from homodyn.foundation.options import change_options
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
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
from homodyn.synthetic.trial_options import WalkingTrialKeywords, WalkingTrialOptions

LEAD_IN_STRIDES = 0.25
"""Strides recorded before the first right foot strike, and after the last."""
STATIC_DURATION_S = 2.0
"""Duration of the static trial (s)."""


@record
class SyntheticTrial(Record):
    """A synthetic recording and the ground truth behind it."""

    trial: Trial
    """The walk as cameras, plates and electrodes record it."""
    static: Trial
    """The same person standing still, arms slightly abducted."""
    truth: GroundTruth
    """Motion, loads, events and artifacts."""
    walk: SteadyWalk
    """The walk in continuous time."""

    @property
    def model(self) -> Model:
        """The body that walked, with its own segment lengths and marker positions."""
        return self.truth.model

    def headline(self) -> str:
        """Speed, duration and markers."""
        return (
            f"SyntheticTrial: walking at {self.walk.steps.speed:.2f} m/s, "
            f"{self.trial.duration:.2f} s, {count_of(len(self.trial.markers), 'marker')}"
        )

    def summary(self) -> str:
        """Walk, recording, body and balance in a few lines."""
        steps, trial = self.walk.steps, self.trial
        seen = 100 * trial.seen.mean() if trial.markers else 100.0
        return "\n".join(
            [
                f"walk: {steps.speed:.2f} m/s, step length {steps.step_length:.3f} m, "
                f"{steps.cadence:.0f} steps/min, stance {100 * steps.stance:.0f} %",
                f"trial: {trial.duration:.2f} s, {count_of(trial.frames, 'frame')} at "
                f"{trial.rate:g} Hz, {count_of(len(trial.markers), 'marker')} "
                f"({seen:.1f} % visible), {count_of(len(trial.plates), 'plate')} and "
                f"{count_of(len(trial.analog.names), 'EMG channel')} at {trial.analog.rate:g} Hz, "
                f"{count_of(len(trial.events), 'event')}",
                f"body: {self.model.mass:g} kg, {count_of(len(self.truth.gaps), 'gap')}, "
                f"{count_of(len(self.truth.swaps), 'exchanged label')}; "
                f"{', '.join(self.truth.clean_strikes)}",
                f"balance: zero moment point within {1e3 * self.walk.zmp_error:.1f} mm of its plan "
                f"after {count_of(self.walk.iterations, 'iteration')}",
            ]
        )


def walking_trial(
    options: WalkingTrialOptions | None = None, **changes: Unpack[WalkingTrialKeywords]
) -> SyntheticTrial:
    """Generate a recording of steady straight walking.

    The motion obeys the equations of motion exactly, so that true angles, torques, forces and
    events are known. Equal options give bit-identical trials.

    Args:
        options: The person, the walk and the recording; the defaults when left out.
        changes: Fields of `WalkingTrialOptions` to change, such as ``speed=1.3, seed=2``.

    Returns:
        The recording, a static trial and the ground truth.

    Raises:
        CaptureError: A value is out of range, or the recording is too short for its plates.
        ModelError: The model is not a HeiMan.
        NoSolution: No balanced walk exists for this speed and step length.
    """
    chosen = change_options("walking_trial", options or WalkingTrialOptions(), changes)
    rng = np.random.default_rng(chosen.seed)
    model = chosen.model
    if model is None:
        model = random_subject(
            height=chosen.height,
            mass=chosen.mass,
            sex=chosen.sex,
            rng=rng,
            variation=chosen.variation,
        )
    check_walking_model(model)
    pace = choose_pace(
        model, speed=chosen.speed, step_length=chosen.step_length, cadence=chosen.cadence
    )
    steps = plan_footsteps(pace)
    duration = chosen.duration
    if duration is None:
        duration = (chosen.strides + 2 * LEAD_IN_STRIDES) * steps.period
    footfalls = chosen.plates + 2 * chosen.shared_plate
    first = _first_footfall(steps.period, steps.stance, duration, footfalls)
    # The origin of the laboratory is at the middle of the first footfall on a plate.
    steps = replace(steps, origin=-first * steps.step_length)
    walk = plan_walk(model, steps, style=pace.style, swing_scale=pace.swing_scale)
    layout = place_plates(
        steps, walk.feet, count=chosen.plates, shared_plate=chosen.shared_plate, first=first
    )
    trial, truth = _record(walk, layout, chosen, duration, rng)
    return SyntheticTrial(trial, _static_trial(model, layout, chosen, rng), truth, walk)


def _record(
    walk: SteadyWalk,
    layout: PlateLayout,
    options: WalkingTrialOptions,
    duration: float,
    rng: np.random.Generator,
) -> tuple[Trial, GroundTruth]:
    """The walk as a laboratory records it, and the truth."""
    model, steps, rate = walk.model, walk.steps, options.rate
    start = -LEAD_IN_STRIDES * steps.period
    frames = int(np.floor(duration * rate + 1e-9)) + 1
    time = np.arange(frames) / rate
    fine = np.arange(frames * options.samples_per_frame) / options.plate_rate
    events = true_events(walk, start, float(time[-1]))
    motion = true_motion(walk, time, start + time, events)
    drive = true_drive(walk, start + fine, options.plate_rate)
    names = tuple(marker.name for marker in model.markers)
    exact = true_markers(motion)
    if isinstance(options.gaps, int | float):
        hidden = random_gaps(names, frames, rate, float(options.gaps), rng)
    else:
        hidden = gaps_from_list(names, rate, options.gaps)
    exchanged = random_swaps(names, frames, rate, options.swaps, rng)
    trial = Trial(
        "walk",
        names,
        apply_artifacts(names, add_noise(exact, options.noise, rng), gaps=hidden, swaps=exchanged),
        rate,
        plates=plate_readings(
            layout,
            steps,
            walk.ground_wrenches(start + fine),
            start + fine,
            rate=options.plate_rate,
            noise=options.plate_noise,
            rng=rng,
        ),
        analog=emg_signals(drive.values, options.plate_rate, rng),
        events=events,
    )
    clean = [
        f"Plate {stance.plate + 1}: {stance.side.title}"
        for stance in layout.stances
        if sum(other.plate == stance.plate for other in layout.stances) == 1
    ]
    return trial, GroundTruth(
        motion, true_loads(motion), exact, events, drive, hidden, exchanged, tuple(clean)
    )


def _static_trial(
    model: Model,
    layout: PlateLayout,
    options: WalkingTrialOptions,
    rng: np.random.Generator,
) -> Trial:
    """The person standing still on the first plate, arms slightly abducted."""
    rate, ratio, noise = options.rate, options.samples_per_frame, options.noise
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
    """Number of the first footfall on a plate, such that the plates are in the middle."""
    last = int(np.floor(2 * (duration / period - LEAD_IN_STRIDES - stance)))
    if last + 1 < count or last < 0:
        raise CaptureError(
            f"{duration:.2f} s contain {count_of(max(0, last + 1), 'whole footfall')} of "
            f"{period:.2f} s strides; {count} are needed for the plates: use a longer duration or "
            "fewer plates"
        )
    return max(0, (last + 1 - count) // 2)
