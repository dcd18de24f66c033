"""Checks of force plates: offset, drift, sign and use."""

from __future__ import annotations

import numpy as np

from homodyn.capture.filters.butterworth_filter import lowpass
from homodyn.capture.mask_runs import true_runs
from homodyn.capture.quality.finding import Frames, TrialFinding, ranges_text
from homodyn.capture.trial import Trial
from homodyn.foundation.findings import Severity
from homodyn.motion import STANCE_THRESHOLD, ForcePlate

MAX_OFFSET_N = 5.0
"""Largest force (N) of an unloaded plate."""
SERIOUS_OFFSET_N = 20.0
"""Offset or drift (N) that changes joint torques by newton meters."""
MIN_SATURATED_FORCE_N = 100.0
"""Smallest force (N) that can be the end of the range of a plate."""
MIN_SATURATED_DURATION_S = 0.05
"""Time (s) for which a force stays exactly at its largest value only if the range ends there."""
MAX_SATURATED_SHARE = 0.9
"""Share of samples at the largest value above which a force is constant, as in a computed trial."""
MIN_UNLOADED_DURATION_S = 0.1
"""Shortest unloaded interval (s) that is evaluated."""


def plate_findings(trial: Trial, plate: ForcePlate) -> list[TrialFinding]:
    """Findings about one plate."""
    if not len(plate.force):
        return []
    force = np.nan_to_num(plate.force)
    vertical = force[:, 2]
    level, unloaded = _unloaded_level(vertical, plate.rate)
    above = vertical - level
    loaded = np.abs(above) > STANCE_THRESHOLD.plate_check_n
    if not loaded.any():
        found = [
            TrialFinding(
                Severity.INFO,
                "plate unloaded",
                f"the vertical force varies by {np.ptp(vertical):.3g} N only: the plate was not "
                "used; leave it out or check the cables",
                plate=plate.name,
            )
        ]
    else:
        found = [
            *_sign_findings(trial, plate, above, loaded),
            *_saturation_findings(trial, plate, vertical),
        ]
    if unloaded:
        found += _zero_findings(trial, plate, force, unloaded)
    return found


def _unloaded_level(vertical: np.ndarray, rate: float) -> tuple[float, list[tuple[int, int]]]:
    """Reading of the unloaded plate (N), and the intervals in which it is unloaded.

    The unloaded plate has the lowest constant level: the force of a person varies and goes to zero
    at foot off, that of an unloaded plate is constant except for noise.
    """
    size = float(np.ptp(vertical))
    if size <= STANCE_THRESHOLD.plate_check_n:
        level = float(np.median(vertical))
        # This is more than an offset: a person stands still on the plate all the time.
        stands = abs(level) > 2 * STANCE_THRESHOLD.plate_check_n
        return (0.0, []) if stands else (level, [(0, len(vertical))])
    smooth = lowpass(vertical, rate, cutoff=min(20.0, 0.2 * rate))
    # The unloaded end of the range is the one nearer to zero, whatever the sign of the plate.
    low, high = np.quantile(smooth, [0.01, 0.99])
    lowest = low if abs(low) <= abs(high) else high
    if abs(lowest) > 0.3 * max(abs(low), abs(high)):
        # A person stands on the plate all the time.
        return 0.0, []
    near = np.abs(smooth - lowest) <= max(10.0, 0.03 * size)
    min_samples = max(2, int(MIN_UNLOADED_DURATION_S * rate))
    margin = int(0.02 * rate)
    unloaded = [
        (first + margin, last - margin)
        for first, last in true_runs(near)
        if last - first >= min_samples + 2 * margin
    ]
    if not unloaded:
        return 0.0, []
    level = np.median(np.concatenate([vertical[first:last] for first, last in unloaded]))
    return float(level), unloaded


def _sign_findings(
    trial: Trial, plate: ForcePlate, above: np.ndarray, loaded: np.ndarray
) -> list[TrialFinding]:
    if np.median(above[loaded]) >= 0:
        return []
    frames = _frames(trial, plate, true_runs(loaded))
    return [
        TrialFinding(
            Severity.ERROR,
            "plate upside down",
            f"the vertical ground force is negative in frames {ranges_text(frames)}; the plate "
            "reports the force on itself or its axes are inverted: change the sign of its forces "
            "and moments",
            plate=plate.name,
            frames=frames,
        )
    ]


def _saturation_findings(
    trial: Trial, plate: ForcePlate, vertical: np.ndarray
) -> list[TrialFinding]:
    """Intervals in which the vertical force stays exactly at its largest value."""
    size = np.abs(vertical)
    largest = float(size.max())
    at_end = size >= largest * (1 - 1e-6)
    needed = max(int(np.ceil(MIN_SATURATED_DURATION_S * plate.rate)), 3)
    runs = [(first, last) for first, last in true_runs(at_end) if last - first >= needed]
    if not runs or largest < MIN_SATURATED_FORCE_N or at_end.mean() > MAX_SATURATED_SHARE:
        return []
    frames = _frames(trial, plate, runs)
    return [
        TrialFinding(
            Severity.ERROR,
            "plate saturated",
            f"the vertical force stays at exactly {largest:.4g} N in frames {ranges_text(frames)}: "
            "the measuring range ends there; the true force is larger: use a larger range, and no "
            "torques of these frames",
            plate=plate.name,
            frames=frames,
        )
    ]


def _zero_findings(
    trial: Trial, plate: ForcePlate, force: np.ndarray, unloaded: list[tuple[int, int]]
) -> list[TrialFinding]:
    """Offset and drift of the unloaded plate."""
    frames = _frames(trial, plate, unloaded)
    found = []
    for subject, vector, sentence in (
        (
            "plate drift",
            _drift(force, unloaded, plate.rate),
            "the unloaded plate drifts by {0:+.3g} N along {1}; subtract a line through its "
            "unloaded intervals, or zero it before each trial",
        ),
        (
            "plate offset",
            _offset(force, unloaded),
            "the unloaded plate reads {0:+.3g} N along {1}; subtract the unloaded reading, or zero "
            "it before the trial",
        ),
    ):
        axis = int(np.abs(vector).argmax())
        size = abs(vector[axis])
        if size > MAX_OFFSET_N:
            found.append(
                TrialFinding(
                    Severity.ERROR if size > SERIOUS_OFFSET_N else Severity.WARNING,
                    subject,
                    sentence.format(vector[axis], "xyz"[axis]),
                    plate=plate.name,
                    frames=frames,
                )
            )
    return found


def _offset(force: np.ndarray, unloaded: list[tuple[int, int]]) -> np.ndarray:
    """(3,), N: mean reading of the unloaded plate."""
    levels = np.array([np.median(force[first:last], axis=0) for first, last in unloaded])
    weights = np.array([last - first for first, last in unloaded])
    return np.asarray((levels * weights[:, None]).sum(axis=0) / weights.sum())


def _drift(force: np.ndarray, unloaded: list[tuple[int, int]], rate: float) -> np.ndarray:
    """(3,), N: change of the unloaded reading over the recording; zero where it is noise."""
    times = np.concatenate([np.arange(first, last) for first, last in unloaded]) / rate
    values = np.concatenate([force[first:last] for first, last in unloaded])
    change = np.zeros(3)
    if np.ptp(times) > 0.5:
        slope, start = np.polyfit(times, values, 1)
        noise = (values - (times[:, None] * slope + start)).std(axis=0)
        change = slope * np.ptp(times)
        change = np.where(np.abs(change) > 2 * noise, change, 0.0)
    return change


def _frames(trial: Trial, plate: ForcePlate, where: list[tuple[int, int]]) -> Frames:
    """Samples of a plate as frames of the recording."""

    def frame(sample: int) -> int:
        time = plate.start + sample / plate.rate - trial.start
        last = max(trial.frames - 1, 0)
        number = int(np.floor(time * trial.rate + 1e-6))
        return trial.first_frame + (min(max(number, 0), last) if trial.frames else number)

    return tuple((frame(first), frame(last - 1)) for first, last in where)
