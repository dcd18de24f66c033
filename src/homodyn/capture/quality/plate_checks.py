"""Faults of force plates: not zero when nobody stands on them, drifting, upside down, unused."""

from __future__ import annotations

import numpy as np

from homodyn.capture.filters.butterworth_filter import lowpass, true_runs
from homodyn.capture.quality.finding import Frames, TrialFinding, ranges_text
from homodyn.capture.trial import Trial
from homodyn.foundation.findings import Severity
from homodyn.motion import ForcePlate

MIN_LOADED_FORCE_N = 50.0
"""N: vertical force from which somebody is on the plate."""
MAX_OFFSET_N = 5.0
"""N: a plate that reads more while unloaded does not zero."""
SERIOUS_OFFSET_N = 20.0
"""N: an offset or a drift from which joint torques are wrong by newton metres."""
MIN_UNLOADED_DURATION_S = 0.1
"""s: shortest unloaded stretch that counts."""


def plate_findings(trial: Trial, plate: ForcePlate) -> list[TrialFinding]:
    """What is wrong with one plate."""
    if not len(plate.force):
        return []
    force = np.nan_to_num(plate.force)
    vertical = force[:, 2]
    level, rest = _unloaded_level(vertical, plate.rate)
    above = vertical - level
    loaded = np.abs(above) > MIN_LOADED_FORCE_N
    if not loaded.any():
        found = [
            TrialFinding(
                Severity.INFO,
                "plate unloaded",
                f"vertical force stays within {np.ptp(vertical):.3g} N: nobody stepped on it; "
                "leave it out or check the cables",
                plate=plate.name,
            )
        ]
    else:
        found = _sign_findings(trial, plate, above, loaded)
    if rest:
        found += _zero_findings(trial, plate, force, rest)
    return found


def _unloaded_level(vertical: np.ndarray, rate: float) -> tuple[float, list[tuple[int, int]]]:
    """Reading of the empty plate (N) and the stretches in which it is empty.

    The empty plate is the lowest quiet level: forces of a person are far from constant and go to
    zero when the foot leaves, those of an empty plate are constant but for noise.
    """
    size = float(np.ptp(vertical))
    if size <= MIN_LOADED_FORCE_N:
        level = float(np.median(vertical))
        # So much is no offset: somebody stands still on it all the time.
        return (0.0, []) if abs(level) > 2 * MIN_LOADED_FORCE_N else (level, [(0, len(vertical))])
    smooth = lowpass(vertical, rate, cutoff=min(20.0, 0.2 * rate))
    # Of the two ends of the range the empty one is nearer to zero, whichever way the plate is.
    low, high = np.quantile(smooth, [0.01, 0.99])
    empty = low if abs(low) <= abs(high) else high
    if abs(empty) > 0.3 * max(abs(low), abs(high)):
        # Somebody stands on it all the time.
        return 0.0, []
    near = np.abs(smooth - empty) <= max(10.0, 0.03 * size)
    least = max(2, int(MIN_UNLOADED_DURATION_S * rate))
    margin = int(0.02 * rate)
    rest = [
        (first + margin, last - margin)
        for first, last in true_runs(near)
        if last - first >= least + 2 * margin
    ]
    if not rest:
        return 0.0, []
    middle = np.median(np.concatenate([vertical[first:last] for first, last in rest]))
    return float(middle), rest


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


def _zero_findings(
    trial: Trial, plate: ForcePlate, force: np.ndarray, rest: list[tuple[int, int]]
) -> list[TrialFinding]:
    """Offset and drift of the empty plate."""
    levels = np.array([np.median(force[first:last], axis=0) for first, last in rest])
    weights = np.array([last - first for first, last in rest])
    mean = (levels * weights[:, None]).sum(axis=0) / weights.sum()
    frames = _frames(trial, plate, rest)
    found = []
    times = np.concatenate([np.arange(first, last) for first, last in rest]) / plate.rate
    values = np.concatenate([force[first:last] for first, last in rest])
    change = np.zeros(3)
    if np.ptp(times) > 0.5:
        slope, start = np.polyfit(times, values, 1)
        noise = (values - (times[:, None] * slope + start)).std(axis=0)
        change = slope * np.ptp(times)
        change = np.where(np.abs(change) > 2 * noise, change, 0.0)
    axis = int(np.abs(change).argmax())
    if abs(change[axis]) > MAX_OFFSET_N:
        found.append(
            TrialFinding(
                Severity.ERROR if abs(change[axis]) > SERIOUS_OFFSET_N else Severity.WARNING,
                "plate drift",
                f"the empty plate drifts by {change[axis]:+.3g} N along {'xyz'[axis]}; subtract a "
                "line through its unloaded stretches, or zero it before each trial",
                plate=plate.name,
                frames=frames,
            )
        )
    axis = int(np.abs(mean).argmax())
    if abs(mean[axis]) > MAX_OFFSET_N:
        found.append(
            TrialFinding(
                Severity.ERROR if abs(mean[axis]) > SERIOUS_OFFSET_N else Severity.WARNING,
                "plate offset",
                f"the empty plate reads {mean[axis]:+.3g} N along {'xyz'[axis]}; subtract the "
                "unloaded reading, or zero it before the trial",
                plate=plate.name,
                frames=frames,
            )
        )
    return found


def _frames(trial: Trial, plate: ForcePlate, where: list[tuple[int, int]]) -> Frames:
    """Samples of a plate as frames of the recording."""

    def frame(sample: int) -> int:
        time = plate.start + sample / plate.rate - trial.start
        last = max(trial.frames - 1, 0)
        number = int(np.floor(time * trial.rate + 1e-6))
        return trial.first_frame + (min(max(number, 0), last) if trial.frames else number)

    return tuple((frame(first), frame(last - 1)) for first, last in where)
