"""Health check of a recording: missing, discontinuous, swapped or wrong data, with remedies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from homodyn.capture.labeling.landmarks import is_unlabeled
from homodyn.capture.mask_runs import true_runs
from homodyn.capture.quality import body_checks, rigidity_checks, trajectory_checks
from homodyn.capture.quality.body_findings import label_findings, length_findings, unit_findings
from homodyn.capture.quality.finding import (
    Frames,
    TrialFinding,
    group_findings,
    merge_ranges,
    merge_simultaneous_jumps,
    ranges_text,
)
from homodyn.capture.quality.frame_sequence import (
    break_findings,
    repeated_frames,
    repetition_findings,
    sequence_breaks,
)
from homodyn.capture.quality.gap_findings import gap_findings
from homodyn.capture.quality.gap_swaps import find_gap_swaps
from homodyn.capture.quality.health_report import HealthReport, MarkerHealth
from homodyn.capture.quality.marker_clusters import find_companions
from homodyn.capture.quality.other_trials import other_person_findings
from homodyn.capture.quality.plate_checks import plate_findings
from homodyn.capture.trial import Trial
from homodyn.foundation.arguments import require_type
from homodyn.foundation.findings import Severity
from homodyn.model import Model

if TYPE_CHECKING:
    pass


def check_health(
    trial: Trial, *, model: Model | None = None, others: Sequence[Trial] = ()
) -> HealthReport:
    """Check markers and force plates for missing and wrong data.

    Frames are numbered as in the recording, from ``trial.first_frame``. A problem that explains
    others is reported alone: two swapped labels are one swap, not four jumps. Points without a
    label (``*154``) are not checked unless no point has one.

    Args:
        trial: The recording.
        model: Says which markers share a segment, if the trial uses its marker names (see
            `match_labels`); without it, markers at constant distances are found in the data.
        others: Other recordings of the same person with the same markers, such as the static
            trial; they show labels that are exchanged in one recording and not in the others.

    Returns:
        The findings, most severe first, and a row per marker.

    Raises:
        HomodynError: ``trial`` has another type.
    """
    require_type("trial", trial, Trial)
    unlabeled = [label for label in trial.markers if is_unlabeled(label)]
    if 0 < len(unlabeled) < len(trial.markers):
        # Stray reflections belong to no segment; a recording without any label is checked whole.
        trial = trial.select_markers([one for one in trial.markers if one not in unlabeled])
    positions = np.array(trial.positions)
    extent = body_checks.marker_extent(positions)
    wrong_units = unit_findings(extent)
    if wrong_units:
        # All limits below are in meters.
        positions = positions * (1e-3 if extent > body_checks.MAX_BODY_SIZE_M else 1e3)
    else:
        wrong_units = length_findings(body_checks.body_length(positions, trial.markers))
    repeated = repeated_frames(positions)
    problems = _marker_problems(positions, trial, model)
    rows = _marker_rows(trial, problems)
    findings = [
        *wrong_units,
        *repetition_findings(positions, trial.rate, trial.first_frame),
        *break_findings(problems.breaks, repeated, trial.first_frame),
        *gap_findings(trial, rows, model),
        *merge_simultaneous_jumps(_row_findings(rows)),
        *_swap_findings(trial, problems.swaps),
        *_drift_findings(
            trial, rigidity_checks.find_drifts(problems.clean, problems.companions, trial.rate)
        ),
        *label_findings(_without_jumping_markers(problems), trial, model, others),
    ]
    findings += other_person_findings(trial, model, others)
    for plate in trial.plates:
        findings += plate_findings(trial, plate)
    return HealthReport(trial.name, group_findings(_merge_unloaded_plates(findings)), rows)


@dataclass(frozen=True, eq=False)
class _MarkerProblems:
    """Problems of all trajectories; frames are counted from zero."""

    frozen: list[tuple[int, int, int]]
    """Marker, first and last frame."""
    discontinuities: trajectory_checks.Discontinuities
    """Spikes and jumps that swapped labels do not explain."""
    swaps: list[trajectory_checks.LabelSwap]
    mislabels: list[tuple[int, int, int]]
    """Marker, first and last frame."""
    breaks: list[int]
    """Frames at which most markers jump together."""
    companions: list[np.ndarray]
    """For each marker, the indices of markers at a constant distance."""
    clean: np.ndarray
    """(frames, markers, 3), m: positions with swaps undone and wrong samples removed."""


def _marker_problems(positions: np.ndarray, trial: Trial, model: Model | None) -> _MarkerProblems:
    """Find problems in this order, each in positions from which the earlier ones are removed."""
    frozen = trajectory_checks.find_frozen(positions, trial.rate)
    for k, first, last in frozen:
        # The first of the equal values was measured.
        positions[first + 1 : last + 1, k] = np.nan
    found = trajectory_checks.find_discontinuities(positions, trial.rate)
    breaks = sequence_breaks(positions, found.jumps)
    # Where frames are missing, no label is wrong.
    found.jumps = [jump for jump in found.jumps if jump[0] not in breaks]
    swaps = trajectory_checks.find_swaps(positions, found)
    clean = trajectory_checks.undo_swaps(positions, swaps)
    if swaps:
        found = trajectory_checks.find_discontinuities(clean, trial.rate)
        found.jumps = [jump for jump in found.jumps if jump[0] not in breaks]
    for frame, k in found.spikes:
        clean[frame, k] = np.nan
    companions = find_companions(clean, trial.markers, model)
    late = find_gap_swaps(clean, companions, trial.rate, trial.markers, model)
    if late:
        swaps = [*swaps, *late]
        clean = trajectory_checks.undo_swaps(clean, late)
        companions = find_companions(clean, trial.markers, model)
    edges = {*found.jumps, *((f + 1, k) for f, k in found.spikes), *found.spikes}
    mislabels = rigidity_checks.find_mislabels(clean, companions, edges)
    for k, first, last in mislabels:
        clean[first : last + 1, k] = np.nan
    return _MarkerProblems(frozen, found, swaps, mislabels, breaks, companions, clean)


def _without_jumping_markers(problems: _MarkerProblems) -> np.ndarray:
    """Positions without markers that jump: their labels may belong to other points."""
    positions = problems.clean.copy()
    for _, k in problems.discontinuities.jumps:
        positions[:, k] = np.nan
    return positions


def _marker_rows(trial: Trial, problems: _MarkerProblems) -> tuple[MarkerHealth, ...]:
    origin = trial.first_frame

    def spans(k: int, found: list[tuple[int, int, int]]) -> Frames:
        return merge_ranges((origin + a, origin + b) for marker, a, b in found if marker == k)

    def points(k: int, found: list[tuple[int, int]]) -> Frames:
        return tuple((origin + frame, origin + frame) for frame, marker in found if marker == k)

    def swapped(k: int) -> Frames:
        swaps = [swap for swap in problems.swaps if k in (swap.a, swap.b)]
        return merge_ranges((origin + swap.first, origin + swap.last) for swap in swaps)

    rows = []
    for k, label in enumerate(trial.markers):
        unseen = ~trial.seen[:, k]
        rows.append(
            MarkerHealth(
                label,
                float(unseen.mean()) if len(unseen) else 1.0,
                tuple((origin + a, origin + b - 1) for a, b in true_runs(unseen)),
                points(k, problems.discontinuities.spikes),
                points(k, problems.discontinuities.jumps),
                swapped(k),
                spans(k, problems.mislabels),
                spans(k, problems.frozen),
                tuple(trial.markers[other] for other in problems.companions[k]),
            )
        )
    return tuple(rows)


def _row_findings(rows: Sequence[MarkerHealth]) -> list[TrialFinding]:
    """Spikes, jumps, wrong labels and frozen intervals of each marker."""
    found = []
    for row in rows:
        companions = ", ".join(row.companions[:3])
        for severity, subject, frames, sentence in (
            (
                Severity.WARNING,
                "spike",
                row.spikes,
                "has single-frame spikes ({frames}); remove these frames and fill the gaps",
            ),
            (
                Severity.WARNING,
                "jump",
                row.jumps,
                "trajectory jumps at frame {frames}; check whether the label switches to another "
                "point there",
            ),
            (
                Severity.ERROR,
                "mislabel",
                row.mislabels,
                "is not on its segment in frames {frames}, by its distances to "
                f"{companions}; label it again or remove it there",
            ),
            (
                Severity.ERROR,
                "frozen",
                row.frozen,
                "does not move at all in frames {frames} while its neighbors do; the recording "
                "system repeated an old value: remove these frames",
            ),
        ):
            if frames:
                text = sentence.replace("{frames}", ranges_text(frames))
                found.append(TrialFinding(severity, subject, text, (row.marker,), frames=frames))
    return found


def _swap_findings(
    trial: Trial, swaps: Sequence[trajectory_checks.LabelSwap]
) -> list[TrialFinding]:
    pairs: dict[tuple[int, int], list[trajectory_checks.LabelSwap]] = {}
    for swap in swaps:
        pairs.setdefault((swap.a, swap.b), []).append(swap)
    found = []
    for (a, b), members in pairs.items():
        frames = tuple((trial.first_frame + s.first, trial.first_frame + s.last) for s in members)
        until = ", until the end of the recording" if members[-1].permanent else ""
        found.append(
            TrialFinding(
                Severity.ERROR,
                "swap",
                f"the two labels are swapped in frames {ranges_text(frames)}{until}; swap them "
                "back there",
                (trial.markers[a], trial.markers[b]),
                frames=frames,
            )
        )
    return found


def _drift_findings(trial: Trial, drifts: Sequence[tuple[int, float]]) -> list[TrialFinding]:
    all_frames = ((trial.first_frame, trial.first_frame + trial.frames - 1),)
    return [
        TrialFinding(
            Severity.WARNING,
            "drift",
            f"drifts along its segment, {1000 * change:.0f} mm over the recording; the marker came "
            "loose: leave it out or use the part before",
            (trial.markers[k],),
            frames=all_frames,
        )
        for k, change in drifts
    ]


def _merge_unloaded_plates(findings: Sequence[TrialFinding]) -> list[TrialFinding]:
    """Findings with all unused plates in one."""
    unused = [finding for finding in findings if finding.subject == "plate unloaded"]
    if len(unused) < 2:
        return list(findings)
    names = ", ".join(finding.plate for finding in unused)
    sentence = "these plates were not used; leave them out or check the cables"
    merged = TrialFinding(Severity.INFO, "plate unloaded", sentence, plate=names)
    return [finding for finding in findings if finding.subject != "plate unloaded"] + [merged]
