"""Comparison with other trials of the person: distances between the markers of a segment stay."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from homodyn.capture.quality.finding import TrialFinding
from homodyn.capture.trial import Trial
from homodyn.foundation.findings import Severity
from homodyn.foundation.text import count_of
from homodyn.model import Model

MIN_PAIRS = 6
"""Pairs of markers that a comparison needs."""
MIN_PAIR_DISTANCE_M = 0.04
"""Distance (m) of a pair that shows the size of a segment."""
MAX_PAIR_SPREAD_M = 0.01
"""Spread (m) of a distance over a trial, above which the two are not on one rigid segment."""
MAX_MEDIAN_CHANGE_M, MAX_UPPER_CHANGE_M = 0.0035, 0.008
"""Median and upper quartile (m) of the changes that skin and bending of a segment explain. Between
trials of one session they are up to 1.8 and 5.4 mm, between persons at least 4.9 and 10 mm."""
WRONG_UPPER_CHANGE_M = 0.018
"""Upper quartile (m) of changes that no trial of the same session has."""


def other_person_findings(
    trial: Trial, model: Model | None, others: Sequence[Trial]
) -> list[TrialFinding]:
    """Other trials in which the segments have another size: another person, or other marker places.

    Args:
        trial: The recording, with the marker names of the model.
        model: Says which markers share a segment; without it, there is no comparison.
        others: Other trials, which should be of the same person with the same markers.

    Returns:
        One error or warning per trial that differs.
    """
    found = []
    for other in others if model is not None else ():
        assert model is not None
        changes = segment_changes(trial, other, model)
        if len(changes) < MIN_PAIRS:
            continue
        median, upper = (float(one) for one in np.percentile(changes, [50, 75]))
        if median > MAX_MEDIAN_CHANGE_M and upper > MAX_UPPER_CHANGE_M:
            wrong = upper > WRONG_UPPER_CHANGE_M
            found.append(
                TrialFinding(
                    Severity.ERROR if wrong else Severity.WARNING,
                    "other trial",
                    f"distances between markers of one segment differ from those of "
                    f"{other.name!r} by {1000 * median:.0f} mm in the median and more than "
                    f"{1000 * upper:.0f} mm in a quarter of {count_of(len(changes), 'pair')}: it "
                    "is another person, or markers were put to other places; use a trial of the "
                    "same session",
                )
            )
    return found


def segment_changes(trial: Trial, other: Trial, model: Model) -> np.ndarray:
    """(pairs,), m: differences of marker distances within segments between two trials."""
    bodies = {marker.name: marker.body for marker in model.markers}
    shared = [name for name in trial.markers if name in bodies and name in other.markers]
    changes = []
    for a, b in combinations(shared, 2):
        if bodies[a] != bodies[b]:
            continue
        here, there = (_distance(one, a, b) for one in (trial, other))
        if here is not None and there is not None:
            changes.append(abs(here - there))
    return np.array(changes)


def _distance(trial: Trial, a: str, b: str) -> float | None:
    """The median distance (m) of two markers; None where it is not seen or not constant."""
    gap = np.linalg.norm(trial.marker(a) - trial.marker(b), axis=1)
    gap = gap[np.isfinite(gap)]
    if not len(gap):
        return None
    low, median, high = np.percentile(gap, [16, 50, 84])
    rigid = high - low < 2 * MAX_PAIR_SPREAD_M and median > MIN_PAIR_DISTANCE_M
    return float(median) if rigid else None
