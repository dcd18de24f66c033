"""Missing data: markers that are never seen, frames without markers, and gaps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.capture.labeling.landmarks import is_unlabeled
from homodyn.capture.mask_runs import true_runs
from homodyn.capture.quality.finding import (
    TrialFinding,
    merge_ranges,
    ranges_text,
)
from homodyn.capture.quality.health_report import MarkerHealth
from homodyn.capture.trial import Trial
from homodyn.foundation.findings import Severity
from homodyn.foundation.text import count_of
from homodyn.model import Model

MAX_SPLINE_GAP_S = 0.2
"""Longest gap (s) that a spline fills well."""
MIN_SEGMENT_MARKERS = 3
"""Markers that determine the pose of a segment without the one that is missing."""
MAX_MISSING_SHARE = 0.5
"""Share of missing frames from which a gap is an error."""
MIN_OCCUPIED_SHARE = 0.5
"""Share of the markers that a frame must show, or the volume is empty."""


def gap_findings(
    trial: Trial, rows: Sequence[MarkerHealth], model: Model | None
) -> list[TrialFinding]:
    """Markers without any position, frames without markers, and gaps, grouped by severity."""
    occupied = occupied_frames(trial)
    redundant: list[MarkerHealth] = []
    unused: list[MarkerHealth] = []
    used = set() if model is None else {marker.name for marker in model.markers}
    found = [*_never_seen_finding(trial, rows), *_empty_finding(trial, occupied)]
    by_severity: dict[Severity, list[MarkerHealth]] = {severity: [] for severity in Severity}
    for k, row in enumerate(rows):
        unseen = ~trial.seen[:, k] & occupied
        if row.missing >= 1.0 or not unseen.any():
            continue
        longest = max(last - first for first, last in true_runs(unseen))
        if is_unlabeled(row.marker) or longest <= MAX_SPLINE_GAP_S * trial.rate:
            by_severity[Severity.INFO].append(row)
        elif unseen.sum() >= MAX_MISSING_SHARE * occupied.sum():
            if model is not None and row.marker not in used:
                unused.append(row)
            elif _segment_determined(trial, k, unseen, model):
                redundant.append(row)
            else:
                by_severity[Severity.ERROR].append(row)
        else:
            by_severity[Severity.WARNING].append(row)
    for members, reason in (
        (redundant, f"{MIN_SEGMENT_MARKERS} others of the same segment determine it"),
        (unused, "the model does not use it"),
    ):
        if members:
            found.append(
                TrialFinding(
                    Severity.INFO,
                    "gap",
                    f"{count_of(len(members), 'marker')} missing in half of the frames or more; "
                    f"{reason}",
                    tuple(row.marker for row in members),
                    frames=merge_ranges(gap for row in members for gap in row.gaps),
                )
            )
    for severity, members in by_severity.items():
        if members:
            found.append(
                TrialFinding(
                    severity,
                    "gap",
                    _gap_sentence(severity, len(members), len(rows)),
                    tuple(row.marker for row in members),
                    frames=merge_ranges(gap for row in members for gap in row.gaps),
                )
            )
    return found


def _segment_determined(trial: Trial, marker: int, unseen: np.ndarray, model: Model | None) -> bool:
    """Whether other markers of its segment are seen in all frames in which a marker is missing."""
    bodies = {} if model is None else {m.name: m.body for m in model.markers}
    body = bodies.get(trial.markers[marker])
    if body is None:
        return False
    others = [k for k, name in enumerate(trial.markers) if k != marker and bodies.get(name) == body]
    return bool((trial.seen[unseen][:, others].sum(axis=1) >= MIN_SEGMENT_MARKERS).all())


def _gap_sentence(severity: Severity, count: int, total: int) -> str:
    subject = f"{count} of {count_of(total, 'marker')}"
    is_, has = ("is", "has") if count == 1 else ("are", "have")
    if severity is Severity.ERROR:
        return (
            f"{subject} {is_} missing in half of the frames or more; leave out such markers, or "
            "label the recording again"
        )
    if severity is Severity.WARNING:
        return (
            f"{subject} {has} gaps longer than {MAX_SPLINE_GAP_S:g} s; to fill them, three other "
            "markers of the segment must be visible; otherwise label the recording again"
        )
    return (
        f"{subject} {has} no label or gaps of at most {MAX_SPLINE_GAP_S:g} s, which analysis "
        "closes by splines"
    )


def _never_seen_finding(trial: Trial, rows: Sequence[MarkerHealth]) -> list[TrialFinding]:
    never = tuple(row.marker for row in rows if row.missing >= 1.0)
    if not never:
        return []
    has = "has" if len(never) == 1 else "have"
    return [
        TrialFinding(
            Severity.WARNING,
            "never seen",
            f"{len(never)} of {count_of(len(rows), 'marker')} {has} no position in any frame; "
            "remove the label, or look for the trajectory under another label",
            never,
            frames=((trial.first_frame, trial.first_frame + trial.frames - 1),),
        )
    ]


def _empty_finding(trial: Trial, occupied: np.ndarray) -> list[TrialFinding]:
    if occupied.all() or not occupied.any():
        return []
    frames = tuple(
        (trial.first_frame + a, trial.first_frame + b - 1) for a, b in true_runs(~occupied)
    )
    return [
        TrialFinding(
            Severity.INFO,
            "empty",
            f"fewer than half of the markers are seen in frames {ranges_text(frames)}; "
            "the analysis leaves out such ends",
            frames=frames,
        )
    ]


def occupied_frames(trial: Trial) -> np.ndarray:
    """Frames that show at least half of the largest number of simultaneously visible markers.

    Args:
        trial: The recording; points without a label do not count where others have one.

    Returns:
        (frames,), boolean.
    """
    labeled = np.array([not is_unlabeled(name) for name in trial.markers], dtype=bool)
    seen = trial.seen[:, labeled] if labeled.any() else trial.seen
    counted = seen.sum(axis=1)
    largest = counted.max(initial=0)
    return np.asarray((counted >= MIN_OCCUPIED_SHARE * largest) & (largest > 0))
