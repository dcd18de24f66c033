"""Health check of a recording: missing, broken, swapped or wrong data, and what to do."""

from __future__ import annotations

import numpy as np

from homodyn.capture.filters.butterworth_filter import true_runs
from homodyn.capture.labeling.landmarks import is_unlabeled
from homodyn.capture.quality import body_checks, rigidity_checks, trajectory_checks
from homodyn.capture.quality.finding import (
    Frames,
    TrialFinding,
    group_findings,
    merge_ranges,
    merge_simultaneous_jumps,
    ranges_text,
)
from homodyn.capture.quality.marker_clusters import find_companions
from homodyn.capture.quality.plate_checks import plate_findings
from homodyn.capture.trial import Trial
from homodyn.foundation.findings import Severity
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.model import Model

MAX_SPLINE_GAP_S = 0.2
"""s: gaps up to this are filled by a spline without harm."""
MAX_MISSING_SHARE = 0.5
"""Share of frames from which a marker that is not seen is a serious loss."""


@record(eq=True)
class MarkerHealth(Record):
    """Faults of one marker, in frames of the recording."""

    marker: str
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


@record(eq=True)
class HealthReport(Record):
    """All findings about a recording, most severe first, and a row per marker."""

    trial: str
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

    def __str__(self) -> str:
        if not self.findings:
            return self.headline()
        return "\n".join(str(finding) for finding in self.findings)


def check_health(trial: Trial, *, model: Model | None = None) -> HealthReport:
    """Check markers and force plates for faults.

    Frames are numbered as in the recording, from ``trial.first_frame``. A fault that explains
    others is reported alone: two swapped labels are one swap, not four jumps.

    Args:
        trial: The recording.
        model: Says which markers share a segment, if the trial uses its marker names (see
            `match_labels`); without it, markers at constant distances are found in the data.

    Returns:
        The findings, most severe first, and a row per marker.
    """
    positions = np.array(trial.positions)
    size = body_checks.marker_extent(positions)
    findings = list(_unit_findings(size))
    if np.isfinite(size) and (
        size > body_checks.MAX_BODY_SIZE_M or size < body_checks.MIN_BODY_SIZE_M
    ):
        # In the wrong unit every limit below is meaningless; look as it was meant.
        positions = positions * (1e-3 if size > body_checks.MAX_BODY_SIZE_M else 1e3)

    stuck = trajectory_checks.find_frozen(positions, trial.rate)
    for k, first, last in stuck:
        # The value it stuck at was measured once.
        positions[first + 1 : last + 1, k] = np.nan
    broken = trajectory_checks.find_discontinuities(positions, trial.rate)
    swapped = trajectory_checks.find_swaps(positions, broken)
    mended = trajectory_checks.undo_swaps(positions, swapped)
    left = trajectory_checks.find_discontinuities(mended, trial.rate) if swapped else broken
    for frame, k in left.spikes:
        mended[frame, k] = np.nan
    mates = find_companions(mended, trial.markers, model)
    discontinuous = {*left.jumps, *((f + 1, k) for f, k in left.spikes), *left.spikes}
    astray = rigidity_checks.find_mislabels(mended, mates, discontinuous)
    clean = mended.copy()
    for k, first, last in astray:
        clean[first : last + 1, k] = np.nan

    rows = _marker_rows(trial, stuck, left, swapped, astray, mates)
    findings += _gap_findings(trial, rows)
    findings += merge_simultaneous_jumps(_row_findings(rows))
    findings += _swap_findings(trial, swapped)
    findings += _drift_findings(trial, rigidity_checks.find_drifts(clean, mates))
    for _, k in left.jumps:
        # A label that may go on elsewhere does not tell where its place on the body is.
        clean[:, k] = np.nan
    findings += _axis_findings(clean, trial)
    for plate in trial.plates:
        findings += plate_findings(trial, plate)
    findings = _merge_unloaded_plates(findings)
    return HealthReport(trial.name, group_findings(findings), rows)


def _marker_rows(
    trial: Trial,
    stuck: list[tuple[int, int, int]],
    broken: trajectory_checks.Discontinuities,
    swapped: list[trajectory_checks.LabelSwap],
    astray: list[tuple[int, int, int]],
    mates: list[np.ndarray],
) -> tuple[MarkerHealth, ...]:
    origin = trial.first_frame

    def spans(k: int, found: list[tuple[int, int, int]]) -> Frames:
        return merge_ranges((origin + a, origin + b) for marker, a, b in found if marker == k)

    def points(k: int, found: list[tuple[int, int]]) -> Frames:
        return tuple((origin + frame, origin + frame) for frame, marker in found if marker == k)

    rows = []
    for k, label in enumerate(trial.markers):
        unseen = ~trial.seen[:, k]
        rows.append(
            MarkerHealth(
                label,
                float(unseen.mean()) if len(unseen) else 1.0,
                tuple((origin + a, origin + b - 1) for a, b in true_runs(unseen)),
                points(k, broken.spikes),
                points(k, broken.jumps),
                merge_ranges(
                    (origin + s.first, origin + s.last) for s in swapped if k in (s.a, s.b)
                ),
                spans(k, astray),
                spans(k, stuck),
                tuple(trial.markers[other] for other in mates[k]),
            )
        )
    return tuple(rows)


def _gap_findings(trial: Trial, rows: tuple[MarkerHealth, ...]) -> list[TrialFinding]:
    """Gaps, grouped by severity."""
    never = tuple(row.marker for row in rows if row.missing >= 1.0)
    found = []
    if never:
        found.append(
            TrialFinding(
                Severity.WARNING,
                "never seen",
                f"{len(never)} of {len(rows)} markers have no position in any frame; remove them "
                "or look for their path under another label",
                never,
                frames=((trial.first_frame, trial.first_frame + trial.frames - 1),),
            )
        )
    short = MAX_SPLINE_GAP_S * trial.rate
    classes: dict[Severity, list[MarkerHealth]] = {severity: [] for severity in Severity}
    inside = _occupied_frames(trial)
    if not inside.all() and inside.any():
        frames = tuple(
            (trial.first_frame + a, trial.first_frame + b - 1) for a, b in true_runs(~inside)
        )
        found.append(
            TrialFinding(
                Severity.INFO,
                "empty",
                f"fewer than half of the markers are seen in frames {ranges_text(frames)}; cut the "
                "recording to the rest (Trial.between)",
                frames=frames,
            )
        )
    for k, row in enumerate(rows):
        unseen = ~trial.seen[:, k] & inside
        if row.missing >= 1.0 or not unseen.any():
            continue
        longest = max(last - first for first, last in true_runs(unseen))
        if is_unlabeled(row.marker) or longest <= short:
            classes[Severity.INFO].append(row)
        elif unseen.sum() >= MAX_MISSING_SHARE * inside.sum():
            classes[Severity.ERROR].append(row)
        else:
            classes[Severity.WARNING].append(row)
    remedies = {
        Severity.ERROR: "are missing for half of the frames or more; leave them out or label the "
        "recording again",
        Severity.WARNING: f"have gaps longer than {MAX_SPLINE_GAP_S:g} s; filling them needs three "
        "other markers of their segment, or label the recording again",
        Severity.INFO: f"have gaps of at most {MAX_SPLINE_GAP_S:g} s, which splines close, "
        "or are points without a name",
    }
    for severity, members in classes.items():
        if members:
            frames = merge_ranges(gap for row in members for gap in row.gaps)
            found.append(
                TrialFinding(
                    severity,
                    "gap",
                    f"{len(members)} of {len(rows)} markers {remedies[severity]}",
                    tuple(row.marker for row in members),
                    frames=frames,
                )
            )
    return found


def _occupied_frames(trial: Trial) -> np.ndarray:
    """Frames in which somebody is there: half of the markers that can be seen at once are."""
    counted = trial.seen.sum(axis=1)
    most = counted.max(initial=0)
    return np.asarray((counted >= 0.5 * most) & (most > 0))


def _row_findings(rows: tuple[MarkerHealth, ...]) -> list[TrialFinding]:
    """Spikes, jumps, wrong labels and frozen stretches of each marker."""
    found = []
    for row in rows:
        if row.spikes:
            found.append(
                TrialFinding(
                    Severity.WARNING,
                    "spike",
                    f"has single-frame spikes ({ranges_text(row.spikes)}); remove these frames "
                    "and fill the gaps",
                    (row.marker,),
                    frames=row.spikes,
                )
            )
        if row.jumps:
            found.append(
                TrialFinding(
                    Severity.WARNING,
                    "jump",
                    f"trajectory jumps at frame {ranges_text(row.jumps)}; check whether the label "
                    "switches to another point there",
                    (row.marker,),
                    frames=row.jumps,
                )
            )
        if row.mislabels:
            found.append(
                TrialFinding(
                    Severity.ERROR,
                    "mislabel",
                    f"is not where its segment is in frames {ranges_text(row.mislabels)}, by its "
                    f"distances to {', '.join(row.companions[:3])}; label it again or remove it "
                    "there",
                    (row.marker,),
                    frames=row.mislabels,
                )
            )
        if row.frozen:
            found.append(
                TrialFinding(
                    Severity.ERROR,
                    "frozen",
                    f"does not move at all in frames {ranges_text(row.frozen)} while its "
                    "neighbours do; the system repeated an old value: remove these frames",
                    (row.marker,),
                    frames=row.frozen,
                )
            )
    return found


def _swap_findings(trial: Trial, swapped: list[trajectory_checks.LabelSwap]) -> list[TrialFinding]:
    pairs: dict[tuple[int, int], list[trajectory_checks.LabelSwap]] = {}
    for swap in swapped:
        pairs.setdefault((swap.a, swap.b), []).append(swap)
    found = []
    for (a, b), members in pairs.items():
        frames = tuple((trial.first_frame + s.first, trial.first_frame + s.last) for s in members)
        lasting = ", the last time for good" if members[-1].for_good else ""
        found.append(
            TrialFinding(
                Severity.ERROR,
                "swap",
                f"the two labels are swapped in frames {ranges_text(frames)}{lasting}; swap them "
                "back there",
                (trial.markers[a], trial.markers[b]),
                frames=frames,
            )
        )
    return found


def _drift_findings(trial: Trial, drifting: list[tuple[int, float]]) -> list[TrialFinding]:
    whole = ((trial.first_frame, trial.first_frame + trial.frames - 1),)
    return [
        TrialFinding(
            Severity.WARNING,
            "drift",
            f"creeps along its segment, {1000 * change:.0f} mm over the recording; the marker came "
            "loose: leave it out or use the part before",
            (trial.markers[k],),
            frames=whole,
        )
        for k, change in drifting
    ]


def _merge_unloaded_plates(findings: list[TrialFinding]) -> list[TrialFinding]:
    """Plates that nobody used, in one finding."""
    idle = [finding for finding in findings if finding.subject == "plate unloaded"]
    if len(idle) < 2:
        return findings
    names = ", ".join(finding.plate for finding in idle)
    sentence = "nobody stepped on them; leave them out or check the cables"
    together = TrialFinding(Severity.INFO, "plate unloaded", sentence, plate=names)
    return [finding for finding in findings if finding.subject != "plate unloaded"] + [together]


def _unit_findings(size: float) -> list[TrialFinding]:
    if not np.isfinite(size) or body_checks.MIN_BODY_SIZE_M <= size <= body_checks.MAX_BODY_SIZE_M:
        return []
    large = size > body_checks.MAX_BODY_SIZE_M
    remedy = (
        "millimetres were taken for metres: divide by 1000"
        if large
        else "metres were taken for millimetres: multiply by 1000"
    )
    return [
        TrialFinding(
            Severity.ERROR,
            "units",
            f"the markers span {size:.3g} m; if it is a person, {remedy}, or state the unit in "
            "the file",
        )
    ]


def _axis_findings(positions: np.ndarray, trial: Trial) -> list[TrialFinding]:
    """Up and down, left and right, as far as the labels tell what they are."""
    height = body_checks.head_height(positions, trial.markers)
    if height < -0.3:
        return [
            TrialFinding(
                Severity.ERROR,
                "axes",
                f"markers of the head are {-height:.2f} m below those of the feet; the vertical "
                "axis is another one or points down: read the file with the right up=",
            )
        ]
    if not height > 0.3:
        # Lying, or labels that tell nothing: left and right need an upright body.
        return []
    wrong, right, votes = body_checks.wrong_sides(positions, trial.markers)
    if not votes or not wrong:
        return []
    if len(wrong) > len(right) and len(wrong) >= 2:
        return [
            TrialFinding(
                Severity.ERROR,
                "mirrored",
                f"{len(wrong)} of {len(wrong) + len(right)} left markers are on the right of the "
                "body; either all labels are exchanged or an axis of the world is mirrored",
                tuple(trial.markers[k] for k in wrong),
            )
        ]
    return [
        TrialFinding(
            Severity.WARNING,
            "mirrored",
            "the left marker is on the right of the body, unlike the others; exchange the labels "
            "of the pair",
            (trial.markers[k],),
        )
        for k in wrong
    ]
