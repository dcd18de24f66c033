"""Health check of a recording: missing, discontinuous, swapped or wrong data, with remedies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from homodyn.capture.labeling.landmarks import is_unlabeled, left_right_pairs
from homodyn.capture.mask_runs import true_runs
from homodyn.capture.quality import body_checks, rigidity_checks, trajectory_checks
from homodyn.capture.quality.finding import (
    Frames,
    TrialFinding,
    group_findings,
    merge_ranges,
    merge_simultaneous_jumps,
    ranges_text,
)
from homodyn.capture.quality.label_exchanges import evidence_text, find_exchanges
from homodyn.capture.quality.marker_clusters import find_companions
from homodyn.capture.quality.orientation import Orientation, find_orientation
from homodyn.capture.quality.plate_checks import plate_findings
from homodyn.capture.trial import Trial
from homodyn.foundation.arguments import require_type
from homodyn.foundation.findings import Severity
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.foundation.time_series import require_pandas
from homodyn.model import Model

if TYPE_CHECKING:
    import pandas as pd

MAX_SPLINE_GAP_S = 0.2
"""Longest gap (s) that a spline fills well."""
MIN_SEGMENT_MARKERS = 3
"""Markers that determine the pose of a segment without the one that is missing."""
MAX_MISSING_SHARE = 0.5
"""Share of missing frames from which a gap is an error."""
MIN_UPRIGHT_HEIGHT_M = 0.3
"""Height (m) of the head above the feet in an upright body."""


@record(eq=True)
class MarkerHealth(Record):
    """Problems of one marker, in frames of the recording."""

    marker: str
    """Name of the marker."""
    missing: float
    """Share of frames without a position, 0 to 1."""
    gaps: Frames = ()
    spikes: Frames = ()
    jumps: Frames = ()
    swaps: Frames = ()
    mislabels: Frames = ()
    frozen: Frames = ()
    companions: tuple[str, ...] = ()
    """Markers at a constant distance from it."""


PROBLEM_KINDS = ("gaps", "spikes", "jumps", "swaps", "mislabels", "frozen")
"""Fields of `MarkerHealth` that are ranges of frames."""


@record(eq=True)
class HealthReport(Record):
    """All findings about a recording, most severe first, and one row per marker."""

    trial: str
    """Name of the trial."""
    findings: tuple[TrialFinding, ...]
    markers: tuple[MarkerHealth, ...]

    @property
    def has_errors(self) -> bool:
        """Whether something must be corrected before results can be trusted."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    def about(self, subject: str) -> tuple[TrialFinding, ...]:
        """The findings about one subject.

        Args:
            subject: Such as ``"gap"`` or ``"swap"``.

        Returns:
            The findings, most severe first.
        """
        return tuple(finding for finding in self.findings if finding.subject == subject)

    def with_severity(self, severity: Severity) -> tuple[TrialFinding, ...]:
        """The findings of one severity.

        Args:
            severity: Error, warning or info.

        Returns:
            The findings.
        """
        return tuple(finding for finding in self.findings if finding.severity is severity)

    def headline(self) -> str:
        """Name of the trial and number of findings."""
        found = count_of(len(self.findings), "finding") if self.findings else "no findings"
        return f"{self.trial}: {found} in {count_of(len(self.markers), 'marker')}"

    def summary(self) -> str:
        """All findings, one line each.

        Returns:
            The text.
        """
        return str(self)

    def to_pandas(self) -> pd.DataFrame:
        """Share of missing frames and number of problems of each kind, one row per marker.

        Raises:
            HomodynError: pandas is not installed.
        """
        pandas = require_pandas()
        rows = [
            {"missing": row.missing, **{kind: len(getattr(row, kind)) for kind in PROBLEM_KINDS}}
            for row in self.markers
        ]
        names = pandas.Index([row.marker for row in self.markers], name="marker")
        frame: pd.DataFrame = pandas.DataFrame(rows, index=names)
        return frame

    def __str__(self) -> str:
        if not self.findings:
            return self.headline()
        return "\n".join(str(finding) for finding in self.findings)


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
    unit_findings = _unit_findings(extent)
    if unit_findings:
        # All limits below are in meters.
        positions = positions * (1e-3 if extent > body_checks.MAX_BODY_SIZE_M else 1e3)
    else:
        unit_findings = _length_findings(body_checks.body_length(positions, trial.markers))
    problems = _marker_problems(positions, trial, model)
    rows = _marker_rows(trial, problems)
    findings = [
        *unit_findings,
        *_gap_findings(trial, rows, model),
        *merge_simultaneous_jumps(_row_findings(rows)),
        *_swap_findings(trial, problems.swaps),
        *_drift_findings(trial, rigidity_checks.find_drifts(problems.clean, problems.companions)),
        *_label_findings(_without_jumping_markers(problems), trial, model, others),
    ]
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
    swaps = trajectory_checks.find_swaps(positions, found)
    clean = trajectory_checks.undo_swaps(positions, swaps)
    if swaps:
        found = trajectory_checks.find_discontinuities(clean, trial.rate)
    for frame, k in found.spikes:
        clean[frame, k] = np.nan
    companions = find_companions(clean, trial.markers, model)
    breaks = {*found.jumps, *((f + 1, k) for f, k in found.spikes), *found.spikes}
    mislabels = rigidity_checks.find_mislabels(clean, companions, breaks)
    for k, first, last in mislabels:
        clean[first : last + 1, k] = np.nan
    return _MarkerProblems(frozen, found, swaps, mislabels, companions, clean)


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


def _gap_findings(
    trial: Trial, rows: Sequence[MarkerHealth], model: Model | None
) -> list[TrialFinding]:
    """Markers without any position, frames without markers, and gaps, grouped by severity."""
    occupied = _occupied_frames(trial)
    redundant: list[MarkerHealth] = []
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
            enough = _segment_determined(trial, k, unseen, model)
            (redundant if enough else by_severity[Severity.ERROR]).append(row)
        else:
            by_severity[Severity.WARNING].append(row)
    if redundant:
        found.append(
            TrialFinding(
                Severity.INFO,
                "gap",
                f"{count_of(len(redundant), 'marker')} missing in half of the frames or more; "
                f"{MIN_SEGMENT_MARKERS} others of the same segment determine it",
                tuple(row.marker for row in redundant),
                frames=merge_ranges(gap for row in redundant for gap in row.gaps),
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
            f"fewer than half of the markers are seen in frames {ranges_text(frames)}; crop the "
            "recording to the rest (--from and --to, Trial.crop)",
            frames=frames,
        )
    ]


def _occupied_frames(trial: Trial) -> np.ndarray:
    """Frames that show at least half of the largest number of simultaneously visible markers."""
    counted = trial.seen.sum(axis=1)
    largest = counted.max(initial=0)
    return np.asarray((counted >= 0.5 * largest) & (largest > 0))


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


def _unit_findings(extent: float) -> list[TrialFinding]:
    low, high = body_checks.MIN_BODY_SIZE_M, body_checks.MAX_BODY_SIZE_M
    if not np.isfinite(extent) or low <= extent <= high:
        return []
    remedy = (
        "millimeters were read as meters: divide by 1000"
        if extent > high
        else "meters were read as millimeters: multiply by 1000"
    )
    return [
        TrialFinding(
            Severity.ERROR,
            "units",
            f"the markers span {extent:.3g} m; if it is a person, {remedy}, or state the unit in "
            "the file",
        )
    ]


def _length_findings(length: float) -> list[TrialFinding]:
    """A person of centimeters, or another unit, by the distance of head or pelvis from the feet."""
    low, high = body_checks.MIN_BODY_LENGTH_M, body_checks.MAX_BODY_LENGTH_M
    if not np.isfinite(length) or low <= length <= high:
        return []
    units = ("millimeters", "centimeters") if length > high else ("centimeters", "millimeters")
    factor = "divide by 10" if length > high else "multiply by 10"
    return [
        TrialFinding(
            Severity.ERROR,
            "units",
            f"feet and head are {length:.3g} m apart; if {units[0]} were read as {units[1]}, "
            f"{factor}, or state the unit in the file",
        )
    ]


def _orientation_finding(orientation: Orientation) -> TrialFinding:
    sentence = orientation.conflict or (
        f"the vertical axis is {orientation.tilt_deg:.0f} deg from the vertical by "
        f"{orientation.evidence}; state the vertical axis with --up (in Python, up=), or "
        "export the file with a vertical axis"
    )
    return TrialFinding(Severity.ERROR, "axes", sentence)


def _label_findings(
    positions: np.ndarray, trial: Trial, model: Model | None, others: Sequence[Trial]
) -> list[TrialFinding]:
    """Vertical axis, sides, and labels that are exchanged in all frames; each pair once."""
    found = _axis_findings(positions, trial)
    known = {frozenset(finding.markers) for finding in found if finding.subject == "swap"}
    wrong_side = {
        one for finding in found if finding.subject == "mirrored" for one in finding.markers
    }
    known |= {
        frozenset((trial.markers[left], trial.markers[right]))
        for left, right in left_right_pairs(trial.markers)
        if trial.markers[left] in wrong_side
    }
    for one in find_exchanges(positions, trial.markers, model=model, others=others):
        markers = (trial.markers[one.a], trial.markers[one.b])
        if frozenset(markers) in known:
            continue
        also = ""
        if one.alternative is not None:
            also = " (or {} and {}, which fit as well)".format(
                *(trial.markers[k] for k in one.alternative)
            )
        found.append(
            TrialFinding(
                Severity.ERROR,
                "swap",
                f"the two labels are exchanged in all frames{also}, by {evidence_text(one)}; "
                "exchange them",
                markers,
                frames=((trial.first_frame, trial.first_frame + trial.frames - 1),),
            )
        )
    return found


def _axis_findings(positions: np.ndarray, trial: Trial) -> list[TrialFinding]:
    """Vertical axis and sides, as far as the labels are known landmarks."""
    orientation = find_orientation(replace(trial, positions=positions))
    if not orientation.is_upright:
        return [_orientation_finding(orientation)]
    height = body_checks.head_height(positions, trial.markers)
    if height < -MIN_UPRIGHT_HEIGHT_M and orientation.up is None:
        return [
            TrialFinding(
                Severity.ERROR,
                "axes",
                f"markers of the head are {-height:.2f} m below those of the feet; the vertical "
                "axis is another one or points down: state it with --up (in Python, up=)",
            )
        ]
    if orientation.may_lie:
        return [
            TrialFinding(
                Severity.WARNING,
                "axes",
                f"the body is {orientation.body_tilt_deg:.0f} deg from upright in the mean, and "
                "neither force plates nor steps show whether it lies; if the person stood, "
                "state the vertical axis with --up (in Python, up=)",
            )
        ]
    if not height > MIN_UPRIGHT_HEIGHT_M:
        # The body lies, or the labels are unknown: sides are defined for an upright body only.
        return []
    exchanged = [
        TrialFinding(
            Severity.ERROR,
            "swap",
            "the lateral marker is medial to the other one throughout; exchange the two labels",
            (trial.markers[a], trial.markers[b]),
            frames=((trial.first_frame, trial.first_frame + trial.frames - 1),),
        )
        for a, b in body_checks.exchanged_sides(positions, trial.markers)
    ]
    wrong, correct, votes = body_checks.wrong_sides(positions, trial.markers)
    if not votes or not wrong:
        return exchanged
    if len(wrong) > len(correct) and len(wrong) >= 2:
        return [
            TrialFinding(
                Severity.ERROR,
                "mirrored",
                f"{len(wrong)} of {len(wrong) + len(correct)} left markers are on the right of the "
                "body; either all labels are exchanged or an axis of the world is mirrored",
                tuple(trial.markers[k] for k in wrong),
            )
        ]
    return exchanged + [
        TrialFinding(
            Severity.WARNING,
            "mirrored",
            "the left marker is on the right of the body, unlike the others; exchange the labels "
            "of the pair",
            (trial.markers[k],),
        )
        for k in wrong
    ]
